"""`tf.contrib.reduce_slice_ops`: reductions of slices along an axis."""

from penstock.ops.slice_reductions import (
    reduce_slice_max,
    reduce_slice_min,
    reduce_slice_prod,
    reduce_slice_sum,
)

__all__ = ["reduce_slice_max", "reduce_slice_min", "reduce_slice_prod", "reduce_slice_sum"]
