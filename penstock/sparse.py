"""`tf.sparse`: sparse tensors."""

from penstock.ir.composite import SparseTensor
from penstock.ops.accumulators import SparseConditionalAccumulator
from penstock.ops.sparse_arithmetic import sparse_add as add
from penstock.ops.sparse_arithmetic import sparse_maximum as maximum
from penstock.ops.sparse_arithmetic import sparse_minimum as minimum
from penstock.ops.sparse_arithmetic import sparse_softmax as softmax
from penstock.ops.sparse_conversion import map_values
from penstock.ops.sparse_conversion import sparse_merge as merge
from penstock.ops.sparse_conversion import sparse_tensor_to_dense as to_dense
from penstock.ops.sparse_conversion import sparse_to_indicator as to_indicator
from penstock.ops.sparse_cross import sparse_cross as cross
from penstock.ops.sparse_cross import sparse_cross_hashed as cross_hashed
from penstock.ops.sparse_matmul import sparse_tensor_dense_matmul as matmul
from penstock.ops.sparse_reductions import sparse_reduce_max as reduce_max
from penstock.ops.sparse_reductions import sparse_reduce_max_sparse as reduce_max_sparse
from penstock.ops.sparse_reductions import sparse_reduce_sum as reduce_sum
from penstock.ops.sparse_reductions import sparse_reduce_sum_sparse as reduce_sum_sparse
from penstock.ops.sparse_segments import sparse_segment_mean as segment_mean
from penstock.ops.sparse_segments import sparse_segment_sqrt_n as segment_sqrt_n
from penstock.ops.sparse_segments import sparse_segment_sum as segment_sum
from penstock.ops.sparse_structure import sparse_concat as concat
from penstock.ops.sparse_structure import sparse_expand_dims as expand_dims
from penstock.ops.sparse_structure import sparse_fill_empty_rows as fill_empty_rows
from penstock.ops.sparse_structure import sparse_reorder as reorder
from penstock.ops.sparse_structure import sparse_reset_shape as reset_shape
from penstock.ops.sparse_structure import sparse_reshape as reshape
from penstock.ops.sparse_structure import sparse_retain as retain
from penstock.ops.sparse_structure import sparse_slice as slice
from penstock.ops.sparse_structure import sparse_split as split
from penstock.ops.sparse_structure import sparse_transpose as transpose
from penstock.ops.sparse_tensors import from_dense
from penstock.ops.sparse_tensors import sparse_eye as eye
from penstock.ops.sparse_tensors import sparse_mask as mask
from penstock.ops.sparse_tensors import sparse_placeholder as placeholder

sparse_dense_matmul = matmul

__all__ = [
    "SparseConditionalAccumulator",
    "SparseTensor",
    "add",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "mask",
    "matmul",
    "maximum",
    "merge",
    "minimum",
    "placeholder",
    "reduce_max",
    "reduce_max_sparse",
    "reduce_sum",
    "reduce_sum_sparse",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
