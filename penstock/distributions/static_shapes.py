"""Shapes and values of tensors, known while building where they can be: for distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.ops.tensor_values import get_static_value as constant_value
from penstock.shapes import TensorShape, dimension_at_index, dimension_value


def maybe_get_static_value(x: Any, dtype: Any = None) -> Any:
    """A tensor's value as an array, or None if it is not known yet."""
    if x is None:
        return None
    value = constant_value(tf.convert_to_tensor(x))
    if value is None or dtype is None:
        return value
    return np.array(value, dtype)


def prefer_static_value(x: Any) -> Any:
    """A tensor's value if it is known, else the tensor."""
    value = constant_value(x)
    return x if value is None else value


def prefer_static_shape(x: Any) -> Any:
    """A tensor's shape as an array if it is known, else as a tensor."""
    return prefer_static_value(tf.shape(x))


def prefer_static_rank(x: Any) -> Any:
    """A tensor's rank if it is known, else as a tensor."""
    return prefer_static_value(tf.rank(x))


def dimension_size(x: Any, axis: int) -> Any:
    """A tensor's size along an axis: a number if it is known, else a tensor."""
    size = dimension_value(x.shape.with_rank_at_least(abs(axis))[axis])
    return tf.shape(x)[axis] if size is None else size


def same_dynamic_shape(a: Any, b: Any) -> Any:
    """Whether two tensors have the same shape, as a tensor."""
    a = tf.convert_to_tensor(a, name="a")
    b = tf.convert_to_tensor(b, name="b")
    return tf.cond(
        tf.equal(tf.rank(a), tf.rank(b)),
        lambda: tf.reduce_all(tf.equal(tf.shape(a), tf.shape(b))),
        lambda: tf.constant(False),
    )


def prefer_static_broadcast_shape(
    shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape"
) -> Any:
    """The shape that two shapes broadcast to: a TensorShape if both are known, else a tensor."""
    with tf.name_scope(name, values=[shape1, shape2]):
        known = [_known_shape(shape1), _known_shape(shape2)]
        if None not in known:
            return tf.broadcast_static_shape(*known)
        return tf.broadcast_dynamic_shape(_shape_tensor(shape1), _shape_tensor(shape2))


def _known_shape(shape: Any) -> TensorShape | None:
    if isinstance(shape, TensorShape):
        return shape
    value = constant_value(_shape_tensor(shape))
    return None if value is None else TensorShape(value)


def _shape_tensor(shape: Any) -> Any:
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError("Cannot broadcast from partially defined `TensorShape`.")
        shape = shape.as_list()
    return tf.convert_to_tensor(shape, name="shape", dtype=tf.int32)


def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """One of two vectors, which may have other lengths."""
    with tf.name_scope(name, values=[cond, true_vector, false_vector]):
        cond = tf.convert_to_tensor(cond, name="cond")
        if cond.dtype != tf.bool:
            raise TypeError(f"{cond}.dtype={cond.dtype} which is not {tf.bool}")
        known = constant_value(cond)
        if known is not None:
            return true_vector if known else false_vector
        yes = tf.convert_to_tensor(true_vector, name="true_vector")
        no = tf.convert_to_tensor(false_vector, name="false_vector")
        if yes.dtype != no.dtype:
            raise TypeError(f"{yes}.dtype={yes.dtype} does not match {no}.dtype={no.dtype}")
        length = tf.shape(yes)[0]
        begin, size = tf.where(cond, 0, length), tf.where(cond, length, -1)
        return tf.slice(tf.concat([yes, no], 0), [begin], [size])


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Any:
    """A tensor whose axes are moved to the right, and round."""
    with tf.name_scope(name, values=[x, shift]):
        x = tf.convert_to_tensor(x, name="x")
        shift = tf.convert_to_tensor(shift, name="shift")
        tf.assert_integer(shift)
        known, rank = constant_value(shift), x.shape.ndims
        if rank is not None and known is not None:
            if rank < 2 or known % rank == 0:
                return x
            return tf.transpose(x, np.roll(np.arange(rank), int(known) % rank))
        axes = tf.rank(x)
        return tf.transpose(x, tf.roll(tf.range(axes), tf.mod(shift, axes), axis=0))


def pad(
    x: Any,
    axis: Any,
    front: bool = False,
    back: bool = False,
    value: Any = 0,
    count: Any = 1,
    name: str | None = None,
) -> Any:
    """A tensor with `count` values put before or behind it along one axis."""
    with tf.name_scope(name, "pad", [x, value, count]):
        x = tf.convert_to_tensor(x, name="x")
        value = tf.convert_to_tensor(value, dtype=x.dtype, name="value")
        count = tf.convert_to_tensor(count, name="count")
        if not count.dtype.is_integer:
            raise TypeError(f"`count.dtype` (`{count.dtype.name}`) must be `int`-like.")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        rank = tf.rank(x, name="ndims") if x.shape.ndims is None else x.shape.ndims
        axis = tf.convert_to_tensor(axis, name="axis")
        known = constant_value(axis)
        place = known if known is not None else axis
        if known is None:
            place = tf.where(axis < 0, rank + axis, axis)
        elif known < 0:
            place = rank + known
        where = tf.stack([place if front else -1, place if back else -1])
        paddings = tf.one_hot(where, depth=rank, axis=0, on_value=count, dtype=tf.int32)
        padded = tf.pad(x, paddings, constant_values=value)
        if known is not None and (known >= 0 or x.shape.ndims is not None):
            padded.set_shape(_padded_shape(x.shape, int(place), count, front + back))
        return padded


def _padded_shape(shape: TensorShape, axis: int, count: Any, sides: int) -> TensorShape:
    added = constant_value(count)
    grown = None if added is None else dimension_at_index(shape, axis) + int(added) * sides
    middle = TensorShape([grown])
    return shape[:axis].concatenate(middle).concatenate(shape[axis + 1 :])
