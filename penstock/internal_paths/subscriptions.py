"""`tensorflow.python.framework.subscribe`: side effects that run whenever a tensor is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.control import control_dependencies, device
from penstock.ops.identity import identity
from penstock.ops.variables import Variable

#: Builds what runs for a tensor, and returns a list of it.
SideEffect = Callable[[Tensor], list[Any]]
#: The nodes that waited for a node before any of its results was subscribed.
Waiting = dict[Operation, list[Operation]]


def subscribe(tensors: Any, side_effects: Any) -> Any:
    """Tensors that give the same values after side effects, and take the old ones' places.

    Args:
      tensors: a tensor, or lists, tuples and dictionaries of them.
      side_effects: functions, or one, that build nodes for a tensor and return a list of them.
    """
    effects = list(side_effects) if hasattr(side_effects, "__iter__") else [side_effects]
    waiting: Waiting = {}
    return _recursive_apply(tensors, lambda tensor: _subscribed(tensor, effects, waiting))


def _recursive_apply(tensors: Any, apply_fn: Callable[[Tensor], Any]) -> Any:
    """A structure with each tensor replaced."""
    kind = type(tensors)
    if kind is Tensor:
        return apply_fn(tensors)
    if isinstance(tensors, Variable):
        return apply_fn(tensors.value())
    if isinstance(tensors, (list, tuple)):
        found = [_recursive_apply(each, apply_fn) for each in tensors]
        return kind(found) if kind in (list, tuple) else kind(*found)
    if kind is dict:
        return {key: _recursive_apply(value, apply_fn) for key, value in tensors.items()}
    raise TypeError(f"_recursive_apply argument {tensors!r} has invalid type {kind!r}")


@contextmanager
def _beside(tensor: Tensor) -> Iterator[None]:
    """Nodes go to the tensor's device, and into the loop or branch that it is in."""
    context = tensor.op._get_control_flow_context()
    with device(tensor.device), context.entered() if context is not None else nullcontext():
        yield


def _subscribed(tensor: Tensor, effects: list[SideEffect], waiting: Waiting) -> Tensor:
    if not tensor.dtype.is_numpy_compatible:
        return tensor
    with _beside(tensor):
        existing = _existing(tensor)
        if existing is not None:
            return _extended(existing, effects)
        if tensor.op not in waiting:
            waiting[tensor.op] = tensor.op._control_outputs
        return _replaced(tensor, effects, waiting[tensor.op])


def _existing(tensor: Tensor) -> Tensor | None:
    """The subscription that a tensor is, or has already."""
    for op in (tensor.op, *tensor.consumers()):
        if _is_subscribed_identity(op.outputs[0] if op.outputs else tensor):
            return op.outputs[0]
    return None


def _is_subscribed_identity(tensor: Tensor) -> bool:
    op = tensor.op
    return op.type == "Identity" and op.name.startswith(
        f"{op.inputs[0].op.name}/subscription/Identity"
    )


def _built(source: Tensor, effects: list[SideEffect]) -> list[Any]:
    return [node for effect in effects for node in effect(source)]


def _extended(subscription: Tensor, effects: list[SideEffect]) -> Tensor:
    source = subscription.op.inputs[0]
    with name_scope(f"{source.op.name}/subscription/"):
        nodes = _built(source, effects)
    subscription.op._add_control_inputs(
        [node.op if isinstance(node, Tensor) else node for node in nodes]
    )
    return subscription


def _replaced(tensor: Tensor, effects: list[SideEffect], waiting: list[Operation]) -> Tensor:
    uses = [
        (op, index)
        for op in dict.fromkeys(tensor.consumers())
        for index, value in enumerate(op.inputs)
        if value is tensor
    ]
    with (
        name_scope(f"{tensor.op.name}/subscription/"),
        control_dependencies(_built(tensor, effects)),
    ):
        replacement = identity(tensor)
    for op, index in uses:
        op._update_input(index, replacement)
    for op in waiting:
        others = [each for each in op.control_inputs if each is not tensor.op]
        op._remove_all_control_inputs()
        op._add_control_inputs([*others, replacement.op])
    return replacement
