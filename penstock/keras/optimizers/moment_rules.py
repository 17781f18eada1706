"""The optimizers that scale by moments of the gradient: Adam and its kin."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.optimizers.base import OptimizerV2, operation_of

__all__ = ["Adam", "Adamax", "Nadam"]

_ops = tf.raw_ops


class Adam(OptimizerV2):
    """Steps from moving averages of the gradients and of their squares."""

    _HYPERS = ("learning_rate", "decay", "beta_1", "beta_2")
    _CONFIG = ("epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or K.epsilon()
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot in ("m", "v", "vhat") if self.amsgrad else ("m", "v"):
            for variable in var_list:
                self.add_slot(variable, slot)

    def set_weights(self, weights: Any) -> None:
        # Old Keras kept a third slot per variable, used or not.
        count = (len(self.weights) - 1) // 2
        if len(weights) == 3 * count + 1:
            weights = weights[: len(self.weights)]
        super().set_weights(weights)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        step = tf.cast(self.iterations + 1, var_dtype)
        beta_1 = tf.identity(self._get_hyper("beta_1", var_dtype))
        beta_2 = tf.identity(self._get_hyper("beta_2", var_dtype))
        power_1, power_2 = tf.pow(beta_1, step), tf.pow(beta_2, step)
        known.update(
            lr=known["lr_t"] * (tf.sqrt(1 - power_2) / (1 - power_1)),
            epsilon=tf.convert_to_tensor(self.epsilon, var_dtype),
            beta_1_t=beta_1,
            beta_1_power=power_1,
            one_minus_beta_1_t=1 - beta_1,
            beta_2_t=beta_2,
            beta_2_power=power_2,
            one_minus_beta_2_t=1 - beta_2,
        )

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        arguments = {
            "var": var.handle,
            "m": self.get_slot(var, "m").handle,
            "v": self.get_slot(var, "v").handle,
            "beta1_power": known["beta_1_power"],
            "beta2_power": known["beta_2_power"],
            "lr": known["lr_t"],
            "beta1": known["beta_1_t"],
            "beta2": known["beta_2_t"],
            "epsilon": known["epsilon"],
            "grad": grad,
            "use_locking": self._use_locking,
        }
        if self.amsgrad:
            arguments["vhat"] = self.get_slot(var, "vhat").handle
            return _ops.ResourceApplyAdamWithAmsgrad(**arguments)
        return _ops.ResourceApplyAdam(**arguments)

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        mean = self._decayed_rows(
            self.get_slot(var, "m"),
            known["beta_1_t"],
            indices,
            grad * known["one_minus_beta_1_t"],
        )
        squares = self._decayed_rows(
            self.get_slot(var, "v"),
            known["beta_2_t"],
            indices,
            grad * grad * known["one_minus_beta_2_t"],
        )
        largest = squares
        if self.amsgrad:
            largest_slot = self.get_slot(var, "vhat")
            largest = largest_slot.assign(tf.maximum(largest_slot, squares))
        change = known["lr"] * mean / (tf.sqrt(largest) + known["epsilon"])
        update = tf.assign_sub(var, change, use_locking=self._use_locking)
        return tf.group(update, mean, squares)

    def _decayed_rows(self, slot: Any, decay: Any, indices: Any, rows: Any) -> Any:
        decayed = slot.assign(slot * decay)
        with tf.control_dependencies([decayed]):
            return self._resource_scatter_add(slot, indices, rows)


class Adamax(OptimizerV2):
    """Adam with the largest size of the gradients in place of their squares."""

    _HYPERS = ("learning_rate", "decay", "beta_1", "beta_2")
    _CONFIG = ("epsilon",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or K.epsilon()

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot in ("m", "v"):
            for variable in var_list:
                self.add_slot(variable, slot)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        step = tf.cast(self.iterations + 1, var_dtype)
        beta_1 = tf.identity(self._get_hyper("beta_1", var_dtype))
        beta_2 = tf.identity(self._get_hyper("beta_2", var_dtype))
        power = tf.pow(beta_1, step)
        known.update(
            neg_scaled_lr=-known["lr_t"] / (1 - power),
            epsilon=tf.convert_to_tensor(self.epsilon, var_dtype),
            beta_1_t=beta_1,
            beta_1_power=power,
            one_minus_beta_1_t=1 - beta_1,
            beta_2_t=beta_2,
        )

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        return _ops.ResourceApplyAdaMax(
            var=var.handle,
            m=self.get_slot(var, "m").handle,
            v=self.get_slot(var, "v").handle,
            beta1_power=known["beta_1_power"],
            lr=known["lr_t"],
            beta1=known["beta_1_t"],
            beta2=known["beta_2_t"],
            epsilon=known["epsilon"],
            grad=grad,
            use_locking=self._use_locking,
        )

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        mean, largest = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean_rows = (
            tf.gather(mean, indices) * known["beta_1_t"] + grad * known["one_minus_beta_1_t"]
        )
        largest_rows = tf.maximum(tf.gather(largest, indices) * known["beta_2_t"], tf.abs(grad))
        change = known["neg_scaled_lr"] * (mean_rows / (largest_rows + known["epsilon"]))
        return tf.group(
            self._resource_scatter_update(mean, indices, mean_rows),
            self._resource_scatter_update(largest, indices, largest_rows),
            self._resource_scatter_add(var, indices, change),
        )


class Nadam(OptimizerV2):
    """Adam with Nesterov's momentum."""

    _HYPERS = ("learning_rate", "decay", "beta_1", "beta_2")
    _CONFIG = ("epsilon",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ):
        # How fast the momentum's schedule falls, in Keras the decay's default.
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or K.epsilon()
        self._m_cache: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache",
                shape=[],
                dtype=var_list[0].dtype.base_dtype,
                initializer="ones",
                trainable=False,
            )
            self._weights.append(self._m_cache)
        for slot in ("m", "v"):
            for variable in var_list:
                self.add_slot(variable, slot)

    def _prepare(self, var_list: list[Any]) -> dict[Any, Any]:
        self._m_cache_read = tf.identity(self._m_cache)
        return super()._prepare(var_list)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        rate = tf.identity(self._get_hyper("learning_rate", var_dtype))
        beta_1 = tf.identity(self._get_hyper("beta_1", var_dtype))
        beta_2 = tf.identity(self._get_hyper("beta_2", var_dtype))
        step = tf.cast(self.iterations + 1, var_dtype)
        next_step = tf.cast(self.iterations + 2, var_dtype)
        base = tf.cast(0.96, var_dtype)
        momentum = beta_1 * (1.0 - 0.5 * tf.pow(base, self._initial_decay * step))
        next_momentum = beta_1 * (1.0 - 0.5 * tf.pow(base, self._initial_decay * next_step))
        schedule = tf.cast(self._m_cache_read, var_dtype) * momentum
        if var_dtype == self._m_cache.dtype.base_dtype:
            schedule = tf.identity(self._m_cache.assign(schedule))
        apply_state[var_device, var_dtype] = {
            "lr_t": rate,
            "neg_lr_t": -rate,
            "epsilon": tf.convert_to_tensor(self.epsilon, var_dtype),
            "beta_1_t": beta_1,
            "beta_2_t": beta_2,
            "m_t_1": next_momentum,
            "one_minus_beta_1_t": 1 - beta_1,
            "one_minus_beta_2_t": 1 - beta_2,
            "one_minus_m_t": 1.0 - momentum,
            "one_minus_schedule": 1.0 - schedule,
            "one_minus_next_schedule": 1.0 - schedule * next_momentum,
            "one_minus_beta_2_power": 1.0 - tf.pow(beta_2, step),
        }

    def _change(self, grad: Any, mean: Any, squares: Any, known: dict[str, Any]) -> Any:
        """What a step adds, from the updated averages."""
        by_gradient = known["one_minus_m_t"] * (grad / known["one_minus_schedule"])
        by_mean = known["m_t_1"] * (mean / known["one_minus_next_schedule"])
        size = tf.sqrt(squares / known["one_minus_beta_2_power"]) + known["epsilon"]
        return known["neg_lr_t"] * (by_gradient + by_mean) / size

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        mean, squares = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = mean.assign(known["beta_1_t"] * mean + known["one_minus_beta_1_t"] * grad)
        squares = squares.assign(
            known["beta_2_t"] * squares + known["one_minus_beta_2_t"] * tf.square(grad)
        )
        return operation_of(var.assign(var + self._change(grad, mean, squares, known)))

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        mean, squares = self.get_slot(var, "m"), self.get_slot(var, "v")
        decayed = mean.assign(mean * known["beta_1_t"])
        with tf.control_dependencies([decayed]):
            new_mean = self._resource_scatter_add(mean, indices, grad * known["one_minus_beta_1_t"])
        decayed = squares.assign(squares * known["beta_2_t"])
        with tf.control_dependencies([decayed]):
            new_squares = self._resource_scatter_add(
                squares, indices, grad * grad * known["one_minus_beta_2_t"]
            )
        change = self._change(
            grad, tf.gather(new_mean, indices), tf.gather(new_squares, indices), known
        )
        return tf.group(self._resource_scatter_add(var, indices, change), new_mean, new_squares)
