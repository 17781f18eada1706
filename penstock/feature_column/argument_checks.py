"""What the functions that make feature columns demand of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes, nest
from penstock.dtypes import DType


def assert_key_is_string(key: Any) -> None:
    """ValueError unless the key of a feature is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def assert_string_or_int(dtype: DType, prefix: str) -> None:
    """ValueError unless a type is that of strings or of whole numbers."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def assert_convertible_to_float(dtype: DType, key: str) -> None:
    """ValueError unless a type is one of numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")


def assert_normalizer(normalizer_fn: Any) -> None:
    """TypeError unless a normalizer is None or can be called."""
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def checked_shape(shape: Any, key: str) -> tuple[int, ...]:
    """A shape as a tuple of positive sizes."""
    sizes = tuple(shape) if nest.is_sequence(shape) else (shape,)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {sizes}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {sizes}, key: {key}")
    return sizes


def check_default_value(shape: Sequence[int], default_value: Any, dtype: DType, key: str) -> Any:
    """The default of a feature as nested tuples of the feature's shape."""
    if default_value is None:
        return None
    if isinstance(default_value, int) or (isinstance(default_value, float) and dtype.is_floating):
        return _filled(shape, default_value)
    if callable(getattr(default_value, "tolist", None)):
        default_value = default_value.tolist()
    if nest.is_sequence(default_value):
        if not _has_shape(default_value, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {default_value}, shape: {shape}, key: {key}"
            )
        values = nest.flatten(default_value)
        whole = all(isinstance(value, int) for value in values)
        if whole or (dtype.is_floating and any(isinstance(value, float) for value in values)):
            return _as_tuples(default_value)
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {default_value}, dtype: {dtype}, key: {key}"
    )


def _filled(shape: Sequence[int], value: Any) -> Any:
    if not shape:
        return value
    return (_filled(shape[1:], value),) * shape[0]


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if nest.is_sequence(value) else value


def _has_shape(value: Any, shape: Sequence[int]) -> bool:
    if not nest.is_sequence(value):
        return not shape
    if not shape or len(value) != shape[0]:
        return False
    return all(_has_shape(part, shape[1:]) for part in value)
