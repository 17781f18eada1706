"""`tf.contrib.nccl`: reductions over the GPUs of a machine."""

from penstock.ops.nccl import all_max, all_min, all_prod, all_sum, broadcast, reduce_sum

__all__ = ["all_max", "all_min", "all_prod", "all_sum", "broadcast", "reduce_sum"]
