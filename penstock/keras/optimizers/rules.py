"""The optimizers: SGD and those that scale by sums of squared gradients."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.optimizers.base import OptimizerV2, operation_of

__all__ = ["SGD", "Adadelta", "Adagrad", "Ftrl", "RMSprop"]

_ops = tf.raw_ops


class SGD(OptimizerV2):
    """Gradient descent, with momentum if it isn't 0."""

    _HYPERS = ("learning_rate", "decay", "momentum")
    _CONFIG = ("nesterov",)

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._momentum = isinstance(momentum, tf.Tensor) or callable(momentum) or momentum > 0
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        if self._momentum:
            for variable in var_list:
                self.add_slot(variable, "momentum")

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        momentum = tf.identity(self._get_hyper("momentum", var_dtype))
        apply_state[var_device, var_dtype]["momentum"] = momentum

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        if not self._momentum:
            return _ops.ResourceApplyGradientDescent(
                var=var.handle, alpha=known["lr_t"], delta=grad, use_locking=self._use_locking
            )
        return _ops.ResourceApplyKerasMomentum(
            var=var.handle,
            accum=self.get_slot(var, "momentum").handle,
            lr=known["lr_t"],
            grad=grad,
            momentum=known["momentum"],
            use_locking=self._use_locking,
            use_nesterov=self.nesterov,
        )

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, var: Any, indices: Any, **kwargs: Any
    ) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices, **kwargs)
        rate = self._coefficients(var, kwargs.get("apply_state"))["lr_t"]
        return _ops.ResourceScatterAdd(resource=var.handle, indices=indices, updates=-grad * rate)

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        return _ops.ResourceSparseApplyKerasMomentum(
            var=var.handle,
            accum=self.get_slot(var, "momentum").handle,
            lr=known["lr_t"],
            grad=grad,
            indices=indices,
            momentum=known["momentum"],
            use_locking=self._use_locking,
            use_nesterov=self.nesterov,
        )


class Adagrad(OptimizerV2):
    """Steps that get shorter for values that have changed much."""

    _HYPERS = ("learning_rate", "decay")
    _CONFIG = ("initial_accumulator_value", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ):
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or K.epsilon()

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The optimizer of a config; one without a start, a name's say, begins at zero."""
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            start = tf.constant_initializer(
                self.initial_accumulator_value, dtype=variable.dtype.base_dtype
            )
            self.add_slot(variable, "accumulator", start)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        epsilon = tf.convert_to_tensor(self.epsilon, var_dtype)
        apply_state[var_device, var_dtype]["epsilon"] = epsilon

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        return _ops.ResourceApplyAdagradV2(
            var=var.handle,
            accum=self.get_slot(var, "accumulator").handle,
            lr=known["lr_t"],
            epsilon=known["epsilon"],
            grad=grad,
            use_locking=self._use_locking,
        )

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        return _ops.ResourceSparseApplyAdagradV2(
            var=var.handle,
            accum=self.get_slot(var, "accumulator").handle,
            lr=known["lr_t"],
            epsilon=known["epsilon"],
            grad=grad,
            indices=indices,
            use_locking=self._use_locking,
        )


class Adadelta(OptimizerV2):
    """Steps from moving averages of squared gradients and squared changes."""

    _HYPERS = ("learning_rate", "decay", "rho")
    _CONFIG = ("epsilon",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or K.epsilon()

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot in ("accum_grad", "accum_var"):
            for variable in var_list:
                self.add_slot(variable, slot)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype].update(
            epsilon=tf.convert_to_tensor(self.epsilon, var_dtype),
            rho=tf.identity(self._get_hyper("rho", var_dtype)),
        )

    def _arguments(self, var: Any, grad: Any, apply_state: Any) -> dict[str, Any]:
        known = self._coefficients(var, apply_state)
        return {
            "var": var.handle,
            "accum": self.get_slot(var, "accum_grad").handle,
            "accum_update": self.get_slot(var, "accum_var").handle,
            "lr": known["lr_t"],
            "rho": known["rho"],
            "epsilon": known["epsilon"],
            "grad": grad,
            "use_locking": self._use_locking,
        }

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        return _ops.ResourceApplyAdadelta(**self._arguments(var, grad, apply_state))

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        arguments = self._arguments(var, grad, apply_state)
        return _ops.ResourceSparseApplyAdadelta(indices=indices, **arguments)


class RMSprop(OptimizerV2):
    """Steps divided by a moving average of the gradients' size."""

    _HYPERS = ("learning_rate", "decay", "rho", "momentum")
    _CONFIG = ("epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self._momentum = isinstance(momentum, tf.Tensor) or callable(momentum) or momentum > 0
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self._set_hyper("momentum", momentum)
        self.epsilon = epsilon or K.epsilon()
        self.centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        wanted = ["rms", *(["momentum"] if self._momentum else []), *(["mg"] * self.centered)]
        for slot in wanted:
            for variable in var_list:
                self.add_slot(variable, slot)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        known = apply_state[var_device, var_dtype]
        rho = tf.identity(self._get_hyper("rho", var_dtype))
        known.update(
            neg_lr_t=-known["lr_t"],
            epsilon=tf.convert_to_tensor(self.epsilon, var_dtype),
            rho=rho,
            momentum=tf.identity(self._get_hyper("momentum", var_dtype)),
            one_minus_rho=1.0 - rho,
        )

    def _fused_arguments(self, var: Any, grad: Any, known: dict[str, Any]) -> dict[str, Any]:
        arguments = {
            "var": var.handle,
            "ms": self.get_slot(var, "rms").handle,
            "mom": self.get_slot(var, "momentum").handle,
            "lr": known["lr_t"],
            "rho": known["rho"],
            "momentum": known["momentum"],
            "epsilon": known["epsilon"],
            "grad": grad,
            "use_locking": self._use_locking,
        }
        if self.centered:
            arguments["mg"] = self.get_slot(var, "mg").handle
        return arguments

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        known = self._coefficients(var, apply_state)
        if self._momentum:
            apply = (
                _ops.ResourceApplyCenteredRMSProp if self.centered else _ops.ResourceApplyRMSProp
            )
            return apply(**self._fused_arguments(var, grad, known))
        rms = self.get_slot(var, "rms")
        squares = rms.assign(known["rho"] * rms + known["one_minus_rho"] * tf.square(grad))
        size = squares
        if self.centered:
            mean = self.get_slot(var, "mg")
            mean = mean.assign(known["rho"] * mean + known["one_minus_rho"] * grad)
            size = squares - tf.square(mean)
        change = known["lr_t"] * grad / (tf.sqrt(size) + known["epsilon"])
        return operation_of(var.assign(var - change))

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        known = self._coefficients(var, apply_state)
        if self._momentum:
            apply = (
                _ops.ResourceSparseApplyCenteredRMSProp
                if self.centered
                else _ops.ResourceSparseApplyRMSProp
            )
            return apply(indices=indices, **self._fused_arguments(var, grad, known))
        squares = self._decayed_rows(var, "rms", grad * grad, indices, known)
        size = tf.gather(squares, indices)
        updates = [squares]
        if self.centered:
            mean = self._decayed_rows(var, "mg", grad, indices, known)
            size = size - tf.square(tf.gather(mean, indices))
            updates.append(mean)
        change = known["neg_lr_t"] * grad / (tf.sqrt(size) + known["epsilon"])
        return tf.group(self._resource_scatter_add(var, indices, change), *updates)

    def _decayed_rows(self, var: Any, slot: str, rows: Any, indices: Any, known: Any) -> Any:
        """A moving average after all of it decayed and some rows got new values."""
        average = self.get_slot(var, slot)
        decayed = average.assign(average * known["rho"])
        with tf.control_dependencies([decayed]):
            return self._resource_scatter_add(average, indices, rows * known["one_minus_rho"])


class Ftrl(OptimizerV2):
    """Follow the regularized leader."""

    _HYPERS = (
        "learning_rate",
        "decay",
        "learning_rate_power",
        "l1_regularization_strength",
        "l2_regularization_strength",
    )
    _CONFIG = ("initial_accumulator_value", "l2_shrinkage_regularization_strength")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value {initial_accumulator_value} needs to be positive or "
                "zero"
            )
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self.initial_accumulator_value = initial_accumulator_value
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for variable in var_list:
            start = tf.constant_initializer(
                self.initial_accumulator_value, dtype=variable.dtype.base_dtype
            )
            self.add_slot(variable, "accumulator", start)
            self.add_slot(variable, "linear")

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        names = self._HYPERS[2:]
        apply_state[var_device, var_dtype].update(
            {name: tf.identity(self._get_hyper(name, var_dtype)) for name in names}
        )

    def _arguments(self, var: Any, grad: Any, apply_state: Any) -> dict[str, Any]:
        known = self._coefficients(var, apply_state)
        arguments = {
            "var": var.handle,
            "accum": self.get_slot(var, "accumulator").handle,
            "linear": self.get_slot(var, "linear").handle,
            "grad": grad,
            "lr": known["lr_t"],
            "l1": known["l1_regularization_strength"],
            "l2": known["l2_regularization_strength"],
            "lr_power": known["learning_rate_power"],
            "use_locking": self._use_locking,
        }
        if self.l2_shrinkage_regularization_strength > 0.0:
            arguments["l2_shrinkage"] = tf.cast(
                self.l2_shrinkage_regularization_strength, var.dtype.base_dtype
            )
        return arguments

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        arguments = self._arguments(var, grad, apply_state)
        has_shrinkage = "l2_shrinkage" in arguments
        apply = _ops.ResourceApplyFtrlV2 if has_shrinkage else _ops.ResourceApplyFtrl
        return apply(**arguments)

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        arguments = self._arguments(var, grad, apply_state)
        has_shrinkage = "l2_shrinkage" in arguments
        apply = _ops.ResourceSparseApplyFtrlV2 if has_shrinkage else _ops.ResourceSparseApplyFtrl
        return apply(indices=indices, **arguments)
