"""Reductions by collective ops: over the devices of this worker and those of all others."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from typing import Any

from penstock import nest
from penstock.devices import DeviceSpec
from penstock.distribute.cross_device_ops import (
    CrossDeviceOps,
    ReductionToOneDevice,
    broadcast_by_copies,
    devices_of,
    divided,
    runs_in_order,
)
from penstock.distribute.reduce_op import ReduceOp
from penstock.distribute.values import Mirrored, regroup
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.collectives import all_gather, all_reduce
from penstock.ops.identity import identity
from penstock.ops.joining import concat, split
from penstock.ops.shaping import reshape


class CollectiveCommunication(enum.Enum):
    """How the values of a collective op travel; here the devices decide."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CollectiveKeys:
    """The numbers of groups and instances: workers that build alike count alike.

    Args:
      group_key_start, op_instance_key_start, variable_instance_key_start: the first numbers.
    """

    def __init__(
        self,
        group_key_start: int = 1,
        op_instance_key_start: int = 100,
        variable_instance_key_start: int = 1000000,
    ):
        self._group_numbers = itertools.count(group_key_start)
        self._groups: dict[str, int] = {}
        self._ops = itertools.count(op_instance_key_start)
        self._variables = itertools.count(variable_instance_key_start)

    def get_group_key(self, devices: Sequence[str]) -> int:
        """The number of the group of such devices in all workers."""
        specs = [DeviceSpec.from_string(device) for device in devices]
        name = ",".join(sorted(f"{spec.device_type}:{spec.device_index}" for spec in specs))
        if name not in self._groups:
            self._groups[name] = next(self._group_numbers)
        return self._groups[name]

    def get_op_instance_key(self) -> int:
        """A new number for an op."""
        return next(self._ops)

    def get_variable_instance_key(self) -> int:
        """A new number for the first value of a variable."""
        return next(self._variables)


class CollectiveAllReduce(CrossDeviceOps):
    """All-reduce over the replicas of all workers.

    Args:
      num_workers: how many workers there are.
      num_gpus_per_worker: how many GPUs each has.
      collective_keys: where numbers of groups and instances come from.
    """

    def __init__(
        self, num_workers: int = 1, num_gpus_per_worker: int = 0, collective_keys: Any = None
    ):
        self._num_workers = num_workers
        self._num_gpus_per_worker = num_gpus_per_worker
        self._collective_keys = collective_keys or CollectiveKeys()
        self._on_one = ReductionToOneDevice()

    @property
    def _num_between_graph_workers(self) -> int:  # type: ignore[override]
        return self._num_workers

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        (reduced,) = self._all_reduced(reduce_op, [per_replica_value])
        return _placed(reduced, destinations)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        reduced = self._all_reduced(reduce_op, [value for value, _ in value_destination_pairs])
        pairs = zip(reduced, value_destination_pairs, strict=True)
        return [_placed(each, where) for each, (_, where) in pairs]

    def _all_reduced(self, reduce_op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        if self._num_workers == 1 and len(values[0].devices) > 1 and runs_in_order():
            return [self._on_one.reduce_implementation(reduce_op, each, each) for each in values]
        results: list[Any] = [None] * len(values)
        packs: dict[Any, list[int]] = {}
        for i, value in enumerate(values):
            first = value.values[0]
            if isinstance(first, IndexedSlices):
                results[i] = self._gathered(reduce_op, value)
            else:
                tensors = [convert_to_tensor(each) for each in value.values]
                known = all(tensor.shape.is_fully_defined() for tensor in tensors)
                key = (value.devices, tensors[0].dtype) if known else (i,)
                packs.setdefault(key, []).append(i)
        for numbers in packs.values():
            together = self._pack_reduced(reduce_op, [values[i] for i in numbers])
            for i, reduced in zip(numbers, together, strict=True):
                results[i] = reduced
        return results

    def _pack_reduced(self, reduce_op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        """One collective op for all values, laid end to end: one wait for the other workers."""
        devices = values[0].devices
        instance = self._collective_keys.get_op_instance_key()
        group, size = self._group_of(devices)
        by_device: list[list[Tensor]] = []
        for number, device in enumerate(devices):
            with get_default_graph().device(device):
                parts = [convert_to_tensor(value.values[number]) for value in values]
                flat = _joined(parts)
                total = flat
                if size > 1:
                    total = all_reduce(flat, size, group, instance, "Add", "Id")
                if reduce_op is ReduceOp.MEAN:
                    total = divided(total, size)
                by_device.append(_taken_apart(total, parts))
        return [
            Mirrored(devices, [tensors[i] for tensors in by_device]) for i in range(len(values))
        ]

    def _group_of(self, devices: Sequence[str]) -> tuple[int, int]:
        return self._collective_keys.get_group_key(devices), self._num_workers * len(devices)

    def _gathered(self, reduce_op: ReduceOp, value: Any) -> Any:
        """The rows of all replicas: their sum, since equal indices add up."""
        group, size = self._group_of(value.devices)
        keys = (
            self._collective_keys.get_op_instance_key(),
            self._collective_keys.get_op_instance_key(),
        )
        made = []
        for device, slices in zip(value.devices, value.values, strict=True):
            with get_default_graph().device(device):
                rows, indices = identity(slices.values), identity(slices.indices)
                if size > 1:
                    rows = all_gather(rows, size, group, keys[0])
                    indices = all_gather(indices, size, group, keys[1])
                whole = IndexedSlices(rows, indices, slices.dense_shape)
                made.append(divided(whole, size) if reduce_op is ReduceOp.MEAN else whole)
        return Mirrored(value.devices, made)

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        return broadcast_by_copies(tensor, destinations, always_mirrored=True)


def _placed(reduced: Any, destinations: Any) -> Any:
    """A value that is on all of its devices, on those of `destinations`."""
    if set(reduced.devices) == set(devices_of(destinations)):
        return regroup(reduced.devices, reduced.values, Mirrored)  # of one device the value itself
    # A device that nobody asks for its result takes part all the same: the others wait for it.
    parts = nest.flatten(list(reduced.values), expand_composites=True)
    with get_default_graph().control_dependencies(parts):
        return broadcast_by_copies(reduced.primary, destinations)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    if len(parts) == 1:
        return identity(parts[0])
    return concat([reshape(part, [-1]) for part in parts], 0)


def _taken_apart(total: Tensor, parts: Sequence[Tensor]) -> list[Tensor]:
    if len(parts) == 1:
        return [total]
    pieces = split(total, [part.shape.num_elements() for part in parts])
    return [reshape(piece, part.shape) for piece, part in zip(pieces, parts, strict=True)]
