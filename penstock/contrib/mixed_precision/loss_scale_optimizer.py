"""Training on a scaled loss, so that small gradients of 16-bit floats don't vanish."""

from __future__ import annotations

from typing import Any

from penstock.contrib.mixed_precision.loss_scale_manager import LossScaleManager
from penstock.ir.composite import IndexedSlices
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.conditionals import cond
from penstock.ops.control import group, no_op
from penstock.ops.elementwise import is_finite, reciprocal
from penstock.ops.math import reduce_all
from penstock.train.optimizer import Optimizer

__all__ = ["LossScaleOptimizer"]


class LossScaleOptimizer(Optimizer):
    """Lets another optimizer train on a scaled loss; what is not finite is never applied.

    Args:
      opt: the optimizer.
      loss_scale_manager: what chooses the factor.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager):
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of (gradient, variable) for the loss itself, computed from the scaled one."""
        scale = self._loss_scale_manager.get_loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            value * cast(scale, value.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        back = reciprocal(scale)
        return [(_times(gradient, back), variable) for gradient, variable in pairs]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The operation that applies gradients, if they are finite, and adapts the factor."""
        pairs = list(grads_and_vars)
        finite = reduce_all(
            [reduce_all(is_finite(g)) for g in map(_values, pairs) if g is not None]
        )
        applied = cond(finite, lambda: self._opt.apply_gradients(pairs, global_step, name), no_op)
        return group(applied, self._loss_scale_manager.update_loss_scale(finite))


def _values(pair: tuple[Any, Any]) -> Any:
    gradient = pair[0]
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _times(gradient: Any, factor: Tensor) -> Any:
    if gradient is None:
        return None
    factor = cast(factor, gradient.dtype.base_dtype)
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor
