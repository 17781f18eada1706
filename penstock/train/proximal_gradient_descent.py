"""Proximal gradient descent: a gradient step, then the L1 and L2 penalties in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.training import (
    ApplyProximalGradientDescent,
    ResourceApplyProximalGradientDescent,
    ResourceSparseApplyProximalGradientDescent,
    SparseApplyProximalGradientDescent,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyProximalGradientDescent,
    SparseApplyProximalGradientDescent,
    ResourceApplyProximalGradientDescent,
    ResourceSparseApplyProximalGradientDescent,
)


@fused
class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent whose L1 regularization makes weights exactly zero."""

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._l1_regularization_strength_tensor: Any = None
        self._l2_regularization_strength_tensor: Any = None

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
            [var],
            [*settings, *gradient],
            use_locking=self._use_locking,
        )
