"""The optimizers of `tf.contrib.optimizer_v2`: the update rules of `tf.train`, one op each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.optimizer_v2.optimizer_v2 import OptimizerV2
from penstock.contrib.optimizer_v2.state import OptimizerState
from penstock.ops import training
from penstock.train.fused import Kernels, apply, choose


class _OneOpUpdate(OptimizerV2):
    """An optimizer whose update of a variable is one node.

    `_kernels` are its op types; `_slots_of_update` the slots that they take, in order, and
    `_settings_of_update` the hyper-parameters before the gradient.
    """

    _kernels: Kernels
    _slots_of_update: Sequence[str] = ()
    _settings_of_update: Sequence[str] = ()

    def _inputs(self, var: Any, gradient: Sequence[Any], state: OptimizerState) -> list[Any]:
        dtype = var.dtype.base_dtype
        return [*(state.get_hyper(name, dtype) for name in self._settings_of_update), *gradient]

    def _attrs(self) -> dict[str, Any]:
        return {"use_locking": self._use_locking}

    def _fused(self, var: Any, gradient: Sequence[Any], state: OptimizerState) -> Any:
        slots = [state.get_slot(var, name) for name in self._slots_of_update]
        op_type = choose(self._kernels, var, gradient)
        return apply(op_type, [var, *slots], self._inputs(var, gradient, state), **self._attrs())

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        return self._fused(var, [grad], state)

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerState
    ) -> Any:
        return self._fused(handle, [grad], state)

    def _apply_sparse(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        return self._fused(var, [grad.values, grad.indices], state)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        return self._fused(handle, [grad, indices], state)


class GradientDescentOptimizer(OptimizerV2):
    """Gradient descent."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)

    def _descend(self, op_type: Any, grad: Any, var: Any, state: OptimizerState) -> Any:
        rate = state.get_hyper("learning_rate", var.dtype.base_dtype)
        return apply(op_type, [var], [rate, grad], use_locking=self._use_locking)

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        return self._descend(training.ApplyGradientDescent, grad, var, state)

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerState
    ) -> Any:
        return self._descend(training.ResourceApplyGradientDescent, grad, handle, state)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        rate = state.get_hyper("learning_rate", grad.dtype.base_dtype)
        return self._resource_scatter_add(handle, indices, -grad * rate).op

    def _apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        rows = grad.values * state.get_hyper("learning_rate", var.dtype.base_dtype)
        return tf.scatter_sub(var, grad.indices, rows, use_locking=self._use_locking)


class MomentumOptimizer(_OneOpUpdate):
    """Gradient descent with momentum."""

    _kernels = Kernels(
        training.ApplyMomentum,
        training.SparseApplyMomentum,
        training.ResourceApplyMomentum,
        training.ResourceSparseApplyMomentum,
    )
    _slots_of_update = ("momentum",)

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self._use_nesterov = use_nesterov

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        for var in var_list:
            state.zeros_slot(var, "momentum")

    def _inputs(self, var: Any, gradient: Sequence[Any], state: OptimizerState) -> list[Any]:
        rate, momentum = (
            state.get_hyper(name, var.dtype.base_dtype) for name in ("learning_rate", "momentum")
        )
        return [rate, *gradient, momentum]

    def _attrs(self) -> dict[str, Any]:
        return super()._attrs() | {"use_nesterov": self._use_nesterov}


class AdagradOptimizer(_OneOpUpdate):
    """Adagrad: rates fall with the sum of past squared gradients."""

    _kernels = Kernels(
        training.ApplyAdagrad,
        training.SparseApplyAdagrad,
        training.ResourceApplyAdagrad,
        training.ResourceSparseApplyAdagrad,
    )
    _slots_of_update = ("accumulator",)
    _settings_of_update = ("learning_rate",)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            state.create_slot_with_initializer(
                var, self._initial_accumulator(var), shape, dtype, "accumulator"
            )

    def _initial_accumulator(self, var: Any) -> Any:
        value, dtype = self._initial_accumulator_value, var.dtype.base_dtype
        if var.get_shape().is_fully_defined():
            return tf.constant_initializer(value, dtype=dtype)
        return lambda: tf.cast(tf.fill(tf.shape(var), value), dtype)


class AdadeltaOptimizer(_OneOpUpdate):
    """Adadelta: rates from the running means of squared gradients and updates."""

    _kernels = Kernels(
        training.ApplyAdadelta,
        training.SparseApplyAdadelta,
        training.ResourceApplyAdadelta,
        training.ResourceSparseApplyAdadelta,
    )
    _slots_of_update = ("accum", "accum_update")
    _settings_of_update = ("learning_rate", "rho", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("rho", rho)
        self._set_hyper("epsilon", epsilon)

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        for var in var_list:
            state.zeros_slot(var, "accum")
            state.zeros_slot(var, "accum_update")


_RMS = Kernels(
    training.ApplyRMSProp,
    training.SparseApplyRMSProp,
    training.ResourceApplyRMSProp,
    training.ResourceSparseApplyRMSProp,
)
_CENTERED_RMS = Kernels(
    training.ApplyCenteredRMSProp,
    training.SparseApplyCenteredRMSProp,
    training.ResourceApplyCenteredRMSProp,
    training.ResourceSparseApplyCenteredRMSProp,
)


class RMSPropOptimizer(_OneOpUpdate):
    """RMSProp; here `epsilon` is what the mean of squares begins with, and is not added later."""

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", decay)
        self._set_hyper("momentum", momentum)
        self._set_hyper("epsilon", epsilon)
        self._centered = centered
        self._kernels = _CENTERED_RMS if centered else _RMS
        self._slots_of_update = ("mg", "rms", "momentum") if centered else ("rms", "momentum")

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            first = state.get_hyper("epsilon", dtype) * tf.ones_like(var)
            state.create_slot_with_initializer(var, first, var.get_shape(), dtype, "rms")
            if self._centered:
                state.zeros_slot(var, "mg")
            state.zeros_slot(var, "momentum")

    def _inputs(self, var: Any, gradient: Sequence[Any], state: OptimizerState) -> list[Any]:
        dtype = var.dtype.base_dtype
        settings = [state.get_hyper(name, dtype) for name in ("learning_rate", "decay", "momentum")]
        return [*settings, tf.constant(0, dtype), *gradient]


class AdamOptimizer(OptimizerV2):
    """Adam, as of Kingma and Ba (2014), with their epsilon-hat as `epsilon`."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("beta2", beta2)
        self._set_hyper("epsilon", epsilon)

    def _get_beta_accumulators(self, state: OptimizerState | None = None) -> tuple[Any, Any]:
        known = state or self._get_or_create_state()
        return known.get_non_slot("beta1_power"), known.get_non_slot("beta2_power")

    def _create_vars(self, var_list: Sequence[Any], state: OptimizerState) -> None:
        for beta in ("beta1", "beta2"):
            state.create_non_slot(
                lambda beta=beta: state.get_hyper(beta),
                name=f"{beta}_power",
            )
        for var in var_list:
            state.zeros_slot(var, "m")
            state.zeros_slot(var, "v")

    def _inputs(self, var: Any, state: OptimizerState) -> list[Any]:
        dtype = var.dtype.base_dtype
        powers = [tf.cast(power, dtype) for power in self._get_beta_accumulators(state)]
        names = ("learning_rate", "beta1", "beta2", "epsilon")
        return [*powers, *(state.get_hyper(name, dtype) for name in names)]

    def _dense(self, op_type: Any, grad: Any, var: Any, state: OptimizerState) -> Any:
        slots = [state.get_slot(var, "m"), state.get_slot(var, "v")]
        inputs = [*self._inputs(var, state), grad]
        return apply(op_type, [var, *slots], inputs, use_locking=self._use_locking)

    def _apply_dense(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        return self._dense(training.ApplyAdam, grad, var, state)

    def _resource_apply_dense(  # type: ignore[override]
        self, grad: Any, handle: Any, state: OptimizerState
    ) -> Any:
        return self._dense(training.ResourceApplyAdam, grad, handle, state)

    def _apply_sparse_shared(
        self,
        grad: Any,
        var: Any,
        indices: Any,
        scatter_add: Callable[[Any, Any, Any], Any],
        state: OptimizerState,
    ) -> Any:
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = self._inputs(var, state)
        rate = rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        means = []
        for slot, beta, rows in (("m", beta1, grad), ("v", beta2, grad * grad)):
            mean = state.get_slot(var, slot)
            with tf.control_dependencies(
                [tf.assign(mean, mean * beta, use_locking=self._use_locking)]
            ):
                means.append(scatter_add(mean, indices, rows * (1 - beta)))
        step = rate * means[0] / (tf.sqrt(means[1]) + epsilon)
        return tf.group(tf.assign_sub(var, step, use_locking=self._use_locking), *means)

    def _apply_sparse(  # type: ignore[override]
        self, grad: Any, var: Any, state: OptimizerState
    ) -> Any:
        def scatter(x: Any, i: Any, v: Any) -> Any:
            return tf.scatter_add(x, i, v, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter, state)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Any, handle: Any, indices: Any, state: OptimizerState
    ) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add, state)

    def _finish(self, state: OptimizerState) -> Any:  # type: ignore[override]
        powers = zip(self._get_beta_accumulators(state), ("beta1", "beta2"), strict=True)
        return tf.group(
            *(
                power.assign(power * state.get_hyper(beta), use_locking=self._use_locking)
                for power, beta in powers
            )
        )
