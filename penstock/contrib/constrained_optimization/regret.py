"""Optimizers under constraints: Lagrange multipliers, and multipliers that minimize swap regret."""

from __future__ import annotations

import abc
import math
from typing import Any

import penstock as tf
from penstock.contrib.constrained_optimization.problems import TwoPlayerOptimizer


def _check_floating(tensor: Any) -> None:
    if not tensor.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")


def _projected(values: Any, scale_of: Any, size: int) -> Any:
    """Projects onto a simplex: moves what is positive, cuts at zero, until nothing more is cut.

    Args:
      scale_of: what is added to each value, from the values and those that are not at zero.
    """

    def step(i: Any, now: Any, positive: Any, _: Any) -> Any:
        moved = now + scale_of(now, positive) * positive
        still = tf.cast(moved > 0, now.dtype)
        return i + 1, moved * still, still, positive

    def changes(i: Any, _: Any, positive: Any, before: Any) -> Any:
        return tf.logical_and(i < size, tf.reduce_any(tf.not_equal(positive, before)))

    ones = tf.ones_like(values, dtype=values.dtype)
    first = step(tf.constant(0), values, ones, ones)
    return tf.while_loop(changes, step, loop_vars=first, name="euclidean_projection")[1]


def _project_multipliers_wrt_euclidean_norm(multipliers: Any, radius: float) -> Any:
    """The nearest nonnegative multipliers whose sum is at most `radius`."""
    _check_floating(multipliers)
    shape = multipliers.get_shape()
    if shape.ndims is None:
        raise ValueError("multipliers must have known shape")
    if shape.ndims != 1:
        raise ValueError(
            f"multipliers must be one dimensional (instead is {shape.ndims}-dimensional)"
        )
    size = shape.as_list()[0]
    if size is None:
        raise ValueError("multipliers must have fully-known shape")

    def scale(now: Any, positive: Any) -> Any:
        count = tf.maximum(1.0, tf.reduce_sum(positive))
        return tf.minimum(0.0, (radius - tf.reduce_sum(now)) / count)

    return _projected(multipliers, scale, size)


def _project_stochastic_matrix_wrt_euclidean_norm(matrix: Any) -> Any:
    """The nearest matrix whose columns are distributions."""
    _check_floating(matrix)
    shape = matrix.get_shape()
    if shape.ndims is None:
        raise ValueError("matrix must have known shape")
    if shape.ndims != 2:
        raise ValueError(f"matrix must be two dimensional (instead is {shape.ndims}-dimensional)")
    rows, columns = shape.as_list()
    if None not in (rows, columns) and rows != columns:
        raise ValueError(f"matrix must be square (instead has shape ({rows},{columns}))")
    if None in (rows, columns):
        raise ValueError("matrix must have fully-known shape")

    def scale(now: Any, positive: Any) -> Any:
        count = tf.maximum(1.0, tf.reduce_sum(positive, axis=0, keepdims=True))
        return (1.0 - tf.reduce_sum(now, axis=0, keepdims=True)) / count

    return _projected(matrix, scale, rows)


def _project_log_stochastic_matrix_wrt_kl_divergence(log_matrix: Any) -> Any:
    """The logarithms of a matrix whose columns are scaled to distributions."""
    shifted = log_matrix - tf.reduce_max(log_matrix, axis=0, keepdims=True)
    return shifted - tf.log(tf.reduce_sum(tf.exp(shifted), axis=0, keepdims=True))


def _maximal_eigenvector_power_method(
    matrix: Any, epsilon: float = 1e-6, maximum_iterations: int = 100
) -> Any:
    """The eigenvector of the largest eigenvalue, by repeated multiplication."""
    _check_floating(matrix)
    if epsilon <= 0.0:
        raise ValueError("epsilon must be strictly positive")
    if maximum_iterations <= 0:
        raise ValueError("maximum_iterations must be strictly positive")

    def step(i: Any, vector: Any, _: Any) -> Any:
        product = tf.matmul(matrix, tf.expand_dims(vector, 1))[:, 0]
        return i + 1, product / tf.norm(product), vector

    def moves(i: Any, vector: Any, before: Any) -> Any:
        return tf.logical_and(i < maximum_iterations, tf.norm(vector - before) > epsilon)

    ones = tf.ones_like(matrix[:, 0])
    start = ones / tf.norm(ones)
    first = step(tf.constant(0), start, start)
    return tf.while_loop(moves, step, loop_vars=first, name="power_method")[1]


class _ExternalRegretOptimizer(TwoPlayerOptimizer):
    """Minimizes the Lagrangian, whose multipliers ascend by their constraints."""

    _state_name = "external_regret_optimizer_state"

    @abc.abstractmethod
    def _lagrange_multipliers(self, state: Any) -> Any:
        """The multipliers that a state stands for."""

    def _loss_and_gradient(
        self, state: Any, objective: Any, constraints: Any, proxies: Any
    ) -> tuple[Any, Any]:
        multipliers = self._lagrange_multipliers(state)
        loss = objective + tf.tensordot(tf.cast(multipliers, proxies.dtype), proxies, 1)
        return loss, tf.cast(constraints, multipliers.dtype)


class AdditiveExternalRegretOptimizer(_ExternalRegretOptimizer):
    """Minimizes the Lagrangian; multipliers are projected after additive updates.

    Args:
      maximum_multiplier_radius: the most that multipliers may sum up to, or None.
    """

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        maximum_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        return tf.zeros((num_constraints,), dtype=tf.float32)

    def _lagrange_multipliers(self, state: Any) -> Any:
        return state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        radius = self._maximum_multiplier_radius
        with tf.colocate_with(state):
            if radius:
                return tf.assign(
                    state, _project_multipliers_wrt_euclidean_norm(state, radius), name=name
                )
            return tf.assign(state, tf.maximum(state, 0.0), name=name)


class _SwapRegretOptimizer(TwoPlayerOptimizer):
    """Weighs objective and constraints by the stationary distribution of a stochastic matrix."""

    _state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any:
        """The matrix that a state stands for."""

    def _distribution(self, state: Any) -> Any:
        vector = tf.abs(_maximal_eigenvector_power_method(self._stochastic_matrix(state)))
        return vector / tf.reduce_sum(vector)

    def _loss_and_gradient(
        self, state: Any, objective: Any, constraints: Any, proxies: Any
    ) -> tuple[Any, Any]:
        # The objective itself is no constraint: its gain is zero.
        gains = tf.concat((tf.zeros((1,), dtype=constraints.dtype), constraints), axis=0)
        losses = tf.concat((tf.expand_dims(objective, 0), proxies), axis=0)
        weights = self._distribution(state)
        loss = tf.tensordot(tf.cast(weights, losses.dtype), losses, 1)
        column = tf.expand_dims(tf.cast(gains, weights.dtype), 1)
        return loss, tf.matmul(column, tf.expand_dims(weights, 0))


class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """Swap-regret updates of a stochastic matrix, which is projected after additive updates."""

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        return tf.concat((tf.ones((1, size)), tf.zeros((size - 1, size))), axis=0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with tf.colocate_with(state):
            projected = _project_stochastic_matrix_wrt_euclidean_norm(state)
            return tf.assign(state, projected, name=name)


class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """Swap-regret updates of the logarithms of a stochastic matrix.

    Args:
      minimum_multiplier_radius: the least weight of all constraints together.
      initial_multiplier_radius: what they begin with, by default that least weight.
    """

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        if not minimum_multiplier_radius <= initial_multiplier_radius <= 1.0:
            raise ValueError(
                "initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]"
            )
        self._minimum_multiplier_radius = minimum_multiplier_radius
        self._initial_multiplier_radius = initial_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        size, radius = num_constraints + 1, self._initial_multiplier_radius
        first = math.log(1.0 - radius * (size - 1) / size)
        rest = math.log(radius / size)
        rows = [
            tf.constant(first, dtype=tf.float32, shape=(1, size)),
            tf.constant(rest, dtype=tf.float32, shape=(size - 1, size)),
        ]
        return tf.concat(rows, axis=0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return tf.exp(state)

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with tf.colocate_with(state):
            size = state.get_shape().as_list()[0]
            least = tf.log(self._minimum_multiplier_radius / tf.to_float(size))
            projected = _project_log_stochastic_matrix_wrt_kl_divergence(state)
            return tf.assign(state, tf.maximum(projected, least), name=name)
