"""RMSProp: the gradient over the root of its running mean square, with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.filling import ones_like
from penstock.ops.initializers import ones_initializer
from penstock.ops.training import (
    ApplyCenteredRMSProp,
    ApplyRMSProp,
    ResourceApplyCenteredRMSProp,
    ResourceApplyRMSProp,
    ResourceSparseApplyCenteredRMSProp,
    ResourceSparseApplyRMSProp,
    SparseApplyCenteredRMSProp,
    SparseApplyRMSProp,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, first_value, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyRMSProp, SparseApplyRMSProp, ResourceApplyRMSProp, ResourceSparseApplyRMSProp
)
_CENTERED_KERNELS = Kernels(
    ApplyCenteredRMSProp,
    SparseApplyCenteredRMSProp,
    ResourceApplyCenteredRMSProp,
    ResourceSparseApplyCenteredRMSProp,
)


@fused
class RMSPropOptimizer(Optimizer):
    """Divides by a running root mean square; `centered` by a running standard deviation."""

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
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered
        self._learning_rate_tensor: Any = None
        self._decay_tensor: Any = None
        self._momentum_tensor: Any = None
        self._epsilon_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            known = var.get_shape().is_fully_defined()
            # Ones, not zeros: the first steps are then no larger than the later ones.
            initializer = ones_initializer(dtype=dtype) if known else ones_like(first_value(var))
            self._get_or_make_slot_with_initializer(
                var, initializer, var.get_shape(), dtype, "rms", self._name
            )
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        self._decay_tensor = hyperparameter(self._decay, "decay")
        self._momentum_tensor = hyperparameter(self._momentum, "momentum")
        self._epsilon_tensor = hyperparameter(self._epsilon, "epsilon")

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        settings = cast_for(
            var,
            self._learning_rate_tensor,
            self._decay_tensor,
            self._momentum_tensor,
            self._epsilon_tensor,
        )
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        kernels = _CENTERED_KERNELS if self._centered else _KERNELS
        return apply(
            choose(kernels, var, gradient),
            [var, *(self.get_slot(var, name) for name in names)],
            [*settings, *gradient],
            use_locking=self._use_locking,
        )
