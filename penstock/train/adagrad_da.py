"""Adagrad with dual averaging: weights from the sums of gradients and of their squares alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.control import colocate_with, device
from penstock.ops.identity import identity
from penstock.ops.training import (
    ApplyAdagradDA,
    ResourceApplyAdagradDA,
    ResourceSparseApplyAdagradDA,
    SparseApplyAdagradDA,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyAdagradDA, SparseApplyAdagradDA, ResourceApplyAdagradDA, ResourceSparseApplyAdagradDA
)


@fused
class AdagradDAOptimizer(Optimizer):
    """Adagrad for sparse linear models: rows not seen for long are regularized when next used.

    `global_step` (int64) counts the steps; pass it to `minimize` too, so that it grows.
    """

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = (
            initial_gradient_squared_accumulator_value
        )
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step
        self._learning_rate_tensor: Any = None
        self._global_step_on_worker: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            shape, dtype = var.get_shape(), var.dtype.base_dtype
            with colocate_with(var):
                zeros = constant(0.0, shape=shape, dtype=dtype)
                squares = constant(
                    self._initial_gradient_squared_accumulator_value, shape=shape, dtype=dtype
                )
            self._get_or_make_slot(var, zeros, "gradient_accumulator", self._name)
            self._get_or_make_slot(var, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        # A copy near the learning rate: one transfer of the step's number, not one per variable.
        with colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = identity(self._global_step) + 1

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        with device(var.device):
            step = identity(self._global_step_on_worker)
        settings = cast_for(
            var,
            self._learning_rate_tensor,
            self._l1_regularization_strength,
            self._l2_regularization_strength,
        )
        return apply(
            choose(_KERNELS, var, gradient),
            [
                var,
                self.get_slot(var, "gradient_accumulator"),
                self.get_slot(var, "gradient_squared_accumulator"),
            ],
            [*gradient, *settings, step],
            use_locking=self._use_locking,
        )
