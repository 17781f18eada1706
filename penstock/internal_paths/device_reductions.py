"""`tensorflow.python.distribute.cross_device_ops` and `cross_device_utils`: parts of reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.distribute.cross_device_ops import (
    AllReduceCrossDeviceOps,
    AllReduceSpecTuple,
    MultiWorkerAllReduce,
    _added,
    _checked_pairs,
    as_per_replica,
    broadcast_by_copies,
    devices_of,
    divided,
    validate_destinations,
)
from penstock.distribute.cross_device_ops import (
    copied_to as copy_tensor_or_indexed_slices_to_device,
)
from penstock.distribute.device_maps import SingleDeviceMap
from penstock.distribute.reduce_op import ReduceOp
from penstock.distribute.values import DistributedValues, PerReplica
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.binary import add_n
from penstock.ops.tensor_values import is_tensor
from penstock.ops.variables import Variable

__all__ = [
    "AllReduceCrossTowerOps",
    "AllReduceSpecTuple",
    "MultiWorkerAllReduce",
    "aggregate_tensors_or_indexed_slices",
    "check_destinations",
    "contains_indexed_slices",
    "copy_tensor_or_indexed_slices_to_device",
    "divide_by_n_tensors_or_indexed_slices",
    "get_device_map_from",
    "get_devices_from",
    "is_indexed_slices",
    "reduce_non_distributed_value",
    "simple_broadcast",
    "split_by_sparsity",
    "stitch_values",
]

AllReduceCrossTowerOps = AllReduceCrossDeviceOps


_make_tensor_into_per_replica = as_per_replica
_normalize_value_destination_pairs = _checked_pairs
get_devices_from = devices_of
simple_broadcast = broadcast_by_copies


def check_destinations(destinations: Any) -> bool:
    """Whether a place says where it is."""
    if isinstance(destinations, (Variable, Tensor)):
        return bool(destinations.device)
    return bool(destinations)


def get_device_map_from(destinations: Any) -> tuple[Any, int]:
    """The devices of a place as a map, and which of them are meant."""
    if isinstance(destinations, DistributedValues):
        return destinations.device_map, destinations.logical_device
    return SingleDeviceMap(devices_of(destinations)[0]), 0


def _validate_value_destination_pairs(value_destination_pairs: Any) -> bool:
    """Whether all values of pairs are those of replicas already."""
    if not value_destination_pairs or not isinstance(value_destination_pairs, (list, tuple)):
        return False
    return all(
        isinstance(pair, tuple) and isinstance(pair[0], PerReplica)
        for pair in value_destination_pairs
    )


def reduce_non_distributed_value(
    reduce_op: ReduceOp, device_map: Any, value: Any, destinations: Any
) -> Any:
    """Reduces a value that all replicas have alike: 0, a mean, or the value of one replica."""
    if isinstance(value, DistributedValues):
        raise ValueError(
            "You are passing a `DistributedValue` to `reduce_non_distributed_value`, which is not "
            "allowed."
        )
    if not is_tensor(value) and value == 0:
        return 0
    if reduce_op is ReduceOp.MEAN:
        return value
    validate_destinations(destinations)
    if len(device_map) != 1:
        raise ValueError(
            f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
            f"{reduce_op}."
        )
    return broadcast_by_copies(value, destinations)


def _simple_reduce(
    per_replica_value: Any,
    reduce_to_device: str,
    accumulation_fn: Callable[[Any], Any],
    reduce_op: ReduceOp,
) -> Any:
    """The sum or mean of values on one device."""
    values = per_replica_value.values
    if not values:
        raise ValueError("`per_replica_value` must be non-empty")
    if len(values) == 1 and values[0].device == reduce_to_device:
        return values[0]
    if reduce_op not in (ReduceOp.SUM, ReduceOp.MEAN):
        raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
    with get_default_graph().device(reduce_to_device):
        total = _added(values, accumulation_fn)
        return divided(total, len(values)) if reduce_op is ReduceOp.MEAN else total


def aggregate_tensors_or_indexed_slices(
    values: Sequence[Any], accumulation_fn: Callable[[Any], Any] = add_n
) -> Any:
    """The sum of tensors, or the slices of all."""
    return _added(values, accumulation_fn)


def divide_by_n_tensors_or_indexed_slices(value: Any, n: int) -> Any:
    """A tensor, or slices, divided by a number."""
    return divided(value, n)


# Slices among values ------------------------------------------------------------------------------


def contains_indexed_slices(value: Any) -> bool:
    """Whether there are slices in a list, or in the values of replicas."""
    if isinstance(value, DistributedValues):
        return contains_indexed_slices(value.values)
    if isinstance(value, (list, tuple)) and not isinstance(value, IndexedSlices):
        return any(contains_indexed_slices(each) for each in value)
    return isinstance(value, IndexedSlices)


def is_indexed_slices(value: Any) -> bool:
    """Whether a value is slices, or all values of replicas are."""
    if isinstance(value, DistributedValues):
        return all(isinstance(each, IndexedSlices) for each in value.values)
    return isinstance(value, IndexedSlices)


def split_by_sparsity(values: Sequence[Any]) -> tuple[list[Any], list[int], list[Any], list[int]]:
    """The tensors of a list and where they are, then the slices and where they are."""
    dense = [i for i, value in enumerate(values) if not is_indexed_slices(value)]
    sparse = [i for i, value in enumerate(values) if is_indexed_slices(value)]
    return [values[i] for i in dense], dense, [values[i] for i in sparse], sparse


def stitch_values(values_and_indices_list: Sequence[tuple[Sequence[Any], Sequence[int]]]) -> Any:
    """One list of several, whose places in it are given."""
    pairs = {
        i: value
        for values, indices in values_and_indices_list
        for value, i in zip(values, indices, strict=True)
    }
    return [pairs[i] for i in range(len(pairs))]
