"""`not`, `and`, `or`, `==` and `!=`, of Python values or of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.autograph.operators.tensor_kinds import is_tensor


def not_(a: Any) -> Any:
    """`not a`."""
    return tf.logical_not(a) if is_tensor(a) else not a


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() and b()`; of tensors, `b` is computed only where `a` is true."""
    first = a()
    if is_tensor(first):
        return tf.cond(first, b, lambda: first)
    return first and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() or b()`; of tensors, `b` is computed only where `a` is false."""
    first = a()
    if is_tensor(first):
        return tf.cond(first, lambda: first, b)
    return first or b()


def eq(a: Any, b: Any) -> Any:
    """`a == b`, element by element where one of them is a tensor."""
    return tf.equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`, element by element where one of them is a tensor."""
    return not_(eq(a, b))
