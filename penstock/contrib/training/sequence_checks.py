"""What sequences that are cut into segments must be like, checked when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.ir.constants import constant_value


def _after(condition: Any, message: list[Any], value: tf.Tensor, name: str) -> Any:
    """The tensor, after an assertion has held."""
    with tf.control_dependencies([tf.Assert(condition, [tf.string_join(message)])]):
        return tf.identity(value, name=name)


def multiple_of(value: tf.Tensor, number: Any) -> Any:
    """The length, which must be a multiple of a number and not 0."""
    fits = tf.logical_and(tf.equal(tf.mod(value, number), 0), tf.not_equal(value, 0))
    message = [
        f"Tensor {value.name} should be a multiple of: ",
        tf.as_string(number),
        ", but saw value: ",
        tf.as_string(value),
        ". Consider setting pad=True.",
    ]
    return _after(fits, message, value, "multiple_of_checked")


def rank_is(value: tf.Tensor, rank: Any) -> Any:
    """The tensor, which must have a rank."""
    condition = tf.equal(rank, tf.rank(value))
    message = [
        f"Rank of tensor {value.name} should be: ",
        tf.as_string(rank),
        ", shape received:",
    ]
    told = [tf.string_join(message), tf.shape(value)]
    with tf.control_dependencies([tf.Assert(condition, told)]):
        checked = tf.identity(value, name="rank_checked")
    known = constant_value(rank) if isinstance(rank, tf.Tensor) else rank
    if known is not None:
        try:
            checked.set_shape(checked.shape.with_rank(int(known)))
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from None
    return checked


def shape_is(value: tf.Tensor, shape: Any) -> Any:
    """The tensor, which must have a shape."""
    known = constant_value(shape)
    checked = rank_is(value, tf.size(shape) if known is None else len(known))
    message = [
        f"Shape of tensor {checked.name} should be: ",
        tf.reduce_join(tf.as_string(shape), 0, separator=" "),
        ", shape received: ",
        tf.reduce_join(tf.as_string(tf.shape(checked)), 0, separator=" "),
    ]
    fits = tf.reduce_all(tf.equal(shape, tf.shape(checked)))
    result = _after(fits, message, checked, "shape_checked")
    if known is not None:
        try:
            result.set_shape(result.shape.merge_with([int(size) for size in known]))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {checked.name}: {error}") from None
    return result


def dimensions_are(value: Any, dimensions: Sequence[int], sizes: Sequence[Any], label: str) -> Any:
    """The tensor, of which some dimensions must have the given sizes."""
    if not isinstance(dimensions, (list, tuple)):
        raise TypeError("dimensions must be a list or tuple")
    if len(set(dimensions)) != len(dimensions):
        raise ValueError(f"dimensions are not unique: {dimensions}")
    if not isinstance(value, tf.Tensor):
        raise TypeError(f"value is not a Tensor: {value}")
    if len(dimensions) != len(sizes):
        raise ValueError(
            f"len(dimensions) != len(expected_sizes): {len(dimensions)} vs. {len(sizes)}"
        )
    _set_dimensions(value, dimensions, sizes, label)
    checks = [
        tf.Assert(
            tf.equal(size, tf.shape(value)[dimension]),
            [
                tf.string_join(
                    [
                        f"Dimension {dimension} of tensor labeled {label} should be: ",
                        tf.as_string(size),
                        ", shape received: ",
                        tf.reduce_join(tf.as_string(tf.shape(value)), 0, separator=" "),
                    ]
                )
            ],
        )
        for dimension, size in zip(dimensions, sizes, strict=True)
    ]
    with tf.control_dependencies(checks):
        return tf.identity(value, name=f"dims_checked_{label}")


def _set_dimensions(
    value: Any, dimensions: Sequence[int], sizes: Sequence[Any], label: str
) -> None:
    rank = value.shape.ndims
    if rank is None:
        return
    if rank <= max(dimensions):
        raise ValueError(
            f"{label}: rank of input is not greater than max(dimensions): {rank} vs. "
            f"{max(dimensions)}"
        )
    wanted = value.shape.as_list()
    for dimension, size in zip(dimensions, sizes, strict=True):
        if not isinstance(size, tf.Tensor):
            wanted[dimension] = size
    try:
        value.set_shape(value.shape.merge_with(wanted))
    except ValueError as error:
        raise ValueError(f"Dimensions check failed for {label}: {error}") from None
