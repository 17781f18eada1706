"""Variants of Adam: lazy for sparse gradients, with Nesterov momentum, by the maximum norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.training import (
    ApplyAdam,
    ApplyAdaMax,
    ResourceApplyAdam,
    ResourceApplyAdaMax,
)
from penstock.train.adam import AdamOptimizer
from penstock.train.fused import apply, cast_for


def _scatter(function: Callable[..., Any], var: Any, indices: Any, rows: Any, locked: bool) -> Any:
    """An update of rows; only reference variables can be locked."""
    if isinstance(var, ResourceVariable):
        return function(var, indices, rows)
    return function(var, indices, rows, use_locking=locked)


class LazyAdamOptimizer(AdamOptimizer):
    """Adam that, for a sparse gradient, leaves the rows alone that the gradient lacks."""

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._lazily(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._lazily(grad, handle, indices)

    def _lazily(self, grad: Any, var: Any, indices: Any) -> Any:
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = self._adam_settings(var)
        rate = rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        rows = rate * m_rows / (tf.sqrt(v_rows) + epsilon)
        return tf.group(
            _scatter(tf.scatter_sub, var, indices, rows, self._use_locking),
            _scatter(tf.scatter_update, m, indices, m_rows, self._use_locking),
            _scatter(tf.scatter_update, v, indices, v_rows, self._use_locking),
        )


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov momentum (Dozat, 2016)."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._with_nesterov(ApplyAdam, grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._with_nesterov(ResourceApplyAdam, grad, handle)

    def _with_nesterov(self, op_type: Any, grad: Any, var: Any) -> Any:
        return apply(
            op_type,
            [var, self.get_slot(var, "m"), self.get_slot(var, "v")],
            [*self._adam_settings(var), grad],
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    def _apply_sparse_shared(
        self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]
    ) -> Any:
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = self._adam_settings(var)
        rate = rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows, v_rows = grad * (1 - beta1), (grad * grad) * (1 - beta2)
        with tf.control_dependencies([tf.assign(m, m * beta1, use_locking=self._use_locking)]):
            m_bar = m_rows + beta1 * tf.gather(scatter_add(m, indices, m_rows), indices)
        with tf.control_dependencies([tf.assign(v, v * beta2, use_locking=self._use_locking)]):
            v_value = scatter_add(v, indices, v_rows)
        root = tf.sqrt(tf.gather(v_value, indices))
        update = scatter_add(var, indices, -rate * m_bar / (root + epsilon))
        return tf.group(update, m_bar, v_value)


class AdaMaxOptimizer(AdamOptimizer):
    """Adam by the maximum of past gradients instead of their squares (Kingma and Ba, 2014)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", graph=tf.get_default_graph())

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda var: var.name)
        self._create_non_slot_variable(self._beta1, name="beta1_power", colocate_with=first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _settings(self, var: Any) -> list[Any]:
        return cast_for(
            var, self._power(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t
        )

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply_ada_max(ApplyAdaMax, grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_ada_max(ResourceApplyAdaMax, grad, handle)

    def _apply_ada_max(self, op_type: Any, grad: Any, var: Any) -> Any:
        state = [var, self.get_slot(var, "m"), self.get_slot(var, "v")]
        inputs = [*self._settings(var), grad]
        return apply(op_type, state, inputs, use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        power, rate, beta1, beta2, epsilon = self._settings(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = tf.gather(m, indices) * beta1 + grad * (1 - beta1)
        v_rows = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(grad))
        rows = -rate / (1 - power) * (m_rows / (v_rows + epsilon))
        return tf.group(
            _scatter(tf.scatter_add, var, indices, rows, self._use_locking),
            _scatter(tf.scatter_update, m, indices, m_rows, self._use_locking),
            _scatter(tf.scatter_update, v, indices, v_rows, self._use_locking),
        )

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with tf.control_dependencies(update_ops), tf.colocate_with(self._power()):
            power = self._power()
            update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, update, name=name_scope)
