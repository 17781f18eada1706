"""`tensorflow.python.autograph.utils`: what converted code of older versions called."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import penstock as tf
from penstock.autograph.operators.python_calls import wrap_py_func as wrap_py_func
from penstock.autograph.operators.tensor_kinds import is_tensor as _is_tensor
from penstock.ops import list_functions
from penstock.ops.tensor_lists import TensorListLength, TensorListPushBack


def is_tensor(*args: Any) -> bool:
    """Whether any of some values is a tensor."""
    return any(map(_is_tensor, args))


def alias_tensors(*args: Any) -> Any:
    """The arguments with an identity in the place of each tensor; one alone is itself."""
    if not args:
        raise ValueError("at least one argument required")
    aliases: Iterator[Any] = (
        tf.identity(each) if isinstance(each, tf.Tensor) else each for each in args
    )
    return aliases if len(args) > 1 else next(aliases)


def capitalize_initial(s: str) -> str:
    """Text with a capital as its first letter."""
    return s[:1].upper() + s[1:]


def get_range_len(start: Any, limit: Any, delta: Any) -> Any:
    """How many numbers a range has."""
    distance = tf.convert_to_tensor(limit - start)
    whole = distance // delta
    more = tf.cast(tf.not_equal(distance % delta, tf.zeros_like(whole)), distance.dtype)
    return tf.maximum(whole + more, tf.zeros_like(whole))


def control_dependency_on_returns(return_value: Any) -> AbstractContextManager[Any]:
    """A block whose nodes wait for what a function has returned."""
    if return_value is None:
        return nullcontext()
    values = return_value if isinstance(return_value, (list, tuple)) else (return_value,)
    waits = [each.flow if isinstance(each, tf.TensorArray) else each for each in values]
    block: AbstractContextManager[Any] = tf.control_dependencies(waits)
    return block


def dynamic_list_append(target: Any, element: Any) -> Any:
    """A list with one more element."""
    if isinstance(target, tf.TensorArray):
        return target.write(target.size(), element)
    if isinstance(target, tf.Tensor):
        return TensorListPushBack(target, element)
    target.append(element)
    return target


class TensorList:
    """A list of tensors of one type and shape, with the methods of Python's."""

    def __init__(self, shape: Any, dtype: Any):
        self.shape = shape
        self.dtype = dtype
        self.clear()

    def clear(self) -> None:
        self.list_ = list_functions.empty_tensor_list(self.shape, self.dtype)

    def append(self, value: Any) -> None:
        self.list_ = TensorListPushBack(self.list_, value)

    def pop(self) -> Any:
        self.list_, value = list_functions.tensor_list_pop_back(self.list_, self.dtype)
        return value

    def count(self) -> Any:
        return TensorListLength(self.list_)

    def __getitem__(self, key: Any) -> Any:
        return list_functions.tensor_list_get_item(self.list_, key, self.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.list_ = list_functions.tensor_list_set_item(self.list_, key, value)


def fake_tf() -> types.ModuleType:
    """A module with the names of this one, to be changed at will."""
    module = types.ModuleType("tensorflow")
    module.__dict__.update(vars(tf))
    return module
