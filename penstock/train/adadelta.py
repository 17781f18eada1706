"""Adadelta: steps as large as the recent updates, over the size of the recent gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.training import (
    ApplyAdadelta,
    ResourceApplyAdadelta,
    ResourceSparseApplyAdadelta,
    SparseApplyAdadelta,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyAdadelta, SparseApplyAdadelta, ResourceApplyAdadelta, ResourceSparseApplyAdadelta
)


@fused
class AdadeltaOptimizer(Optimizer):
    """Adapts the rate per weight; `rho` is the decay of both running averages."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon
        self._lr_t: Any = None
        self._rho_t: Any = None
        self._epsilon_t: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = hyperparameter(self._lr, "lr")
        self._rho_t = hyperparameter(self._rho, "rho")
        self._epsilon_t = hyperparameter(self._epsilon, "epsilon")

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        settings = cast_for(var, self._lr_t, self._rho_t, self._epsilon_t)
        return apply(
            choose(_KERNELS, var, gradient),
            [var, self.get_slot(var, "accum"), self.get_slot(var, "accum_update")],
            [*settings, *gradient],
            use_locking=self._use_locking,
        )
