"""`tf.train.experimental.MixedPrecisionLossScaleOptimizer`: gradients of a loss that is scaled."""

from __future__ import annotations

from typing import Any

from penstock.ir.composite import IndexedSlices
from penstock.layers.smart_cond import smart_cond
from penstock.ops.control import group, no_op
from penstock.train import loss_scale as loss_scales
from penstock.train.optimizer import Optimizer
from penstock.train.replicas import has_strategy

__all__ = ["MixedPrecisionLossScaleOptimizer"]


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Lets another optimizer train on a scaled loss, and scales its gradients back.

    Args:
      opt: the optimizer.
      loss_scale: a number, "dynamic", or a `LossScale`. With a dynamic one, a step whose gradients
        are not finite changes nothing but the loss scale.
    """

    def __init__(self, opt: Optimizer, loss_scale: Any):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale: Any = loss_scales.get(loss_scale)
        self._track_trackable(opt, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

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
        scale = self._loss_scale()
        scaled = (lambda: loss() * scale) if callable(loss) else loss * scale
        pairs = self._optimizer.compute_gradients(
            scaled,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        back = 1 / self._loss_scale()
        return [(_times(gradient, back), variable) for gradient, variable in pairs]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The operation that applies gradients, if they are finite."""
        from penstock.distribute import context

        if context.in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        if not isinstance(self._loss_scale, loss_scales.DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs = tuple(grads_and_vars)
        if has_strategy():
            replica: Any = context.get_replica_context()
            return replica.merge_call(self._distributed_apply, args=(pairs, global_step, name))
        name = self.get_name() if name is None else name
        adapted, should_apply = self._loss_scale.update([gradient for gradient, _ in pairs])

        def applied() -> Any:
            return self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped")

        return group(smart_cond(should_apply, applied, no_op), adapted, name=name)

    def _distributed_apply(
        self, distribution: Any, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Any:
        """The operation of all replicas, which apply their gradients if those of all are finite."""
        local = distribution.experimental_local_results
        name = self.get_name() if name is None else name
        gradients = [part for gradient, _ in grads_and_vars for part in local(gradient)]
        adapted, should_apply = self._loss_scale.update(gradients)

        def applied() -> Any:
            done = distribution.extended.call_for_each_replica(
                self._optimizer.apply_gradients,
                args=(grads_and_vars, global_step, f"{name}-wrapped"),
            )
            return group(*local(done))

        return group(smart_cond(should_apply, applied, no_op), adapted, name=name)


def _times(gradient: Any, factor: Any) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor
