"""Layer-wise adaptive rates, for large batches (You, Gitman and Ginsburg, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.training import ApplyMomentum, ResourceApplyMomentum
from penstock.train.fused import apply, cast_for
from penstock.train.momentum import MomentumOptimizer


class LARSOptimizer(MomentumOptimizer):
    """Momentum whose rate for each variable is scaled by the ratio of its norm to its gradient's.

    Args:
      eeta: factor of that ratio.
      skip_list: parts of names of variables that are neither scaled nor decayed.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ):
        for argument, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError(f"{argument} should be positive: {value}")
        super().__init__(learning_rate, momentum, name=name, use_nesterov=use_nesterov)
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate of a variable, and its gradient with weight decay."""
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        var_norm, grad_norm = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        ratio = self._eeta * var_norm / (grad_norm + self._weight_decay * var_norm + self._epsilon)
        is_defined = tf.logical_and(tf.greater(var_norm, 0), tf.greater(grad_norm, 0))
        trust = tf.where(is_defined, ratio, tf.ones_like(ratio))
        return self._learning_rate * trust, grad + self._weight_decay * var

    def _fused_update(self, var: Any, gradient: Sequence[Any]) -> Any:
        if len(gradient) > 1:
            return super()._fused_update(var, gradient)
        rate, decayed = self.compute_lr(gradient[0], var)
        one, momentum = cast_for(var, 1.0, self._momentum_tensor)
        resource = isinstance(var, ResourceVariable)
        return apply(
            ResourceApplyMomentum if resource else ApplyMomentum,
            [var, self.get_slot(var, "momentum")],
            [one, decayed * rate, momentum],
            use_nesterov=self._use_nesterov,
        )
