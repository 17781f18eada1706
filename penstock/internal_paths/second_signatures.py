"""Functions of TensorFlow's internal modules that have a second signature: `nn_ops.conv2d_v2`.

TensorFlow 1.15 defines many public functions twice: with the arguments of 1.x, and, under a name
that ends in `_v2`, with those of its next release (a few have the other in `_v1`). Both build the
same nodes, so a line of the table tells the signature, the public function, and the arguments that
are called otherwise there (`dilations>rates`; a name before nothing is dropped) or that are fixed
(`strict=True`).
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from penstock import dtypes

_SIGNATURES = """
shape_v2(input, out_type=int32, name=None)                              .shape
size_v2(input, out_type=int32, name=None)                               .size
boolean_mask_v2(tensor, mask, axis=None, name='boolean_mask')           .boolean_mask
transpose_v2(a, perm=None, conjugate=False, name='transpose')           .transpose
space_to_batch_v2(input, block_shape, paddings, name=None)              .space_to_batch_nd
batch_to_space_v2(input, block_shape, crops, name=None)                 .batch_to_space_nd
space_to_depth_v2(input, block_size, data_format='NHWC', name=None)     .space_to_depth
depth_to_space_v2(input, block_size, data_format='NHWC', name=None)     .depth_to_space
reverse_sequence_v2(input, seq_lengths, seq_axis=None, batch_axis=None, name=None) .reverse_sequence
gather_v2(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None) .gather
gather_nd_v2(params, indices, batch_dims=0, name=None)                  .gather_nd
batch_gather_nd(params, indices, batch_dims, name=None)                 .gather_nd
extract_image_patches_v2(images, sizes, strides, rates, padding, name=None) .extract_image_patches
pad_v2(tensor, paddings, mode='CONSTANT', constant_values=0, name=None) .pad
constant_v1(value, dtype=None, shape=None, name='Const', verify_shape=False) .constant
device_v2(device_name)                                                  .device device_name>device_name_or_function

assert_negative_v2(x, message=None, summarize=None, name=None)          .assert_negative
assert_positive_v2(x, message=None, summarize=None, name=None)          .assert_positive
assert_non_negative_v2(x, message=None, summarize=None, name=None)      .assert_non_negative
assert_non_positive_v2(x, message=None, summarize=None, name=None)      .assert_non_positive
assert_equal_v2(x, y, message=None, summarize=None, name=None)          .assert_equal
assert_none_equal_v2(x, y, summarize=None, message=None, name=None)     .assert_none_equal
assert_near_v2(x, y, rtol=None, atol=None, message=None, summarize=None, name=None) .assert_near
assert_less_v2(x, y, message=None, summarize=None, name=None)           .assert_less
assert_less_equal_v2(x, y, message=None, summarize=None, name=None)     .assert_less_equal
assert_greater_v2(x, y, message=None, summarize=None, name=None)        .assert_greater
assert_greater_equal_v2(x, y, message=None, summarize=None, name=None)  .assert_greater_equal
assert_rank_v2(x, rank, message=None, name=None)                        .assert_rank
assert_rank_at_least_v2(x, rank, message=None, name=None)               .assert_rank_at_least
assert_rank_in_v2(x, ranks, message=None, name=None)                    .assert_rank_in
assert_integer_v2(x, message=None, name=None)                           .assert_integer
assert_type_v2(tensor, tf_type, message=None, name=None)                .assert_type
assert_scalar_v2(tensor, message=None, name=None)                       .assert_scalar
assert_shapes_v2(shapes, data=None, summarize=None, message=None, name=None) debugging.assert_shapes
verify_tensor_all_finite_v2(x, message, name=None)                      .verify_tensor_all_finite

cond_for_tf_v2(pred, true_fn=None, false_fn=None, name=None)            .cond strict=True
case_v2(pred_fn_pairs, default=None, exclusive=False, strict=False, name='case') .case
tuple_v2(tensors, control_inputs=None, name=None)                       .tuple
embedding_lookup_v2(params, ids, max_norm=None, name=None)              nn.embedding_lookup partition_strategy='div'
embedding_lookup_sparse_v2(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None) nn.embedding_lookup_sparse partition_strategy='div'
safe_embedding_lookup_sparse_v2(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, max_norm=None, name=None) nn.safe_embedding_lookup_sparse partition_strategy='div'

gradients_v2(ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None, stop_gradients=None, unconnected_gradients='none') .gradients colocate_gradients_with_ops=True
HessiansV2(ys, xs, gate_gradients=False, aggregation_method=None, name='hessians') .hessians
confusion_matrix_v2(labels, predictions, num_classes=None, weights=None, dtype=int32, name=None) .confusion_matrix
random_poisson_v2(shape, lam, dtype=float32, seed=None, name=None)      random.poisson
reduce_sum_v2(input_tensor, axis=None, keepdims=False, name=None)       .reduce_sum
reduce_mean_v2(input_tensor, axis=None, keepdims=False, name=None)      .reduce_mean
reduce_prod_v2(input_tensor, axis=None, keepdims=False, name=None)      .reduce_prod
reduce_min_v2(input_tensor, axis=None, keepdims=False, name=None)       .reduce_min
reduce_max_v2(input_tensor, axis=None, keepdims=False, name=None)       .reduce_max
reduce_all_v2(input_tensor, axis=None, keepdims=False, name=None)       .reduce_all
reduce_any_v2(input_tensor, axis=None, keepdims=False, name=None)       .reduce_any
reduce_logsumexp_v2(input_tensor, axis=None, keepdims=False, name=None) .reduce_logsumexp
norm_v2(tensor, ord='euclidean', axis=None, keepdims=None, name=None)   .norm
argmax_v2(input, axis=None, output_type=int64, name=None)               .argmax
argmin_v2(input, axis=None, output_type=int64, name=None)               .argmin
scalar_mul_v2(scalar, x, name=None)                                     .scalar_mul
count_nonzero_v2(input, axis=None, keepdims=None, dtype=int64, name=None) .count_nonzero
sparse_segment_sum_v2(data, indices, segment_ids, num_segments=None, name=None) .sparse_segment_sum
sparse_segment_mean_v2(data, indices, segment_ids, num_segments=None, name=None) .sparse_segment_mean
sparse_segment_sqrt_n_v2(data, indices, segment_ids, num_segments=None, name=None) .sparse_segment_sqrt_n

sigmoid_cross_entropy_with_logits_v2(labels=None, logits=None, name=None) nn.sigmoid_cross_entropy_with_logits
weighted_cross_entropy_with_logits_v2(labels, logits, pos_weight, name=None) nn.weighted_cross_entropy_with_logits
sparse_softmax_cross_entropy_with_logits_v2(labels, logits, name=None)  nn.sparse_softmax_cross_entropy_with_logits
softmax_cross_entropy_with_logits_v2_helper(labels, logits, axis=None, name=None, dim=None) nn.softmax_cross_entropy_with_logits_v2
l2_normalize_v2(x, axis=None, epsilon=1e-12, name=None)                 nn.l2_normalize
depthwise_conv2d_v2(input, filter, strides, padding, data_format=None, dilations=None, name=None) nn.depthwise_conv2d
separable_conv2d_v2(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None) nn.separable_conv2d
sufficient_statistics_v2(x, axes, shift=None, keepdims=False, name=None) nn.sufficient_statistics
moments_v2(x, axes, shift=None, keepdims=False, name=None)              nn.moments
weighted_moments_v2(x, axes, frequency_weights, keepdims=False, name=None) nn.weighted_moments
batch_norm_with_global_normalization_v2(input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None) nn.batch_norm_with_global_normalization input>t mean>m variance>v
nce_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=False, name='nce_loss') nn.nce_loss partition_strategy='div'
sampled_softmax_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, seed=None, name='sampled_softmax_loss') nn.sampled_softmax_loss partition_strategy='div'
dilation2d_v2(input, filters, strides, padding, data_format, dilations, name=None) nn.dilation2d filters>filter dilations>rates data_format>
erosion2d_v2(value, filters, strides, padding, data_format, dilations, name=None) nn.erosion2d filters>kernel dilations>rates data_format>
convolution_v2(input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None) nn.convolution filters>filter dilations>dilation_rate
pool_v2(input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, dilations=None, name=None) nn.pool dilations>dilation_rate
conv1d_v2(input, filters, stride, padding, data_format='NWC', dilations=None, name=None) nn.conv1d input>value
conv2d_v2(input, filters, strides, padding, data_format='NHWC', dilations=[1,1,1,1], name=None) nn.conv2d filters>filter
conv3d_v2(input, filters, strides, padding, data_format='NDHWC', dilations=[1,1,1,1,1], name=None) nn.conv3d filters>filter
conv2d_transpose_v2(input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, name=None) nn.conv2d_transpose input>value filters>filter
conv3d_transpose_v2(input, filters, output_shape, strides, padding='SAME', data_format='NDHWC', dilations=None, name=None) nn.conv3d_transpose input>value filters>filter
crelu_v2(features, axis=-1, name=None)                                  nn.crelu
softmax_v2(logits, axis=None, name=None)                                nn.softmax
log_softmax_v2(logits, axis=None, name=None)                            nn.log_softmax
max_pool_with_argmax_v2(input, ksize, strides, padding, data_format='NHWC', output_dtype=int64, include_batch_in_index=False, name=None) nn.max_pool_with_argmax
dropout_v2(x, rate, noise_shape=None, seed=None, name=None)             nn.dropout
in_top_k_v2(targets, predictions, k, name=None)                         nn.in_top_k

parse_example_v2(serialized, features, example_names=None, name=None)   io.parse_example
parse_single_example_v2(serialized, features, name=None)                io.parse_single_example
parse_single_example_v2_unoptimized(serialized, features, example_names=None, name=None) io.parse_single_example
decode_csv_v2(records, record_defaults, field_delim=',', use_quote_delim=True, na_value='', select_cols=None, name=None) io.decode_csv
decode_raw_v2(input_bytes, out_type, little_endian=True, fixed_length=None, name=None) .decode_raw
sparse_concat_v2(axis, sp_inputs, expand_nonconcat_dims=False, name=None) sparse.concat expand_nonconcat_dims>expand_nonconcat_dim
sparse_add_v2(a, b, threshold=0)                                        sparse.add
sparse_split_v2(sp_input=None, num_split=None, axis=None, name=None)    sparse.split
serialize_sparse_v2(sp_input, out_type=string, name=None)               io.serialize_sparse
serialize_many_sparse_v2(sp_input, out_type=string, name=None)          io.serialize_many_sparse
reduce_join_v2(inputs, axis=None, keepdims=False, separator='', name=None) .reduce_join keepdims>keep_dims
string_length_v2(input, unit='BYTE', name=None)                         strings.length
substr_v2(input, pos, len, unit='BYTE', name=None)                      strings.substr
substr_deprecated(input, pos, len, name=None, unit='BYTE')              strings.substr
"""  # noqa: E501

#: Names of their own for what the public API has under a shorter one.
_SAME = {
    "bincount_v1": "bincount",
    "confusion_matrix_v1": "confusion_matrix",
    "conv3d_v1": "nn.conv3d",
    "decode_raw_v1": "decode_raw",
    "dilation2d_v1": "nn.dilation2d",
    "max_pool_with_argmax_v1": "nn.max_pool_with_argmax",
    "print_v2": "print",
    "string_to_hash_bucket_v1": "string_to_hash_bucket",
    "string_to_number_v1": "string_to_number",
    "variable_creator_scope_v1": "variable_creator_scope",
    "xw_plus_b_v1": "nn.xw_plus_b",
    **{
        f"reduce_{name}_v1": f"reduce_{name}"
        for name in ("sum", "mean", "prod", "min", "max", "all", "any", "logsumexp")
    },
}


def _public(path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    found = importlib.import_module(f"penstock.{module}" if module else "penstock")
    function: Callable[..., Any] = getattr(found, name)
    return function


def _default(node: ast.expr) -> Any:
    return getattr(dtypes, node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def _signature(arguments: ast.arguments) -> inspect.Signature:
    names = [argument.arg for argument in arguments.args]
    defaults = [_default(node) for node in arguments.defaults]
    missing = [inspect.Parameter.empty] * (len(names) - len(defaults))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=default)
            for name, default in zip(names, missing + defaults, strict=True)
        ]
    )


@cache
def _lines() -> dict[str, str]:
    return {line.partition("(")[0]: line for line in _SIGNATURES.split("\n") if line}


@cache
def _function(line: str) -> Callable[..., Any]:
    head, _, rest = line.partition(")")
    path, *changes = rest.split()
    names: dict[str, str] = {}
    fixed: dict[str, Any] = {}
    for change in changes:
        name, is_renamed, there = change.partition(">")
        if is_renamed:
            names[name] = there
        else:
            name, _, value = change.partition("=")
            fixed[name] = ast.literal_eval(value)
    definition = ast.parse(f"def {head}): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    signature = _signature(definition.args)

    def forwarded(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = {names.get(name, name): value for name, value in bound.arguments.items()}
        given.pop("", None)
        return _public(path.removeprefix("."))(**given, **fixed)

    forwarded.__name__ = forwarded.__qualname__ = definition.name
    forwarded.__doc__ = f"`tf.{path.removeprefix('.')}` with the arguments of TensorFlow 2."
    forwarded.__signature__ = signature  # type: ignore[attr-defined]
    return forwarded


def _reduced(dense: str, sparse: str) -> Callable[..., Any]:
    def reduce(
        sp_input: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        output_is_sparse: bool = False,
        name: str | None = None,
    ) -> Any:
        path = sparse if output_is_sparse else dense
        return _public(path)(sp_input, axis=axis, keepdims=keepdims)

    return reduce


sparse_reduce_sum_v2 = _reduced("sparse.reduce_sum", "sparse.reduce_sum_sparse")
sparse_reduce_max_v2 = _reduced("sparse.reduce_max", "sparse.reduce_max_sparse")


def __getattr__(name: str) -> Callable[..., Any]:
    if name in _SAME:
        return _public(_SAME[name])
    line = _lines().get(name)
    if line is None:
        raise AttributeError(name)
    return _function(line)


def __dir__() -> list[str]:
    return sorted({*_lines(), *_SAME, "sparse_reduce_max_v2", "sparse_reduce_sum_v2"})
