"""Gradient descent: var -= learning_rate * gradient."""

from __future__ import annotations

from typing import Any

from penstock.ir.composite import IndexedSlices
from penstock.ir.tensor import Tensor
from penstock.ops.resource_variables import ResourceScatterAdd
from penstock.ops.training import ApplyGradientDescent, ResourceApplyGradientDescent
from penstock.train.fused import apply, cast_for
from penstock.train.optimizer import Optimizer, hyperparameter


class GradientDescentOptimizer(Optimizer):
    """Subtracts `learning_rate` times the gradient."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        rate = cast_for(var, self._learning_rate_tensor)
        return apply(ApplyGradientDescent, [var], [*rate, grad], use_locking=self._use_locking)

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        rate = cast_for(handle, self._learning_rate_tensor)
        return apply(
            ResourceApplyGradientDescent, [handle], [*rate, grad], use_locking=self._use_locking
        )

    # Repeated indices need no summing first: scattering adds them up.

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        (rate,) = cast_for(var, self._learning_rate_tensor)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        descent = -grad
        (rate,) = cast_for(handle, self._learning_rate_tensor)
        return ResourceScatterAdd(handle.handle, indices, descent * rate)
