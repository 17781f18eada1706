"""Assertions about the values of tensors: `tf.assert_equal(x, y)` and its kind.

Each returns an operation that fails in a step where the condition does not hold. What the graph
determines already is checked at once, while it is built.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.ir.constants import static_value
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import comparison
from penstock.ops.conditionals import cond
from penstock.ops.control import no_op
from penstock.ops.debugging import Assert
from penstock.ops.elementwise import abs as absolute
from penstock.ops.reductions import reduce_all
from penstock.ops.shaping import reshape, shape, size
from penstock.ops.slicing import strided_slice
from penstock.ops.type_assertions import is_numeric_tensor

__all__ = [
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "is_non_decreasing",
    "is_strictly_increasing",
]

Data = Sequence[Any] | None


def called(tensor: Any) -> str:
    """How messages call a tensor: by its name or, of one that has none, by its shape and type."""
    named: str = getattr(tensor, "name", "")
    return named or f"shape={tensor.shape} dtype={tensor.dtype.name}"


def message_prefix(message: str | None) -> str:
    """A user's message, ready to stand in front of ours."""
    return f"{message}.  " if message else ""


def assert_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x == y` for all pairs of elements (with broadcasting).

    `data` are the tensors to show where it fails (x and y if None), `summarize` is how many
    elements to show of each, and `message` stands in front.
    """
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _compared("==", "assert_equal", x, y, data, summarize, message, name)


def assert_none_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x != y` for all pairs of elements; see `tf.assert_equal`."""
    return _compared("!=", "assert_none_equal", x, y, data, summarize, message, name)


def assert_less(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x < y` for all pairs of elements; see `tf.assert_equal`."""
    return _compared("<", "assert_less", x, y, data, summarize, message, name)


def assert_less_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x <= y` for all pairs of elements; see `tf.assert_equal`."""
    return _compared("<=", "assert_less_equal", x, y, data, summarize, message, name)


def assert_greater(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x > y` for all pairs of elements; see `tf.assert_equal`."""
    return _compared(">", "assert_greater", x, y, data, summarize, message, name)


def assert_greater_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x >= y` for all pairs of elements; see `tf.assert_equal`."""
    return _compared(">=", "assert_greater_equal", x, y, data, summarize, message, name)


_COMPARISONS: dict[str, tuple[Callable[..., Tensor], Callable[..., Any]]] = {
    "==": (comparison.equal, np.equal),
    "!=": (comparison.not_equal, np.not_equal),
    "<": (comparison.less, np.less),
    "<=": (comparison.less_equal, np.less_equal),
    ">": (comparison.greater, np.greater),
    ">=": (comparison.greater_equal, np.greater_equal),
}


def _compared(
    symbol: str,
    function: str,
    x: Any,
    y: Any,
    data: Data,
    summarize: int | None,
    message: str | None,
    name: str | None,
) -> Operation:
    in_step, at_once = _COMPARISONS[symbol]
    if executing_eagerly():
        _compare_now(symbol, in_step, to_tensor(x), to_tensor(y), data, summarize, message)
        return no_op()
    with name_scope(name, function, [x, y, data]):
        x, y = to_tensor(x, name="x"), to_tensor(y, name="y")
        if data is None:
            data = [
                f"Condition x {symbol} y did not hold element-wise:",
                f"x ({called(x)}) = ",
                x,
                f"y ({called(y)}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = reduce_all(in_step(x, y))
        known = static_value(x), static_value(y)
        if known[0] is not None and known[1] is not None and not np.all(at_once(*known)):
            text = "\n".join(_shown(value) for value in data)
            raise errors.InvalidArgumentError(None, None, text)
        return Assert(condition, data, summarize=summarize)


def _compare_now(
    symbol: str,
    compare: Callable[..., Tensor],
    x: Tensor,
    y: Tensor,
    data: Data,
    summarize: int | None,
    message: str | None,
) -> None:
    """The comparison in eager mode: what differs is known, and told."""
    holds: Any = static_value(compare(x, y))
    if holds.all():
        return
    shown = 3 if summarize is None else sys.maxsize if summarize < 0 else summarize
    told: list[Any] = [] if message is None else [message]
    if data is not None:
        told += data
    else:
        told += [f"Condition x {symbol} y did not hold.", *_differences(x, y, holds, shown)]
    text = "\n".join(_listed(value, shown) for value in told)
    raise errors.InvalidArgumentError(None, None, text)


def _differences(x: Tensor, y: Tensor, holds: np.ndarray, shown: int) -> list[Any]:
    """Which elements differ, and the first ones of both tensors."""
    values: list[Any] = [static_value(x), static_value(y)]
    told: list[Any] = []
    if shown <= 0:
        return told
    if x._shape == y._shape and x._shape:
        places = np.argwhere(~holds)[:shown]
        told += [f"Indices of first {len(places)} different values:", places]
        for name, value in zip("xy", values, strict=True):
            told += [f"Corresponding {name} values:", value[~holds][:shown]]
    for name, value in zip("xy", values, strict=True):
        first = value.reshape(-1)[:shown]
        told += [f"First {first.size} elements of {name}:", first]
    return told


def _listed(value: Any, shown: int) -> str:
    if not isinstance(value, Tensor):
        return str(value)
    array: Any = static_value(value)
    if not array.ndim:
        return str(array)
    flat = [str(each) for each in array.reshape(-1)[:shown]]
    return str([*flat, "..."] if len(flat) < array.size else flat)


def _shown(value: Any) -> str:
    known = static_value(value) if isinstance(value, Tensor) else None
    return str(value if known is None else known)


# One tensor and zero --------------------------------------------------------------------------


def assert_negative(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x < 0` for all elements; see `tf.assert_equal`."""
    with name_scope(name, "assert_negative", [x, data]):
        x, zero, data = _with_zero(x, "<", data, message)
        return assert_less(x, zero, data=data, summarize=summarize)


def assert_positive(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x > 0` for all elements; see `tf.assert_equal`."""
    with name_scope(name, "assert_positive", [x, data]):
        x, zero, data = _with_zero(x, ">", data, message)
        return assert_less(zero, x, data=data, summarize=summarize)


def assert_non_negative(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x >= 0` for all elements; see `tf.assert_equal`."""
    with name_scope(name, "assert_non_negative", [x, data]):
        x, zero, data = _with_zero(x, ">=", data, message)
        return assert_less_equal(zero, x, data=data, summarize=summarize)


def assert_non_positive(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x <= 0` for all elements; see `tf.assert_equal`."""
    with name_scope(name, "assert_non_positive", [x, data]):
        x, zero, shown = _with_zero(x, "<=", data, message)
        if data is None:  # here TensorFlow says both in one string
            shown = [shown[0], shown[1] + shown[2], shown[3]]
        return assert_less_equal(x, zero, data=shown, summarize=summarize)


def _with_zero(x: Any, symbol: str, data: Data, message: str | None) -> Any:
    """`x` as a tensor, zero of its type, and what to say where the comparison fails."""
    x = to_tensor(x, name="x")
    if data is None:
        data = [
            message or "",
            f"Condition x {symbol} 0 did not hold element-wise:",
            f"x ({called(x)}) = ",
            x,
        ]
    return x, to_tensor(0, x.dtype), data


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `|x - y| < atol + rtol * |y|` for all pairs of elements; see `tf.assert_equal`.

    Both tolerances are ten times the type's machine epsilon if None.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = to_tensor(x, name="x")
        y = to_tensor(y, x.dtype, "y")
        dtype = x.dtype.real_dtype
        tolerance = 10 * _epsilon(dtype)
        rtol = to_tensor(tolerance if rtol is None else rtol, dtype, "rtol")
        atol = to_tensor(tolerance if atol is None else atol, dtype, "atol")
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({called(x)}) = ",
                x,
                f"y ({called(y)}) = ",
                y,
            ]
        allowed = atol + rtol * absolute(y)
        difference = absolute(x - y)
        condition = reduce_all(comparison.less(difference, allowed))
        return Assert(condition, data, summarize=summarize)


def _epsilon(dtype: dtypes.DType) -> Any:
    if dtype is dtypes.bfloat16:
        import ml_dtypes

        return ml_dtypes.finfo(ml_dtypes.bfloat16).eps
    return np.finfo(dtype.as_numpy_dtype).eps


# Order ----------------------------------------------------------------------------------------


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element of `x` is smaller than the one before it, row by row."""
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(x)
        return reduce_all(comparison.less_equal(to_tensor(0, steps.dtype), steps))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element of `x` is greater than the one before it, row by row."""
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(x)
        return reduce_all(comparison.less(to_tensor(0, steps.dtype), steps))


def _steps(x: Any) -> Tensor:
    """Each element less the one before it; nothing where there are fewer than two."""
    x = reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    is_short = comparison.less(size(x), 2)
    length = shape(x) - 1
    return cond(
        is_short,
        lambda: to_tensor([], x.dtype),
        lambda: strided_slice(x, [1], [1] + length) - strided_slice(x, [0], length),
    )
