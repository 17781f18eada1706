"""Functions that are told of each operation of eager mode: `tfe.add_execution_callback`."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.ir.operation import Operation
from penstock.platform import logging

#: `callback(op_type, inputs, attrs, outputs, op_name)`.
Callback = Callable[..., Any]

registered: list[Callback] = []


class ExecutionCallback(enum.Enum):
    """What to do about an infinite value or a NaN."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An operation gave an infinite value or a NaN.

    Args:
      op_type: the type of the operation.
      op_name: its name, or None.
      output_index: which of its outputs it is.
      num_outputs: how many it has.
      value: the output, as an array.
    """

    def __init__(
        self, op_type: str, op_name: str | None, output_index: int, num_outputs: int, value: Any
    ):
        self.op_type = op_type
        self.op_name = op_name
        self.output_index = output_index
        self.num_outputs = num_outputs
        self.value = value
        counts = {"inf": int(np.isinf(value).sum()), "nan": int(np.isnan(value).sum())}
        found = " and ".join(f"{count} {kind}(s)" for kind, count in counts.items() if count)
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name: "
            f"{op_name!r}) contains {found} out of a total of {np.size(value)} element(s). Tensor "
            f"value: {value}"
        )


def inf_nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[Any],
    op_name: str | None,
    check_inf: bool = True,
    check_nan: bool = True,
    action: Any = ExecutionCallback.RAISE,
) -> None:
    """A callback that looks for infinite values and NaNs in what an operation gives."""
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        if not (check_inf and np.isinf(value).any()) and not (check_nan and np.isnan(value).any()):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action is ExecutionCallback.PRINT:
            print(f"Warning: {error}")  # noqa: T201 - asked for
        elif action is ExecutionCallback.WARN:
            logging.warn(str(error))
        elif action is ExecutionCallback.RAISE:
            raise error
        else:
            raise ValueError(
                f"Invalid action for inf_nan_callback: {action}. Valid actions are: "
                "{PRINT | WARN | RAISE}"
            )


def inf_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[Any],
    op_name: str | None,
    action: Any = ExecutionCallback.RAISE,
) -> None:
    """`inf_nan_callback` for infinite values alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, True, False, action)


def nan_callback(
    op_type: str,
    inputs: Sequence[Any],
    attrs: Sequence[Any],
    outputs: Sequence[Any],
    op_name: str | None,
    action: Any = ExecutionCallback.RAISE,
) -> None:
    """`inf_nan_callback` for NaNs alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, False, True, action)


def add_execution_callback(callback: Callback) -> None:
    """Has `callback(op_type, inputs, attrs, outputs, op_name)` called after each operation."""
    registered.append(callback)


def clear_execution_callbacks() -> None:
    """Forgets all callbacks."""
    registered.clear()


def seterr(inf_or_nan: Any = None) -> dict[str, ExecutionCallback]:
    """Sets what is done about infinite values and NaNs; returns what was done before.

    Args:
      inf_or_nan: an `ExecutionCallback`, or None for no change.
    """
    wanted = None if inf_or_nan is None else ExecutionCallback(inf_or_nan)
    checks = [each for each in registered if _is_check(each)]
    before = ExecutionCallback.IGNORE
    for check in checks:
        keywords = check.keywords if isinstance(check, functools.partial) else {}
        before = ExecutionCallback(keywords.get("action", ExecutionCallback.RAISE))
    if wanted is not None:
        registered[:] = [each for each in registered if not _is_check(each)]
        if wanted is not ExecutionCallback.IGNORE:
            registered.append(functools.partial(inf_nan_callback, action=wanted))
    return {"inf_or_nan": before}


@contextmanager
def errstate(inf_or_nan: Any = None) -> Iterator[None]:
    """A block with other settings of `seterr`."""
    before = seterr(inf_or_nan=inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)


def _is_check(callback: Callback) -> bool:
    function = callback.func if isinstance(callback, functools.partial) else callback
    return function is inf_nan_callback


def tell(op: Operation) -> None:
    """Calls what is registered; constants and what a callback computes itself are not told."""
    if op.type == "Const":
        return
    callbacks, registered[:] = list(registered), []
    attrs = tuple(part for pair in op.attrs.items() for part in pair)
    name = op.name if op.name != op.type else None
    try:
        for callback in callbacks:
            callback(op.type, list(op._inputs), attrs, list(op._outputs), name)
    finally:
        registered[:] = callbacks
