"""Conditions that are decided while building where they can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir import constants
from penstock.ir.tensor import Tensor
from penstock.ops.conditionals import cond
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
        value = constants.constant_value(pred)
        return None if value is None else bool(value)
    if isinstance(pred, (bool, int, float)) and pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
    )


constant_value = smart_constant_value
