"""Polyharmonic splines: functions through given values at given points, as smooth as can be."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.tensor import Tensor
from penstock.shapes import dimension_value

__all__ = ["interpolate_spline"]

_EPSILON = 1e-10  # where logarithms and roots of distances are cut off


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """The values at points of the spline that takes given values at other points.

    Args:
      train_points: `[batch, n, d]`, with d known.
      train_values: `[batch, n, k]`, with k known.
      query_points: `[batch, m, d]`.
      order: of the spline; 1 is linear, 2 a thin plate.
      regularization_weight: how far it may miss the values to be smoother.
    """
    with tf.name_scope(name):
        points, values = tf.convert_to_tensor(train_points), tf.convert_to_tensor(train_values)
        queries = tf.convert_to_tensor(query_points)
        with tf.name_scope("solve"):
            radial, linear = _coefficients(points, values, order, regularization_weight)
        with tf.name_scope("predict"):
            basis = _phi(_squared_distances(queries, points), order)
            found: Tensor = tf.matmul(basis, radial) + tf.matmul(_with_ones(queries), linear)
            return found


def _coefficients(
    points: Tensor, values: Tensor, order: int, regularization: float
) -> tuple[Tensor, Tensor]:
    """The factors of the radial functions around the points, and of a linear function."""
    for tensor, what in ((points, "input points (d)"), (values, "output values (k)")):
        if dimension_value(tensor.shape[-1]) is None:
            raise ValueError(f"The dimensionality of the {what} must be statically-inferrable.")
    sizes = tf.shape(points)
    batch, number = sizes[0], sizes[1]
    with tf.name_scope("construct_linear_system"):
        radial = _phi(_squared_distances(points, points), order)
        if regularization > 0:
            radial += regularization * tf.eye(number, dtype=points.dtype)
        linear = _with_ones(points)
        width = dimension_value(linear.shape[2])
        zeros = tf.zeros([batch, width, width], points.dtype)
        above = tf.concat([radial, linear], 2)
        below = tf.concat([tf.matrix_transpose(linear), zeros], 2)
        wanted = tf.concat([values, tf.zeros([batch, width, values.shape[-1]], points.dtype)], 1)
    with tf.name_scope("solve_linear_system"):
        solved = tf.matrix_solve(tf.concat([above, below], 1), wanted)
        return solved[:, :number], solved[:, number:]


def _with_ones(points: Tensor) -> Tensor:
    joined: Tensor = tf.concat([points, tf.ones_like(points[..., :1])], 2)
    return joined


def _squared_distances(x: Tensor, y: Tensor) -> Tensor:
    of_x = tf.expand_dims(tf.reduce_sum(tf.square(x), 2), 2)
    of_y = tf.expand_dims(tf.reduce_sum(tf.square(y), 2), 1)
    found: Tensor = of_x - 2 * tf.matmul(x, y, adjoint_b=True) + of_y
    return found


def _phi(squared: Tensor, order: int) -> Tensor:
    """The radial function of an order, of squared distances."""
    with tf.name_scope("phi"):
        at_least = tf.maximum(squared, _EPSILON)
        if order == 1:
            return tf.sqrt(at_least)
        if order % 2:
            return tf.pow(at_least, 0.5 * order)
        # Where whole powers are exact, the distance itself is their base.
        if order in (2, 4):
            power = squared if order == 2 else tf.square(squared)
        else:
            power = tf.pow(at_least, 0.5 * order)
        found: Tensor = 0.5 * power * tf.log(at_least)
        return found
