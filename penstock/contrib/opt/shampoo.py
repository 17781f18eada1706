"""Shampoo: Adagrad with one preconditioner matrix for each axis of a variable (Gupta, 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.opt.matrix_functions import matrix_inverse_pth_root, matrix_square_root
from penstock.platform import logging
from penstock.train.optimizer import Optimizer


def GetParam(var: Any, timestep: Any) -> Any:  # TensorFlow's name
    """A setting at a step: it may be a function of the step."""
    return var(timestep) if callable(var) else var


class ShampooOptimizer(Optimizer):
    """Gradient descent along gradients that the roots of their second moments precondition.

    Settings from `gbar_decay` on may be numbers or functions of the step.

    Args:
      global_step: the number of steps so far.
      max_matrix_size: an axis that is longer has a diagonal preconditioner.
      gbar_decay, gbar_weight: the average of gradients is `decay * average + weight * gradient`.
      mat_gbar_decay, mat_gbar_weight: the same for the products of gradients along an axis.
      svd_interval: every how many steps the matrices' roots are computed.
      precond_update_interval: every how many steps the matrices are updated.
      epsilon: what is added to the matrices' diagonals.
      alpha: the power of all preconditioners together.
      use_iterative_root: takes roots by matrix products, not by an SVD.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: Any = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ):
        super().__init__(use_locking, name)
        self._global_step = tf.cast(global_step, tf.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay = gbar_decay
        self._gbar_weight = gbar_weight
        self._mat_gbar_decay = mat_gbar_decay
        self._mat_gbar_weight = mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            with tf.colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for axis, size in enumerate(var.get_shape().as_list()):
                    self._create_axis_slots(var, axis, size)

    def _create_axis_slots(self, var: Any, axis: int, size: int) -> None:
        length = tf.convert_to_tensor(size)
        if size > self._max_matrix_size:
            first = tf.zeros([length])
        else:
            first = tf.zeros_like(tf.eye(length))
            if self._keeps_roots():
                self._get_or_make_slot(var, tf.eye(length), f"H_{axis}", self._name)
        self._get_or_make_slot(var, first, f"Gbar_{axis}", self._name)

    def _keeps_roots(self) -> bool:
        return callable(self._svd_interval) or self._svd_interval > 1

    # The four kinds of gradients ------------------------------------------------------------------

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_rows(grad, indices, handle)

    def _apply_rows(self, rows: Any, indices: Any, var: Any) -> Any:
        is_small = var.get_shape().as_list()[0] <= self._max_matrix_size
        if not is_small and self._gbar_decay == 0.0:
            return self._apply_gradient(rows, var, indices)
        shape = tf.shape(var, out_type=indices.dtype)
        return self._apply_gradient(tf.scatter_nd(tf.expand_dims(indices, 1), rows, shape), var)

    # The update -----------------------------------------------------------------------------------

    def _apply_gradient(self, grad: Any, var: Any, indices: Any = None) -> Any:
        """Updates a variable; with `indices`, the gradient has some of its rows only."""
        step = self._global_step + 1
        direction = self._averaged(grad, var, indices, step)
        for axis, size in enumerate(var.get_shape().as_list()):
            if size <= self._max_matrix_size:
                root = self._matrix_root(grad, var, axis, size, step)
                # The first axis goes, the root's second is put last: after all axes, the order is
                # the old one.
                direction = tf.tensordot(direction, root, axes=([0], [0]), name=f"precond_{axis}")
            else:
                rank = len(var.get_shape())
                turned = tf.transpose(direction, perm=[*range(1, rank), 0])
                direction = turned * self._diagonal_root(grad, var, axis, size, step, indices)
        change = GetParam(self._learning_rate, step) * direction
        if indices is None:
            return tf.assign_sub(var, change)
        return tf.scatter_add(var, indices, -change)

    def _averaged(self, grad: Any, var: Any, indices: Any, step: Any) -> Any:
        if indices is None:
            weighted = GetParam(self._gbar_weight, step) * grad
            return self._weighted_average(
                self.get_slot(var, "gbar"), self._gbar_decay, step, weighted
            )
        if self._gbar_decay != 0.0:
            logging.warning("Not applying momentum for variable: %s", var.name)
        return grad

    def _weighted_average(self, slot: Any, decay: Any, step: Any, addend: Any) -> Any:
        if decay == 0.0:
            return addend  # the slot would never be read
        if decay == 1.0:
            return tf.assign_add(slot, addend)
        return slot.assign_add((GetParam(decay, step) - 1) * slot + addend)

    def _exponent(self, var: Any, step: Any) -> Any:
        return -GetParam(self._alpha, step) / len(var.get_shape())

    def _matrix_root(self, grad: Any, var: Any, axis: int, size: int, step: Any) -> Any:
        """The preconditioner of a short axis: a power of the products along it."""
        interval = GetParam(self._precond_update_interval, step)
        moments = self.get_slot(var, f"Gbar_{axis}")
        others = [each for each in range(len(var.get_shape())) if each != axis]

        def updated() -> Any:
            products = tf.tensordot(grad, grad, axes=(others, others), name=f"grad_outer_{axis}")
            weight = GetParam(self._mat_gbar_weight, step) * interval
            return self._weighted_average(moments, self._mat_gbar_decay, step, weight * products)

        current = tf.cond(tf.mod(step, interval) < 1, updated, lambda: tf.identity(moments))
        scaled = current / float(size)
        exponent = self._exponent(var, step)
        if not self._keeps_roots():
            return self._power(scaled, size, exponent)
        kept = self.get_slot(var, f"H_{axis}")
        return tf.cond(
            tf.mod(step, GetParam(self._svd_interval, step)) < 1,
            lambda: tf.identity(tf.assign(kept, self._power(scaled, size, exponent))),
            lambda: tf.identity(kept),
        )

    def _diagonal_root(
        self, grad: Any, var: Any, axis: int, size: int, step: Any, indices: Any
    ) -> Any:
        """The preconditioner of a long axis: a power of the sums of squares along it."""
        others = [each for each in range(len(var.get_shape())) if each != axis]
        squares = grad * grad
        if others:
            normalizer = 1.0 if indices is not None else float(size)
            squares = tf.reduce_sum(squares, axis=others) / normalizer
        moments = self.get_slot(var, f"Gbar_{axis}")
        weighted = GetParam(self._mat_gbar_weight, step) * squares
        if axis == 0 and indices is not None:
            assert self._mat_gbar_decay == 1.0
            current = tf.gather(tf.scatter_add(moments, indices, weighted), indices)
        else:
            current = self._weighted_average(moments, self._mat_gbar_decay, step, weighted)
        power = tf.pow(current, self._exponent(var, step))
        return tf.where(tf.greater(current, 0), power, tf.zeros_like(current))

    def _power(self, matrix: Any, size: int, exponent: Any) -> Any:
        with tf.name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_square_root(matrix, size, 100, self._epsilon)
                return matrix_inverse_pth_root(root, size, 2 * exponent, ridge_epsilon=0.0)
            if size == 1:
                return tf.pow(matrix + self._epsilon, exponent)
            damped = matrix + self._epsilon * tf.eye(size)
            values, left, right = tf.svd(damped, full_matrices=True)
            powers = tf.pow(tf.maximum(values, self._epsilon), exponent)
            return tf.matmul(right * powers, tf.transpose(left))
