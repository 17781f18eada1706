"""What is known while a graph is built: constants, dimensions, sizes of windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.ir import constants

__all__ = [
    "channel_dimension",
    "constant_value",
    "get_variable_collections",
    "last_dimension",
    "n_positive_integers",
    "smart_cond",
    "static_cond",
    "two_element_tuple",
]


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value itself, or that of a constant tensor; None if only a run can tell."""
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, tf.Variable) else constants.constant_value(value)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """`fn1()` or `fn2()` by a Python value."""
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """`fn1()` or `fn2()` if `pred` is known while building, else `tf.cond` of them."""
    value = constant_value(pred)
    if value is None:
        return tf.cond(pred, fn1, fn2, name=name)
    return static_cond(value, fn1, fn2)


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for one variable: of a dict its entry, else all."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def _dimension(shape: Any, axis: int, min_rank: int) -> int:
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return int(size)


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int:
    """The number of channels in a shape."""
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """The last dimension of a shape, which must be known."""
    return _dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple: Any) -> tuple[Any, Any]:
    """A pair, from a pair or from one number for both."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, tf.TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """`n` positive integers, from a sequence of them or from one number for all."""
    if int(n) != n or n < 1:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * int(n)
    except (TypeError, ValueError):
        values = _integers(int(n), value)
    for each in values:
        if each < 1:
            raise ValueError(f"expected positive integer, but received {each}")
    return values


def _integers(n: int, value: Any) -> tuple[int, ...]:
    try:
        values = tuple(int(each) for each in value)
    except (TypeError, ValueError):
        values = ()
    if len(values) != n:
        raise ValueError(f"Expected sequence of {n} positive integers, but received {value!r}")
    return values
