"""The list of functions that take ragged tensors, as a page of documentation has it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import penstock as tf
from penstock.dtypes import DType
from penstock.ragged import dispatchers

#: Where a function's full name is looked for, in this order; "" is `tf` itself.
_NAMESPACES = ("bitwise", "strings", "io", "math", "debugging", "")
#: Functions with another full name than the first that would be found.
_FULL_NAMES = {
    "cast": "cast",
    "floormod": "math.floormod",
    "reduce_all": "reduce_all",
    "where": "where",
    "complex": "dtypes.complex",
    "saturate_cast": "dtypes.saturate_cast",
}
_NOT_IN_VERSION_2 = ("batch_gather", "where")
_HEADING = (
    "\n\n### Additional ops that support `RaggedTensor`\n\n"
    "Arguments that accept `RaggedTensor`s are marked in **bold**.\n\n"
)


def ragged_op_list(tf_version: int = 1) -> str:
    """The functions that take ragged tensors, one line each, in Markdown."""
    lines = [
        f"* `tf.{name}`({_arguments(function, ragged)})"
        for name, function, ragged in _named_functions()
        if tf_version == 1 or name not in _NOT_IN_VERSION_2
    ]
    return _HEADING + "\n".join(sorted(lines)) + "n"  # TensorFlow's list ends so, too


def _named_functions() -> Iterator[tuple[str, Callable[..., Any], list[str]]]:
    for function in dispatchers.ELEMENTWISE + dispatchers.LISTS:
        yield _full_name(function), function, _parameters(function)[:1]
    for function in dispatchers.PAIRS:
        yield _full_name(function), function, _parameters(function)[:2]
    for function, _, names in dispatchers.REPLACED:
        yield _full_name(function), function, [name.strip("[]") for name in names]


def _parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _full_name(function: Callable[..., Any]) -> str:
    for name, full_name in _FULL_NAMES.items():
        if getattr(tf, name) is function:
            return full_name
    for namespace in _NAMESPACES:
        module = getattr(tf, namespace) if namespace else tf
        # Not by `dir`: other names than those that are there already may import whole libraries.
        names = [name for name, value in vars(module).items() if value is function]
        if names:
            name = min(names, key=len)
            return f"{namespace}.{name}" if namespace else name
    return function.__name__


def _arguments(function: Callable[..., Any], ragged: list[str]) -> str:
    shown = []
    for name, parameter in inspect.signature(function).parameters.items():
        text = f"**{name}**" if name in ragged else name
        if parameter.default is not parameter.empty:
            default = parameter.default
            value = f"tf.{default.name}" if isinstance(default, DType) else repr(default)
            text += f"=`{value}`"
        shown.append(text)
    return ", ".join(shown)
