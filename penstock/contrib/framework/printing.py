"""`tf.contrib.framework.print_op`, and the mark of experimental functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import logging
from penstock.internal_paths.python.docstring_notices import (
    add_notice_to_docstring,
    get_qualified_name,
    validate_callable,
)

__all__ = ["experimental", "print_op"]

_KINDS: tuple[tuple[Any, str], ...] = (
    (tf.Tensor, "Tensor"),
    (tf.SparseTensor, "SparseTensor"),
    (tf.TensorArray, "TensorArray"),
    (tf.Variable, "Variable"),
)
_WRONG_INPUT = "input_ must be of type Tensor, SparseTensor or TensorArray"


def _described(
    value: Any, with_name: bool, with_type: bool, with_shape: bool, with_first_true: bool
) -> list[Any]:
    """What is printed of a value."""
    found: list[Any] = []
    if with_name and isinstance(value, tf.Tensor):
        found.append(tf.constant(f"Name: {value.name}"))
    if with_type:
        kinds = [name for kind, name in _KINDS if isinstance(value, kind)]
        if not kinds:
            raise ValueError("t must be a Tensor, SparseTensor, TensorArray or Variable.")
        found.append(tf.constant(f"Type: {kinds[0]} ({value.dtype.name})"))
    if with_shape:
        if isinstance(value, tf.SparseTensor):
            found += [tf.constant("Shape:"), value.dense_shape]
        elif isinstance(value, tf.Tensor):
            found.append(tf.constant(f"Shape: {value.get_shape().dims}"))
        elif isinstance(value, tf.TensorArray):
            found += [tf.constant("Size:"), value.size()]
    if with_first_true and value.dtype == tf.bool:
        first = tf.cast(value, tf.uint8)
        found += [tf.constant("First True in Boolean tensor at:"), tf.argmax(first, 0)]
    if isinstance(value, tf.SparseTensor):
        found += [tf.constant("Sparse indices:"), value.indices]
        found += [tf.constant("Sparse values:"), value.values]
    elif isinstance(value, tf.Tensor):
        found += [tf.constant("Value:"), value]
    elif isinstance(value, tf.TensorArray):
        found += [tf.constant("Value:"), value.stack()]
    return found


def print_op(
    input_: Any,
    data: Any = None,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_shape: bool = True,
    summarize_indicator_vector: bool = True,
    name: str | None = None,
) -> Any:
    """A value, which is printed with its name, type and shape when it is computed.

    Args:
      data: further values to print.
      first_n: print so many times only.
      summarize: how many entries of each value to print.
      summarize_indicator_vector: print where the first True of Booleans is.
    """
    if input_ is None:
        raise ValueError(_WRONG_INPUT)
    parts = (print_tensor_name, print_tensor_type, print_shape, summarize_indicator_vector)
    printed = [part for value in (input_, *(data or ())) for part in _described(value, *parts)]
    options = (printed, message or "", first_n, summarize, name)
    if isinstance(input_, tf.Tensor | tf.Variable):
        return tf.Print(input_, *options)
    if not isinstance(input_, tf.SparseTensor | tf.TensorArray):
        raise ValueError(_WRONG_INPUT)
    with tf.control_dependencies([tf.Print(tf.constant([]), *options)]):
        if isinstance(input_, tf.SparseTensor):
            copies = (input_.indices, input_.values, input_.dense_shape)
            return tf.SparseTensor(*[tf.identity(part) for part in copies])
        return tf.TensorArray(dtype=input_.dtype, handle=input_.handle, flow=input_.flow)


def experimental(func: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function as experimental: its calls log a warning, its docstring says so."""
    validate_callable(func, "experimental")

    @functools.wraps(func)
    def warned(*args: Any, **kwargs: Any) -> Any:
        logging.warning(
            "%s (from %s) is experimental and may change or be removed at any time, and without "
            "warning.",
            get_qualified_name(func),
            func.__module__,
        )
        return func(*args, **kwargs)

    warned.__doc__ = add_notice_to_docstring(
        func.__doc__,
        "",
        "EXPERIMENTAL FUNCTION",
        "(experimental)",
        [
            "THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and without "
            "warning."
        ],
    )
    return warned
