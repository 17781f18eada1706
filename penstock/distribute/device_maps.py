"""Which devices the values of replicas are on: TensorFlow's device maps.

A device map is the tuple of its devices' full names, in the order of the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.distribute.device_names import resolve


class DeviceMap(tuple[str, ...]):
    """The devices of some values; what a kind of map doesn't know, it refuses with ValueError."""

    __slots__ = ()
    _by_replica = True

    def __new__(cls, devices: Sequence[str], *_: Any) -> DeviceMap:
        names = tuple(resolve(device) for device in devices)
        if len(set(names)) != len(names):
            raise ValueError(f"Duplicate devices in {devices}, after canonicalization: {names}")
        return super().__new__(cls, names)

    @property
    def all_devices(self) -> tuple[str, ...]:
        return tuple(self)

    @property
    def devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """The devices of each replica."""
        self._require_replicas("`{}` is not indexed by replicas")
        return tuple((device,) for device in self)

    @property
    def num_logical_devices(self) -> int:
        return 1

    @property
    def num_replicas_in_graph(self) -> int:
        return len(self)

    def logical_device_from_values(self, values: Sequence[Any]) -> int:
        """The kind of device that values are on, of which there is one."""
        return 0

    def logical_to_actual_devices(self, logical_device_id: int) -> tuple[str, ...]:
        return tuple(self)

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        """The value of the replica that asks."""
        return values[_number_of(replica_context) % len(values)]

    def replica_for_device(self, device: str) -> int | None:
        """The number of the replica on a device; None if there is none."""
        self._require_replicas("`{}` not indexed by replicas")
        name = resolve(device)
        return self.index(name) if name in self else None

    def select_for_device(self, values: Sequence[Any], device: str) -> Any:
        """The value on a device."""
        name = resolve(device)
        if name not in self:
            raise ValueError(f"Device {device} not found in {tuple(self)}")
        return values[self.index(name)]

    def is_device_in_replica(self, device: str, replica_id: int) -> bool:
        self._require_replicas("{} not indexed by replicas")
        return resolve(device) == self[replica_id]

    def _require_replicas(self, message: str) -> None:
        if not self._by_replica:
            raise ValueError(message.format(type(self).__name__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({tuple(self)!r})"

    __str__ = __repr__


class ReplicaDeviceMap(DeviceMap):
    """One device for each replica."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"[{', '.join(self)}]"


class SingleDeviceMap(DeviceMap):
    """One device for one value."""

    __slots__ = ()
    _by_replica = False

    def __new__(cls, device: str) -> SingleDeviceMap:
        return super().__new__(cls, (device,))  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self[0]!r})"

    __str__ = __repr__


class WorkerDeviceMap(DeviceMap):
    """One value for each worker, which all its replicas share.

    Args:
      devices: those of the workers.
      num_replicas_per_worker: how many replicas share a value.
    """

    _by_replica = False

    def __new__(cls, devices: Sequence[str], num_replicas_per_worker: int) -> WorkerDeviceMap:
        made: WorkerDeviceMap = super().__new__(cls, devices)  # type: ignore[assignment]
        made._replicas_per_worker = num_replicas_per_worker
        return made

    _replicas_per_worker = 1

    @property
    def num_replicas_per_worker(self) -> int:
        return self._replicas_per_worker

    def select_for_current_replica(self, values: Sequence[Any], replica_context: Any) -> Any:
        return values[_number_of(replica_context) // self._replicas_per_worker]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({tuple(self)!r}, "
            f"num_replicas_per_worker={self._replicas_per_worker})"
        )

    __str__ = __repr__


def _number_of(replica_context: Any) -> int:
    """A replica's number; contexts of others' making know it as the one in the sync group."""
    number = getattr(replica_context, "replica_number", None)
    return int(replica_context.replica_id_in_sync_group if number is None else number)


class LogicalDeviceSpec(NamedTuple):
    """A kind of device of a map, as a place for values."""

    device_map: DeviceMap
    logical_device: int
