"""FTRL-proximal ("follow the regularized leader"), for sparse linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.binary import maximum
from penstock.ops.filling import ones
from penstock.ops.training import (
    ApplyFtrl,
    ApplyFtrlV2,
    ResourceApplyFtrl,
    ResourceApplyFtrlV2,
    ResourceSparseApplyFtrl,
    ResourceSparseApplyFtrlV2,
    SparseApplyFtrl,
    SparseApplyFtrlV2,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(ApplyFtrl, SparseApplyFtrl, ResourceApplyFtrl, ResourceSparseApplyFtrl)
_SHRINKAGE_KERNELS = Kernels(
    ApplyFtrlV2, SparseApplyFtrlV2, ResourceApplyFtrlV2, ResourceSparseApplyFtrlV2
)
_SMALLEST_RATE = 1e-36  # beta is divided by the learning rate, which may be 0


@fused
class FtrlOptimizer(Optimizer):
    """Per-weight rates with L1 and L2 regularization that makes weights exactly zero.

    `l2_shrinkage_regularization_strength` penalizes large weights by adding to the gradient, where
    `l2_regularization_strength` stabilizes; `beta` is added to the accumulators' roots.
    """

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ):
        super().__init__(use_locking, name)
        _check_at_least_zero("initial_accumulator_value", initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        _check_at_least_zero("l1_regularization_strength", l1_regularization_strength)
        _check_at_least_zero("l2_regularization_strength", l2_regularization_strength)
        _check_at_least_zero(
            "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength
        )
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name = accum_name
        self._linear_name = linear_name
        self._learning_rate_tensor: Any = None
        self._learning_rate_power_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._adjusted_l2_regularization_strength_tensor: Any = None
        self._l2_shrinkage_regularization_strength_tensor: Any = None
        self._beta_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        def initial_accumulators(shape: Any, dtype: Any, partition_info: Any = None) -> Tensor:
            return ones(shape, dtype=dtype) * self._initial_accumulator_value

        for var in var_list:
            self._get_or_make_slot_with_initializer(
                var,
                initial_accumulators,
                var.get_shape(),
                var.dtype.base_dtype,
                "accum",
                self._accum_name or self._name,
            )
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = hyperparameter(rate, "learning_rate")
        self._l1_regularization_strength_tensor = hyperparameter(
            self._l1_regularization_strength, "l1_regularization_strength"
        )
        # The ops know no beta; a constant added to every root acts as more L2 regularization.
        self._adjusted_l2_regularization_strength_tensor = self._l2_regularization_strength + (
            self._beta / (2.0 * maximum(rate, _SMALLEST_RATE))
        )
        self._beta_tensor = hyperparameter(self._beta, "beta")
        self._l2_shrinkage_regularization_strength_tensor = hyperparameter(
            self._l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength"
        )
        self._learning_rate_power_tensor = hyperparameter(
            self._learning_rate_power, "learning_rate_power"
        )

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        shrinks = self._l2_shrinkage_regularization_strength > 0.0
        settings = cast_for(
            var,
            self._learning_rate_tensor,
            self._l1_regularization_strength_tensor,
            self._adjusted_l2_regularization_strength_tensor,
            *([self._l2_shrinkage_regularization_strength_tensor] if shrinks else []),
            self._learning_rate_power_tensor,
        )
        return apply(
            choose(_SHRINKAGE_KERNELS if shrinks else _KERNELS, var, gradient),
            [var, self.get_slot(var, "accum"), self.get_slot(var, "linear")],
            [*gradient, *settings],
            use_locking=self._use_locking,
        )


def _check_at_least_zero(name: str, value: float) -> None:
    if value < 0.0:
        raise ValueError(f"{name} {value:f} needs to be positive or zero")
