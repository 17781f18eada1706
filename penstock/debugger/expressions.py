"""Expressions of dumped tensors: "np.sum(`layer/MatMul:0`)" with the values of a dump."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from penstock.debugger.dump_folder import WatchKeyDoesNotExistInDebugDumpDirError

__all__ = ["ExpressionEvaluator"]

_QUOTED = re.compile(r"`(.*?)`")
_DEVICE = re.compile(r"(/job:\w+/replica:\d+/task:\d+/\w+:\d+):")
_EXECUTION = re.compile(r"\[(\d*)\]$")
_DEFAULT_DEBUG_OP = "DebugIdentity"


def _parse_debug_tensor_name(debug_tensor_name: str) -> tuple[str | None, str, int, str, int]:
    """Device, node, output, debug op and execution of a name such as "node:0:DebugIdentity[1]".

    Device, debug op and execution may be left out.
    """
    name = debug_tensor_name
    device = _DEVICE.match(name)
    if device:
        name = name[device.end() :]
    execution = _EXECUTION.search(name)
    if execution:
        name = name[: execution.start()]
    node, *rest = name.split(":")
    if len(rest) not in (1, 2):
        raise ValueError(
            "The debug tensor name in the to-be-evaluated expression is malformed: "
            f"'{debug_tensor_name}'"
        )
    return (
        device.group(1) if device else None,
        node,
        int(rest[0]),
        rest[1] if len(rest) == 2 else _DEFAULT_DEBUG_OP,
        int(execution.group(1)) if execution else 0,
    )


class ExpressionEvaluator:
    """Evaluates Python expressions in which tensors of a dump are named between backquotes.

    Args:
      dump: a `DebugDumpDir`.
    """

    def __init__(self, dump: Any):
        self._dump = dump
        self._cached_tensor_values: dict[str, Any] = {}

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; ValueError if a tensor in it has not been dumped."""
        values: dict[str, Any] = {}

        def variable(match: re.Match[str]) -> str:
            name = f"tensor_{len(values)}"
            values[name] = self._value(match.group(1).strip())
            return f" {name} "

        rewritten = _QUOTED.sub(variable, expression).strip()
        # The expression is what the user of the debugger types.
        return eval(rewritten, {"np": np, "numpy": np}, values)  # noqa: S307

    def _value(self, tensor_name: str) -> Any:
        if tensor_name not in self._cached_tensor_values:
            device, node, output, debug_op, execution = _parse_debug_tensor_name(tensor_name)
            try:
                found = self._dump.get_tensors(node, output, debug_op, device_name=device)
            except WatchKeyDoesNotExistInDebugDumpDirError:
                raise ValueError(
                    f"Eval failed due to the value of {node}:{output}:DebugIdentity being "
                    "unavailable"
                ) from None
            self._cached_tensor_values[tensor_name] = found[execution]
        return self._cached_tensor_values[tensor_name]
