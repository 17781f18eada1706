"""Momentum: velocity = momentum * velocity + gradient; var -= learning_rate * velocity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.training import (
    ApplyMomentum,
    ResourceApplyMomentum,
    ResourceSparseApplyMomentum,
    SparseApplyMomentum,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyMomentum, SparseApplyMomentum, ResourceApplyMomentum, ResourceSparseApplyMomentum
)


@fused
class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum; `use_nesterov` takes the gradient's step ahead of it."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = hyperparameter(self._momentum, "momentum")

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        rate, momentum = cast_for(var, self._learning_rate_tensor, self._momentum_tensor)
        return apply(
            choose(_KERNELS, var, gradient),
            [var, self.get_slot(var, "momentum")],
            [rate, *gradient, momentum],
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
