"""Conditions that are decided while building where they can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir import constants
from penstock.ir.computed_ahead import while_inferring
from penstock.ir.tensor import Tensor
from penstock.ops.conditionals import case, cond
from penstock.ops.variables import Variable


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
        with while_inferring:  # TensorFlow decides it as shape inference would, with kernels
            value = constants.constant_value(pred)
        return None if value is None else bool(value)
    if isinstance(pred, (bool, int, float)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
    )


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
