"""Conditions that are decided while building where they can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.client.session import Session
from penstock.ir import constants
from penstock.ir.operation import Operation
from penstock.ir.registry import CONTROL_FLOW
from penstock.ir.tensor import Tensor
from penstock.ops.conditionals import case, cond
from penstock.ops.variables import Variable

_FED = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` or `false_fn()` if `pred` is known while building, else `tf.cond` of them."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    value = smart_constant_value(pred)
    if value is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()


def smart_constant_value(pred: Any) -> bool | None:
    """Whether `pred` is true, or None if that is known only when the graph runs."""
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, Tensor):
        value = constants.constant_value(pred)
        if value is None and _hangs_on_constants(pred):
            with Session(graph=pred.graph) as session:
                value = session.run(pred)
        return None if value is None else bool(value)
    if isinstance(pred, (bool, int, float)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
    )


def _hangs_on_constants(tensor: Tensor) -> bool:
    """Whether a value is computed from constants alone, by nodes without state or branches."""
    seen: set[Operation] = set()
    pending = [tensor.op]
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        if op.spec.is_stateful or CONTROL_FLOW in op.spec.traits or op.type in _FED:
            return False
        seen.add(op)
        pending.extend(each.op for each in op.inputs)
    return True


def smart_case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`tf.case`, of which conditions that are known while building leave no trace.

    Args:
      pred_fn_pairs: pairs of a condition, a tensor or a bool, and a function, or a dictionary.
      default: the function for the case that no condition holds.
      exclusive: whether two conditions that hold are an error.
      name: of the scope.
    """
    is_dictionary = isinstance(pred_fn_pairs, dict)
    pairs = list(pred_fn_pairs.items() if is_dictionary else pred_fn_pairs)
    open_cases = []
    for pred, function in pairs:
        if not callable(function):
            raise TypeError(f"fn for pred {pred} must be callable.")
        value = smart_constant_value(pred)
        if value is None:
            open_cases.append((pred, function))
        elif value:  # nothing behind it can be taken
            default = function
            break
    if not open_cases:
        if default is None:
            raise TypeError("default must be callable where no condition holds")
        return default()
    return case(open_cases, default, exclusive=exclusive, name=name)


constant_value = smart_constant_value
