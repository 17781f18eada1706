"""`tf.contrib.all_reduce`: reductions over several devices."""

from penstock.distribute.all_reduce import (
    build_nccl_all_reduce,
    build_nccl_then_recursive_hd,
    build_nccl_then_ring,
    build_nccl_then_shuffle,
    build_recursive_hd_all_reduce,
    build_ring_all_reduce,
    build_shuffle_all_reduce,
    build_shuffle_then_ring,
    build_shuffle_then_shuffle,
)

__all__ = [
    "build_nccl_all_reduce",
    "build_nccl_then_recursive_hd",
    "build_nccl_then_ring",
    "build_nccl_then_shuffle",
    "build_recursive_hd_all_reduce",
    "build_ring_all_reduce",
    "build_shuffle_all_reduce",
    "build_shuffle_then_ring",
    "build_shuffle_then_shuffle",
]
