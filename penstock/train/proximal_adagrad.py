"""Proximal Adagrad: an Adagrad step, then the L1 and L2 penalties in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.control import colocate_with
from penstock.ops.training import (
    ApplyProximalAdagrad,
    ResourceApplyProximalAdagrad,
    ResourceSparseApplyProximalAdagrad,
    SparseApplyProximalAdagrad,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyProximalAdagrad,
    SparseApplyProximalAdagrad,
    ResourceApplyProximalAdagrad,
    ResourceSparseApplyProximalAdagrad,
)


@fused
class ProximalAdagradOptimizer(Optimizer):
    """Adagrad whose L1 regularization makes weights exactly zero."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            with colocate_with(var):
                initial = constant(
                    self._initial_accumulator_value,
                    shape=var.get_shape(),
                    dtype=var.dtype.base_dtype,
                )
            self._get_or_make_slot(var, initial, "accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        self._l1_regularization_strength_tensor = hyperparameter(
            self._l1_regularization_strength, "l1_regularization_strength"
        )
        self._l2_regularization_strength_tensor = hyperparameter(
            self._l2_regularization_strength, "l2_regularization_strength"
        )

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        settings = cast_for(
            var,
            self._learning_rate_tensor,
            self._l1_regularization_strength_tensor,
            self._l2_regularization_strength_tensor,
        )
        return apply(
            choose(_KERNELS, var, gradient),
            [var, self.get_slot(var, "accumulator")],
            [*settings, *gradient],
            use_locking=self._use_locking,
        )
