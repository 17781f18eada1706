"""What a `with` block around graph building changes: names, devices, control inputs, colocation.

Each thread has scopes of its own, so that threads can build parts of one graph side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock import devices
from penstock.ir import source
from penstock.ir.operation import Operation

if TYPE_CHECKING:
    from penstock.ir.tensor import Tensor

DeviceFunction = Callable[[Operation], Any]


class DeviceScope(NamedTuple):
    """One `with tf.device(given):` block, and the line of the program that opened it."""

    function: DeviceFunction | None
    given: Any
    line: source.Line | None


class ColocationScope(NamedTuple):
    """One `with tf.colocate_with(op):` block, and the line of the program that opened it."""

    op: Operation
    line: source.Line | None


class Scopes(threading.local):
    """The open scopes of one graph in one thread, innermost last."""

    def __init__(self) -> None:
        self.name = ""
        self.container = ""
        self.devices: list[DeviceScope] = []
        self.colocations: list[ColocationScope] = []
        self.controllers: list[ControlScope] = []
        self.attrs: dict[str, Any] = {}
        self.gradient_names: dict[str, str] = {}
        self.kernel_labels: dict[str, str] = {}
        self.control_flow: Any = None
        self.original_op: Operation | None = None

    def captured(self) -> dict[str, Any]:
        """The scopes that are open in this thread, for `setting` in another one."""
        return dict(vars(self))

    @contextmanager
    def setting(self, **values: Any) -> Iterator[None]:
        """Sets scope fields for the duration of a `with` block."""
        saved = {key: getattr(self, key) for key in values}
        for key, value in values.items():
            setattr(self, key, value)
        try:
            yield
        finally:
            for key, value in saved.items():
                setattr(self, key, value)

    @contextmanager
    def pushing(self, field: str, entry: Any) -> Iterator[None]:
        stack = getattr(self, field)
        with self.setting(**{field: [*stack, entry]}):
            yield


class ControlScope:
    """One `control_dependencies` block: its control inputs and the nodes made inside it."""

    def __init__(self, control_inputs: list[Operation]):
        self.control_inputs = control_inputs
        self.made_inside: set[Operation] = set()


def control_inputs_for(
    controllers: Iterable[ControlScope], input_ops: Iterable[Operation]
) -> list[Operation]:
    """The control inputs that a node with these inputs needs.

    A node with an input made inside a block already runs after that block's control inputs.
    """
    inputs = set(input_ops)
    needed: dict[Operation, None] = {}
    for controller in controllers:
        if controller.made_inside.isdisjoint(inputs):
            needed.update((op, None) for op in controller.control_inputs if op not in inputs)
    return list(needed)


def device_scope(device: Any) -> DeviceScope:
    """What `tf.device(device)` does to a node's device: a string merges under what is set."""
    plain = device is None or callable(device)
    function = device if plain else devices.merge_device(device)
    return DeviceScope(function, device, source.user_line())


def apply_devices(stack: list[DeviceScope], op: Operation) -> None:
    """Applies the device functions, innermost first; `tf.device(None)` hides the outer ones."""
    for scope in reversed(stack):
        if scope.function is None:
            return
        op._device = devices.spelled(scope.function(op))


def apply_colocation(stack: list[ColocationScope], op: Operation) -> None:
    if not stack:
        return
    groups: set[str] = set()
    for other, _ in stack:
        groups.update(group.decode() for group in other.colocation_groups())
        if other._device:
            op._device = other._device
    op.attrs["_class"] = sorted(groups)


def op_to_colocate_with(value: Any) -> Operation | None:
    """The operation behind a variable, tensor or operation."""
    if isinstance(value, Operation):
        return None if value.graph.is_eager else value
    if value is None:
        return None
    if getattr(value, "_is_distributed", False):
        value = value._closest()  # a variable with copies: that of this place
    handle: Tensor | None = getattr(value, "handle", None)
    element = value if handle is None else handle
    if hasattr(element, "_id"):
        return None  # it has a value already, and no node
    op = element.op
    if not isinstance(op, Operation):
        raise TypeError(f"can't colocate with {value!r}: it has no operation")
    return op
