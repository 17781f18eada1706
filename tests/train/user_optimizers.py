"""Optimizers as a user writes them: subclasses of `tf.train.Optimizer` in terms of graph ops."""

from __future__ import annotations

from typing import Any


def sign_descent(tf: Any, rate: float) -> Any:
    """var -= rate * sign(grad): one hook per kind of variable and gradient, no slots."""

    class SignDescent(tf.train.Optimizer):
        def __init__(self, rate: float, name: str = "SignDescent"):
            super().__init__(use_locking=False, name=name)
            self._rate = rate

        def _prepare(self) -> None:
            self._rate_tensor = tf.convert_to_tensor(self._rate, name="rate")

        def _delta(self, grad: Any, var: Any) -> Any:
            return tf.cast(self._rate_tensor, var.dtype.base_dtype) * tf.sign(grad)

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return tf.assign_sub(var, self._delta(grad, var)).op

        def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
            return var.assign_sub(self._delta(grad, var))

        def _apply_sparse(self, grad: Any, var: Any) -> Any:
            return tf.scatter_sub(var, grad.indices, self._delta(grad.values, var))

        def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
            return var.scatter_sub(tf.IndexedSlices(self._delta(grad, var), indices))

    return SignDescent(rate)


def layer_rates(tf: Any, rate: float, decay: float) -> Any:
    """Momentum with a rate per layer: slots, a variable of its own, work after the updates."""

    class LayerRates(tf.train.Optimizer):
        def __init__(self, rate: float, decay: float, name: str = "LayerRates"):
            super().__init__(use_locking=False, name=name)
            self._rate, self._decay = rate, decay

        def _create_slots(self, var_list: Any) -> None:
            first = min(var_list, key=lambda v: v.name)
            self._create_non_slot_variable(1.0, name="decay_power", colocate_with=first)
            for var in var_list:
                self._zeros_slot(var, "momentum", self._name)
                self._get_or_make_slot(var, tf.fill(var.shape.as_list(), 1.0), "ones", "Ones")

        def _power(self) -> Any:
            return self._get_non_slot_variable("decay_power", tf.get_default_graph())

        def _valid_dtypes(self) -> Any:
            return {tf.float32}

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            momentum = self.get_slot(var, "momentum")
            trust = tf.norm(var) / (tf.norm(grad) + 1e-3) * self._power()
            step = self._rate * trust * grad * self.get_slot(var, "ones")
            moved = momentum.assign(self._decay * momentum + step)
            return var.assign_sub(moved)

        _resource_apply_dense = _apply_dense

        def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
            return self._apply_dense(tf.convert_to_tensor(grad), var)

        def _resource_apply_sparse_duplicate_indices(
            self, grad: Any, var: Any, indices: Any
        ) -> Any:
            slices = tf.IndexedSlices(grad, indices, tf.shape(var))
            return self._apply_dense(tf.convert_to_tensor(slices), var)

        def _finish(self, update_ops: Any, name_scope: str) -> Any:
            with tf.control_dependencies(update_ops):
                decayed = self._power().assign(self._power() * self._decay)
            return tf.group(*update_ops, decayed, name=name_scope)

    return LayerRates(rate, decay)
