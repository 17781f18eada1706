"""Arithmetic of row splits, on plain tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.internal_paths.array_functions import (
    convert_to_int_tensor,
    get_positive_axis,
    repeat_with_axis,
)
from penstock.ops.ragged import RaggedRange

__all__ = [
    "assert_splits_match",
    "convert_to_int_tensor",
    "get_positive_axis",
    "lengths_to_splits",
    "repeat",
    "repeat_ranges",
]

repeat = repeat_with_axis


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Operations that fail where the row splits of several ragged tensors differ."""
    message = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(message)
    return [
        tf.assert_equal(a, b, message=message)
        for splits in others
        for a, b in zip(first, splits, strict=True)
    ]


def lengths_to_splits(lengths: Any) -> Any:
    """Where rows of these lengths begin and end."""
    return tf.concat([tf.constant([0], lengths.dtype), tf.cumsum(lengths)], axis=-1)


def repeat_ranges(params: Any, splits: Any, repeats: Any) -> Any:
    """The rows of `params` that `splits` bound, each repeated as a whole.

    >>> repeat_ranges(["a", "b", "c"], splits=[0, 2, 3], repeats=2)  # a b a b c c
    """
    if repeats.shape.ndims == 0:
        copies = repeat(splits, repeats, axis=0)
        count = tf.shape(copies, out_type=repeats.dtype)[0]
        starts, limits = copies[: count - repeats], copies[repeats:]
    else:
        starts, limits = (repeat(each, repeats, axis=0) for each in (splits[:-1], splits[1:]))
    _, offsets = RaggedRange(starts, limits, tf.ones((), starts.dtype))
    return tf.gather(params, offsets)
