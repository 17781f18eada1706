"""What `keras.utils.generic_utils` has for lists, dictionaries, and arguments of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any

from penstock import nest
from penstock.keras.engine.training_data import batches as make_batches

__all__ = [
    "check_for_unexpected_keys",
    "has_arg",
    "is_all_none",
    "make_batches",
    "object_list_uid",
    "slice_arrays",
    "to_list",
    "validate_kwargs",
]


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether a function can be called with an argument of that name.

    Args:
      accept_all: the answer for functions that take any keyword.
    """
    arguments = inspect.getfullargspec(fn)
    return (accept_all and arguments.varkw is not None) or name in arguments.args


def slice_arrays(arrays: Any, start: Any = None, stop: Any = None) -> Any:
    """Rows of an array, or of each array of a list.

    Args:
      start: the first row, or the indices of all.
    """
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError("The stop argument has to be None if the value of start is a list.")
    index = start.tolist() if hasattr(start, "shape") else start
    rows = index if hasattr(index, "__len__") else slice(index, stop)
    if isinstance(arrays, list):
        return [each[rows] if hasattr(each, "__getitem__") else None for each in arrays]
    return arrays[rows] if hasattr(index, "__getitem__") else [None]


def to_list(x: Any) -> list[Any]:
    """A list as it is, anything else as the only entry of one."""
    return x if isinstance(x, list) else [x]


def object_list_uid(object_list: Any) -> str:
    """A text that tells which objects a structure has."""
    return ", ".join(str(abs(id(each))) for each in nest.flatten(object_list))


def is_all_none(structure: Any) -> bool:
    return all(leaf is None for leaf in nest.flatten(structure))


def check_for_unexpected_keys(
    name: str, input_dict: Mapping[str, Any], expected_values: Container[str]
) -> None:
    """Refuses a dictionary with other keys than the expected ones."""
    unknown = [key for key in input_dict if key not in expected_values]
    if unknown:
        raise ValueError(
            f"Unknown entries in {name} dictionary: {unknown}. Only expected following keys: "
            f"{expected_values}"
        )


def validate_kwargs(
    kwargs: Mapping[str, Any],
    allowed_kwargs: Container[str],
    error_message: str = "Keyword argument not understood:",
) -> None:
    """Refuses keyword arguments other than the allowed ones."""
    for name in kwargs:
        if name not in allowed_kwargs:
            raise TypeError(error_message, name)
