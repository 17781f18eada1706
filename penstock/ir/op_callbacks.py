"""Functions that are told of each operation: as it runs eagerly, or becomes a node of a graph."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from penstock.ir import attr_codec
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

#: `callback(op_type, inputs, attrs, outputs, op_name=None, graph=None)`: None, or other outputs.
Callback = Callable[..., Any]

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


class _State(threading.local):
    def __init__(self) -> None:
        self.callbacks: list[Callback] = []
        self.is_telling = False


_state = _State()
open_blocks = 0  # in all threads: while there are none, making a node costs nothing more


class _Block:
    """A block in which a callback is told."""

    def __init__(self, callback: Callback):
        self._callback = callback

    def __enter__(self) -> None:
        global open_blocks
        open_blocks += 1
        _state.callbacks.append(self._callback)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global open_blocks
        open_blocks -= 1
        _state.callbacks.pop()


def op_callback(callback_fn: Callback) -> _Block:
    """A block in which a function of this thread is told of each operation, right after it.

    Args:
      callback_fn: called as `callback_fn(op_type, inputs, attrs, outputs, op_name=None,
        graph=None)`. In eager mode the last two are None; in a graph it may return other tensors,
        which take the place of the outputs.
    """
    if callback_fn is None:
        raise ValueError("Passed callback function cannot be None.")
    if not callable(callback_fn):
        raise ValueError(
            "Callback function passed to op_callback() is expected to be callable, but is not: "
            f"{callback_fn}"
        )
    return _Block(callback_fn)


def should_invoke_op_callbacks() -> bool:
    """Whether there are callbacks here, and none of them is making this operation."""
    return bool(_state.callbacks) and not _state.is_telling


def invoke_op_callbacks(
    op_type: Any,
    inputs: Sequence[Any],
    attrs: Any,
    outputs: Sequence[Any],
    op_name: str | None = None,
    graph: Any = None,
) -> Any:
    """Calls the callbacks of the open blocks, the innermost first; returns what the last gave."""
    flat = tuple(part for pair in attrs.items() for part in pair) if type(attrs) is dict else attrs
    found: Any = outputs
    _state.is_telling = True
    try:
        for callback in reversed(_state.callbacks):
            found = callback(op_type, inputs, flat, found, op_name=op_name, graph=graph)
            if found is not None and len(found) != len(outputs):
                raise ValueError(
                    f"The op callback returned {len(found)} tensors, which does not match the "
                    f"original number of outputs of op {op_name} ({len(outputs)})."
                )
        return found
    finally:
        _state.is_telling = False


def outputs_after(op: Operation) -> list[Tensor]:
    """A new node's outputs, or what callbacks put in their place. Constants are not told."""
    if op.type == "Const" or not should_invoke_op_callbacks():
        return op._outputs
    inputs, outputs = tuple(op._inputs), tuple(op._outputs)
    if op.graph.is_eager:
        # A call is told under the name of its function.
        told_as = op.attrs["f"].name if op.type in _CALLS else op.type
        invoke_op_callbacks(told_as, inputs, dict(op.attrs), outputs)
        return op._outputs
    attrs = {
        key: attr_codec.encode(value, op.spec.attrs[key].kind if key in op.spec.attrs else None)
        for key, value in op.attrs.items()
    }
    found = invoke_op_callbacks(op.type, inputs, attrs, outputs, op.name, op.graph)
    return op._outputs if found is None else list(found)
