"""The `assert` statement, of Python values or of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.autograph.operators.tensor_kinds import is_tensor


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Any:
    """`assert expression1, expression2()`; of a tensor, a `tf.Assert`.

    Args:
      expression1: what must be true.
      expression2: a function without arguments that gives the message.
    """
    if not callable(expression2):
        raise ValueError(f"{expression2} must be a callable")
    if inspect.signature(expression2).parameters:
        raise ValueError(f"{expression2} may not have any arguments")
    if is_tensor(expression1):
        message = expression2()
        return tf.Assert(expression1, message if isinstance(message, list) else [message])
    assert expression1, expression2()
    return None
