"""`tf.distribute.CrossDeviceOps`: how the values of replicas become one, and where it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.devices import DeviceSpec, canonical_name
from penstock.distribute.device_names import resolve
from penstock.distribute.reduce_op import ReduceOp, as_reduce_op
from penstock.distribute.values import (
    DistributedValues,
    Mirrored,
    PerReplica,
    current_device,
    is_distributed,
    regroup,
)
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.binary import add_n
from penstock.ops.identity import identity
from penstock.ops.joining import concat
from penstock.ops.nccl import all_sum
from penstock.ops.variables import Variable


class CrossDeviceOps:
    """Reduces and broadcasts values; a subclass says how, in the `…_implementation` methods."""

    _num_between_graph_workers = 1

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of the replicas' values, on the devices of `destinations`."""
        chosen = as_reduce_op(reduce_op)
        value = as_per_replica(per_replica_value)
        validate_destinations(destinations)
        if self._stays(value, destinations):
            return regroup(value.devices, value.values, Mirrored)
        return self.reduce_implementation(chosen, value, destinations)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """`reduce` of several values."""
        chosen = as_reduce_op(reduce_op)
        pairs = _checked_pairs(value_destination_pairs)
        if pairs and all(self._stays(value, where) for value, where in pairs):
            return [regroup(value.devices, value.values, Mirrored) for value, _ in pairs]
        return self.batch_reduce_implementation(chosen, pairs)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The value on each of the devices."""
        validate_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def _stays(self, value: Any, destinations: Any) -> bool:
        """Whether there is nothing to do: one replica, and its value is where it should be."""
        return (
            self._num_between_graph_workers == 1
            and len(value.values) == 1
            and set(value.devices) == set(devices_of(destinations))
        )

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        raise NotImplementedError("_batch_reduce method must be implemented in descendants.")

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        return broadcast_by_copies(tensor, destinations, always_mirrored=True)


class ReductionToOneDevice(CrossDeviceOps):
    """Adds all values on one device, and copies the result to the others.

    Args:
      reduce_to_device: where they are added; the first destination if None.
      accumulation_fn: adds a list of tensors; `tf.add_n` if None.
    """

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn: Callable[[Any], Any] = accumulation_fn or add_n

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        targets = devices_of(destinations) or per_replica_value.devices
        place = self.reduce_to_device or targets[0]
        with get_default_graph().device(place):
            reduced = _added(per_replica_value.values, self.accumulation_fn)
            if reduce_op is ReduceOp.MEAN:
                reduced = divided(reduced, len(per_replica_value.values))
        return broadcast_by_copies(reduced, destinations)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        return [
            self.reduce_implementation(reduce_op, value, where)
            for value, where in value_destination_pairs
        ]


class AllReduceCrossDeviceOps(ReductionToOneDevice):
    """Adds the values on all their devices at once, where they go to the devices they are on.

    Args:
      all_reduce_alg: "nccl" (one all-reduce op for each value) or "hierarchical_copy" (added on
        one device, and copied).
      num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: how gradients are put
        together; no value depends on it.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__()
        self._all_reduce_alg = all_reduce_alg
        self._num_packs = num_packs
        self._agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self._agg_small_grads_max_group = agg_small_grads_max_group

    def reduce_implementation(
        self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any
    ) -> Any:
        values, devices = per_replica_value.values, per_replica_value.devices
        together = (
            self._all_reduce_alg == "nccl"
            and not runs_in_order()
            and set(devices) == set(devices_of(destinations))
            and all(isinstance(value, Tensor) for value in values)
            and [canonical_name(value.device) for value in values] == list(devices)
        )
        if not together:
            return super().reduce_implementation(reduce_op, per_replica_value, destinations)
        summed: list[Any] = []
        for device, total in zip(devices, all_sum(values), strict=True):
            with get_default_graph().device(device):
                mean = reduce_op is ReduceOp.MEAN
                summed.append(divided(total, len(values)) if mean else total)
        return Mirrored(devices, summed)


class NcclAllReduce(AllReduceCrossDeviceOps):
    """Reduces on all GPUs at once."""

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is given")
        super().__init__("nccl", num_packs)


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """Reduces by copies between devices."""

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is given")
        super().__init__("hierarchical_copy", num_packs)


class AllReduceSpecTuple(NamedTuple):
    """By which algorithm tensors of less than so many bytes are added."""

    alg: str
    shards: int = 1
    limit: int = -1


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """Adds values of the replicas of several workers in one graph.

    Args:
      worker_devices: the workers.
      num_gpus_per_worker: how many GPUs each has.
      all_reduce_spec: an algorithm with its number of shards and the size that it is for, or a
        list of such; no value depends on it.
      num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: see the base class.
    """

    def __init__(
        self,
        worker_devices: Sequence[str],
        num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
        num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__(
            "hierarchical_copy", num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group
        )
        self._worker_devices = list(worker_devices)
        self._num_gpus_per_worker = num_gpus_per_worker
        specs = all_reduce_spec if isinstance(all_reduce_spec, list) else [all_reduce_spec]
        self._all_reduce_spec = [_checked_spec(spec) for spec in specs]


def _checked_spec(spec: Any) -> AllReduceSpecTuple:
    if isinstance(spec, str):
        return AllReduceSpecTuple(spec)
    if not isinstance(spec, tuple):
        raise ValueError(f"A tuple is expected for all-reduce spec: {spec!r}")
    if not 0 < len(spec) <= 3:
        raise ValueError(f"Too many elements in the all-reduce spec tuple: {spec!r}")
    return AllReduceSpecTuple(*spec)


def choose_the_best(devices: Sequence[str], session_config: Any = None) -> CrossDeviceOps:
    """All-reduce for several GPUs, else sums on one device."""
    kinds = {DeviceSpec.from_string(device).device_type for device in devices}
    if kinds == {"GPU"} and len(devices) > 1:
        return NcclAllReduce(num_packs=1)
    return ReductionToOneDevice()


def runs_in_order() -> bool:
    """Whether operations made here run one after the other, and values are better just added up.

    In eager mode the first member of a collective op would wait for the others, which come after
    it. The body of a function runs on one device as a whole, so there is nothing to exchange.
    """
    graph = get_default_graph()
    return graph.is_eager or graph.building_function


# Values and where they go ---------------------------------------------------------------------


def as_per_replica(value: Any) -> Any:
    """A replica's value as one of replicas; it has to be on a known device."""
    if is_distributed(value):
        return value
    if isinstance(value, (tuple, list)) or not hasattr(value, "device"):
        raise ValueError(
            f"Cannot convert `input_tensor` to a `PerReplica` object: {value!r} has no device"
        )
    return PerReplica((resolve(value.device),), (value,))


def _checked_pairs(value_destination_pairs: Any) -> list[tuple[Any, Any]]:
    pairs = list(value_destination_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                "Each element of `value_destination_pairs` should be a tuple of size 2, got "
                f"{pair!r}"
            )
        validate_destinations(pair[1])
    return [(as_per_replica(value), where) for value, where in pairs]


def validate_destinations(destinations: Any) -> None:
    """ValueError for what is no place: devices, or where a value or a variable is."""
    known = isinstance(destinations, (DistributedValues, Variable, Tensor, str, tuple, list))
    if not known and not is_distributed(destinations):
        raise ValueError(
            "destinations must be one of a `DistributedValues` object, a tf.Variable object, or a "
            f"device string, got {destinations!r}"
        )
    if not devices_of(destinations):
        raise ValueError("destinations can not be empty")


def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices that a place stands for."""
    if is_distributed(destinations):
        places: tuple[str, ...] = destinations.devices
        return places
    if isinstance(destinations, (tuple, list)):
        return tuple(_resolved(each) for each in destinations)
    device = destinations if isinstance(destinations, str) else destinations.device
    return (_resolved(device),) if device else ()


def _resolved(device: str) -> str:
    """The full name of a device; what it leaves open is that of the `tf.device` blocks around."""
    around = DeviceSpec.from_string(current_device())
    return resolve(around.make_merged_spec(DeviceSpec.from_string(device)).to_string())


def broadcast_by_copies(value: Any, destinations: Any, *, always_mirrored: bool = False) -> Any:
    """A value on each of the devices; on one, the value itself unless `always_mirrored`."""
    devices = devices_of(destinations)
    copies = [copied_to(value, device) for device in devices]
    if len(devices) == 1 and not always_mirrored and not is_distributed(destinations):
        return copies[0]
    return regroup(devices, copies, Mirrored)


def copied_to(value: Any, device: str) -> Any:
    """A tensor, or slices, on a device."""
    with get_default_graph().device(device):
        if isinstance(value, IndexedSlices):
            shape = None if value.dense_shape is None else identity(value.dense_shape)
            return IndexedSlices(identity(value.values), identity(value.indices), shape)
        return identity(value)


def divided(value: Any, count: int) -> Any:
    """The mean that a sum of so many values belongs to."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count


def _added(values: Sequence[Any], accumulate: Callable[[Any], Any]) -> Any:
    slices = [isinstance(value, IndexedSlices) for value in values]
    if any(slices):
        if not all(slices):
            raise ValueError(f"some replicas give slices, and others tensors: {values}")
        rows = concat([value.values for value in values], 0)
        indices = concat([value.indices for value in values], 0)
        return IndexedSlices(rows, indices, values[0].dense_shape)
    return accumulate(list(values))
