"""`tf.distribute.CrossDeviceOps`: how values go from device to device; with one, they stay."""

from __future__ import annotations

from typing import Any

from penstock.distribute.reduce_op import as_reduce_op


class CrossDeviceOps:
    """Reduces and broadcasts the values of replicas, of which there is one."""

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of the replicas' values."""
        as_reduce_op(reduce_op)
        return per_replica_value

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """`reduce` of several values."""
        return [self.reduce(reduce_op, value, where) for value, where in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The value on each of the devices."""
        return tensor


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device."""

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


class NcclAllReduce(CrossDeviceOps):
    """Reduces on all devices at once."""

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is given")


class HierarchicalCopyAllReduce(NcclAllReduce):
    """Reduces on two levels of devices."""
