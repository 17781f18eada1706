"""`tf.compat.v2`: those names of TensorFlow 2's API that mean the same as in 1.x.

The others, such as `tf.compat.v2.reduce_sum` with its other arguments, are not there.
"""

from __future__ import annotations

from typing import Any

# What TensorFlow 1.15 defines once for both of its APIs.
_SAME = frozenset(
    """
    AggregationMethod Assert CriticalSection DType Graph IndexedSlices IndexedSlicesSpec Module
    Operation OptionalSpec RaggedTensor RaggedTensorSpec RegisterGradient SparseTensor
    SparseTensorSpec Tensor TensorArray TensorArraySpec TensorShape TensorSpec TypeSpec
    UnconnectedGradients VariableSynchronization abs acos acosh add add_n argsort as_dtype as_string
    asin asinh atan atan2 atanh audio bfloat16 bitcast bitwise bool broadcast_dynamic_shape
    broadcast_static_shape broadcast_to cast clip_by_global_norm clip_by_norm clip_by_value compat
    complex complex128 complex64 concat config control_dependencies cos cosh cumsum custom_gradient
    divide double dtypes dynamic_partition dynamic_stitch edit_distance einsum ensure_shape equal
    errors executing_eagerly exp experimental extract_volume_patches eye fill fingerprint float16
    float32 float64 floor foldl foldr get_logger get_static_value grad_pass_through graph_util
    greater greater_equal group guarantee_const half histogram_fixed_width
    histogram_fixed_width_bins identity identity_n import_graph_def init_scope int16 int32 int64
    int8 is_tensor less less_equal linspace load_library load_op_library logical_and logical_not
    logical_or make_ndarray make_tensor_proto map_fn matmul matrix_square_root maximum meshgrid
    minimum multiply negative nest newaxis no_gradient no_op nondifferentiable_batch_function
    not_equal numpy_function one_hot ones parallel_stack pow print py_function qint16 qint32 qint8
    quantization queue quint16 quint8 ragged range rank raw_ops realdiv recompute_grad
    register_tensor_conversion_function repeat required_space_to_batch_paddings reshape resource
    reverse roll round saturate_cast scan scatter_nd searchsorted sequence_mask sets shape_n sigmoid
    sign signal sin sinh slice sort space_to_batch_nd split sqrt square stack stop_gradient
    strided_slice string subtract switch_case sysconfig tan tanh tensor_scatter_nd_add
    tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile timestamp truediv truncatediv
    truncatemod uint16 uint32 uint64 uint8 unique unique_with_counts unravel_index unstack variant
    vectorized_map version xla zeros
    """.split()
)


def __getattr__(name: str) -> Any:
    if name in _SAME:
        import penstock

        return getattr(penstock, name)
    raise AttributeError(
        f"penstock has no tf.compat.v2.{name}: it follows TensorFlow 1.x, use tf.{name}"
    )


def __dir__() -> list[str]:
    return sorted(_SAME)
