"""Values of which each replica has its own: `PerReplica`, and `Mirrored` where they are equal."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from penstock import nest
from penstock.devices import canonical_name
from penstock.distribute import context
from penstock.distribute.device_maps import DeviceMap, ReplicaDeviceMap
from penstock.distribute.device_names import resolve
from penstock.ir.convert import (
    CompositeTensor,
    convert_to_tensor,
    register_tensor_conversion_function,
)
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import OPERATORS, Tensor
from penstock.ir.type_spec import TypeSpec, type_spec_from_value
from penstock.ops.control import group as grouped
from penstock.ops.identity import identity


class DistributedValues:
    """One value for each of some devices, in the order of the replicas.

    Args:
      devices: their names, or a device map.
      values: as many values.
      logical_device: which devices of the map, if it has several for a replica.
    """

    def __init__(
        self, devices: Sequence[str], values: Sequence[Any], logical_device: int | None = None
    ):
        self._devices = tuple(devices)
        self._device_map = devices if isinstance(devices, DeviceMap) else None
        self._values = tuple(values)
        self._logical_device = logical_device or 0

    @property
    def device_map(self) -> DeviceMap:
        """Which replica is on which device."""
        return self._device_map or ReplicaDeviceMap(self._devices)

    @property
    def logical_device(self) -> int:
        return self._logical_device

    @property
    def values(self) -> tuple[Any, ...]:
        return self._values

    @property
    def devices(self) -> tuple[str, ...]:
        return self._devices

    @property
    def primary(self) -> Any:
        """The first replica's value."""
        return self._values[0]

    @property
    def is_tensor_like(self) -> bool:
        return all(isinstance(value, Tensor) for value in self._values)

    def get(self, device: str | None = None) -> Any:
        """The value of the current replica, or of a device."""
        if device is None:
            replica = context.get_replica_context()
            if replica is not None:
                return self.device_map.select_for_current_replica(self._values, replica)
            device = context.get_update_device()
            if device is None:
                return self._get_cross_replica()
        found = self._of_device(device)
        if found is None:
            raise ValueError(
                f"Device {device} not found in {self._devices} (current device {current_device()})"
            )
        return found

    def _of_device(self, device: str) -> Any:
        name = resolve(device)
        if name in self._devices:
            return self._values[self._devices.index(name)]
        return None

    def _get_cross_replica(self) -> Any:
        raise ValueError(
            "The values of replicas can't be used as one between replicas: reduce them "
            f"(`strategy.reduce`), or look at each (`strategy.experimental_local_results`): {self}"
        )

    def __str__(self) -> str:
        return self._described(str)

    def __repr__(self) -> str:
        return self._described(repr)

    def _described(self, text: Callable[[Any], str]) -> str:
        pairs = zip(self._devices, self._values, strict=True)
        lines = [f"  {i} {device}: {text(value)}" for i, (device, value) in enumerate(pairs)]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"


class PerReplica(DistributedValues, CompositeTensor):
    """A value of each replica."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        specs = tuple(type_spec_from_value(value) for value in self._values)
        return PerReplicaSpec(specs, self.device_map, self._logical_device)


class PerReplicaSpec(TypeSpec):
    """The type of a `PerReplica`: the specs of its values, and where they are."""

    def __init__(self, value_specs: Sequence[Any], device_map: DeviceMap, logical_device: int):
        self._value_specs = tuple(value_specs)
        self._device_map = device_map
        self._logical_device = logical_device

    @property
    def value_type(self) -> type:
        return PerReplica

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs, self._device_map, self._logical_device

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        replica = context.get_replica_context()
        if replica is not None and replica.num_replicas_in_sync > 1:
            raise ValueError(
                "Flattening a PerReplica to components is not supported in replica context."
            )
        values: tuple[Any, ...] = value.values
        return values

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(self._device_map, components, self._logical_device)


class DistributedDelegate(DistributedValues):
    """Values of which the current replica's stands for all of them: operators and attributes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_values", "_devices", "_device_map"):
            raise AttributeError(name)
        return getattr(self.get(), name)

    def _get_cross_replica(self) -> Any:
        found = self._of_device(current_device())
        return self.primary if found is None else found


def _value_of(operand: Any) -> Any:
    return operand.get() if isinstance(operand, DistributedDelegate) else operand


def _forward(name: str) -> None:
    """Gives delegates an operator, which is applied to the value that stands for them."""
    plain = name[2:-2]
    swapped = plain.startswith("r") and f"__{plain[1:]}__" in OPERATORS
    plain = plain[1:] if swapped else plain
    function = pow if plain == "pow" else getattr(operator, f"__{plain}__", operator.truediv)

    def apply(delegate: DistributedDelegate, *operands: Any) -> Any:
        own = delegate.get()
        if swapped:
            return function(operands[0], own)
        others = [
            each.get() if isinstance(each, DistributedDelegate) else each for each in operands
        ]
        return function(own, *others)

    apply.__name__ = name
    setattr(DistributedDelegate, name, apply)


for _operator in OPERATORS:
    _forward(_operator)


class Mirrored(DistributedDelegate):
    """A value that all replicas have a copy of; it can be used as the value itself."""

    def _as_graph_element(self) -> Any:
        value = self.get()
        convert = getattr(value, "_as_graph_element", None)
        return value if convert is None else convert()


def _conversion(
    value: Mirrored, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    return convert_to_tensor(value.get(), dtype, name)


register_tensor_conversion_function(Mirrored, _conversion)


def current_device() -> str:
    """The device that an operation made here would get."""
    probe = _Place()
    get_default_graph()._apply_device_functions(probe)
    return probe.device


class _Place:
    """What device scopes are asked with."""

    device = ""

    def _set_device(self, device: str) -> None:
        self.device = canonical_name(device)


# From replicas and to replicas ----------------------------------------------------------------


def regroup(
    devices: Sequence[str],
    values: Sequence[Any],
    wrap: Callable[[Sequence[str], Sequence[Any]], Any] = PerReplica,
) -> Any:
    """One structure of distributed values from a structure of values for each replica."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        lengths = {len(value) for value in values}
        if lengths != {len(first)} or any(type(value) is not type(first) for value in values):
            raise AssertionError(f"the replicas give values of different structures: {values}")
        parts = [regroup(devices, [value[i] for value in values], wrap) for i in range(len(first))]
        if hasattr(first, "_make"):
            return type(first)._make(parts)
        return type(first)(parts)
    if isinstance(first, dict):
        if any(set(value) != set(first) for value in values):
            raise AssertionError(f"the replicas give dictionaries of different keys: {values}")
        return type(first)(
            (key, regroup(devices, [value[key] for value in values], wrap)) for key in first
        )
    container = container_of(first)
    if container is not first and all(container_of(value) is container for value in values):
        return container
    if all(value is first for value in values):
        return first
    return wrap(devices, values)


def container_of(value: Any) -> Any:
    """The distributed variable that a replica's variable is a part of, or the value itself."""
    reference = getattr(value, "_distributed_container", None)
    container = None if reference is None else reference()
    # What an assignment returns stands for the variable, but is not the variable.
    inside = container is not None and any(value is each for each in container.values)
    return container if inside else value


def select_replica(number: int, structured: Any) -> Any:
    """What one replica sees of a structure with distributed values in it."""

    def chosen(value: Any) -> Any:
        return value.values[number] if is_distributed(value) else value

    return nest.map_structure(chosen, structured)


def select_device(device: str, structured: Any) -> Any:
    """What one device sees of a structure with mirrored values in it."""

    def chosen(value: Any) -> Any:
        if not is_distributed(value):
            return value
        if type(value) in (DistributedValues, PerReplica):
            raise TypeError(
                f"Expected value to be mirrored across replicas: {value} in {structured}."
            )
        return value.get(device)

    return nest.map_structure(chosen, structured)


def is_distributed(value: Any) -> bool:
    """Whether replicas have a value each: in a `DistributedValues` or a distributed variable."""
    return isinstance(value, DistributedValues) or getattr(value, "_is_distributed", False)


def regroup_updates(
    devices: Sequence[str], updates: Sequence[Any], local: Callable[[Any], Any], group: bool
) -> Any:
    """What `update` gives for what a function has given on each device.

    Grouped, a value on one device is one only after the updates of all devices.
    """
    if not group:
        return nest.map_structure(local, regroup(devices, updates, Mirrored))

    def together(places: Sequence[str], values: Sequence[Any]) -> Any:
        if len(values) == 1:
            return Mirrored(places, values)
        all_done = grouped(*values)
        if any(value is None or isinstance(value, Operation) for value in values):
            return all_done
        graph = get_default_graph()
        after = []
        for place, value in zip(places, values, strict=True):
            with graph.device(place), graph.control_dependencies([all_done]):
                after.append(identity(value))
        return Mirrored(places, after)

    return regroup(devices, updates, together)
