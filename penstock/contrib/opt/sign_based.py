"""AddSign and PowerSign (Bello et al., 2017): steps depend on agreement with past gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.ops.training import (
    ApplyAddSign,
    ApplyPowerSign,
    ResourceApplyAddSign,
    ResourceApplyPowerSign,
)
from penstock.train.fused import apply, cast_for
from penstock.train.optimizer import Optimizer, hyperparameter


class _SignOptimizer(Optimizer):
    """What both share: a slot of the mean gradient, and a weight of the sign that may decay."""

    _dense: Any
    _resource_dense: Any
    _factor_name: str

    def __init__(
        self,
        learning_rate: Any,
        factor: Any,
        beta: Any,
        sign_decay_fn: Callable[[Any], Any] | None,
        use_locking: bool,
        name: str,
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._factor = factor
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn
        self._lr_t: Any = None
        self._factor_t: Any = None
        self._beta_t: Any = None
        self._sign_decay_t: Any = None

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An operation that updates variables."""
        if self._sign_decay_fn is not None:
            self._sign_decay_t = hyperparameter(self._sign_decay_fn(global_step), "sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = hyperparameter(self._lr, "learning_rate")
        self._beta_t = hyperparameter(self._beta, "beta")
        self._factor_t = hyperparameter(self._factor, self._factor_name)
        if self._sign_decay_fn is None:
            self._sign_decay_t = hyperparameter(1.0, "sign_decay")

    def _settings(self, var: Any) -> list[Any]:
        return cast_for(var, self._lr_t, self._factor_t, self._sign_decay_t, self._beta_t)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._fused(self._dense, grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._fused(self._resource_dense, grad, handle)

    def _fused(self, op_type: Any, grad: Any, var: Any) -> Any:
        state, inputs = [var, self.get_slot(var, "m")], [*self._settings(var), grad]
        return apply(op_type, state, inputs, use_locking=self._use_locking)

    def _multiplier(self, factor: Any, sign_decay: Any, agreement: Any) -> Any:
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        rate, factor, sign_decay, beta = self._settings(var)
        m = self.get_slot(var, "m")
        dense = tf.convert_to_tensor(grad)
        mean = tf.assign(m, m * beta + dense * (1 - beta), use_locking=self._use_locking)
        agreement = tf.gather(tf.sign(mean), grad.indices) * tf.sign(grad.values)
        rows = rate * self._multiplier(factor, sign_decay, agreement) * grad.values
        return tf.group(tf.scatter_sub(var, grad.indices, rows), mean)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        shape = tf.shape(handle, out_type=indices.dtype)
        return self._apply_sparse(tf.IndexedSlices(grad, indices, shape), handle)


class PowerSignOptimizer(_SignOptimizer):
    """Multiplies gradients by `base` to the power of their agreement with the mean gradient.

    Args:
      sign_decay_fn: weight of the agreement by the global step; see `get_linear_decay_fn`.
    """

    _dense = ApplyPowerSign
    _resource_dense = ResourceApplyPowerSign
    _factor_name = "logbase"

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ):
        super().__init__(learning_rate, math.log(base), beta, sign_decay_fn, use_locking, name)

    def _multiplier(self, factor: Any, sign_decay: Any, agreement: Any) -> Any:
        return tf.exp(factor * sign_decay * agreement)


class AddSignOptimizer(_SignOptimizer):
    """Multiplies gradients by `alpha` plus their agreement with the mean gradient.

    Args:
      sign_decay_fn: weight of the agreement by the global step; see `get_linear_decay_fn`.
    """

    _dense = ApplyAddSign
    _resource_dense = ResourceApplyAddSign
    _factor_name = "alpha"

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: float = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ):
        super().__init__(learning_rate, alpha, beta, sign_decay_fn, use_locking, name)

    def _multiplier(self, factor: Any, sign_decay: Any, agreement: Any) -> Any:
        return factor + sign_decay * agreement
