"""Python functions that converted code calls when the step runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.autograph.operators.tensor_kinds import is_tensor


class MatchDType(NamedTuple):
    """The type of an argument, counted from 0."""

    arg_number: int


def wrap_py_func(
    f: Callable[..., Any],
    return_dtypes: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    use_dummy_return: bool = False,
) -> Any:
    """Calls a Python function when the step runs; arguments that are no tensors stay what they are.

    Args:
      f: the function.
      return_dtypes: the types of its results, each a DType or a `MatchDType`.
      args: its arguments.
      kwargs: its arguments by name.
      use_dummy_return: whether its results are dropped; the node then gives 1.
    """
    if return_dtypes and use_dummy_return:
        raise ValueError("if use_dummy_return is True, return_dtypes must be empty")
    given: dict[Any, Any] = {**dict(enumerate(args)), **(kwargs or {})}
    tensors = {key: value for key, value in given.items() if is_tensor(value)}

    def call(*values: Any) -> Any:
        full = given | dict(zip(tensors, values, strict=True))
        result = f(
            *(full[place] for place in range(len(args))),
            **{name: full[name] for name in kwargs or ()},
        )
        return 1 if use_dummy_return else result

    dtypes = tf.int32 if use_dummy_return else _matched(return_dtypes, args)
    return tf.py_function(call, list(tensors.values()), dtypes)


def _matched(dtypes: Any, args: Sequence[Any]) -> Any:
    if isinstance(dtypes, MatchDType):
        argument = args[dtypes.arg_number]
        if not is_tensor(argument):
            raise ValueError(
                f"argument {dtypes.arg_number} was used with MatchDType and must be a tf.Tensor, "
                f"but was {type(argument)} instead"
            )
        return argument.dtype
    if isinstance(dtypes, (list, tuple)):
        return tuple(_matched(each, args) for each in dtypes)
    return dtypes
