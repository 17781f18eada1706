"""Weight decay apart from gradients (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.opt.shampoo import ShampooOptimizer


class DecoupledWeightDecayExtension:
    """To be put before an optimizer among base classes: decays variables before each update.

    Args:
      weight_decay: what is taken off, as a part of the value; it is not scaled by the rate.
    """

    _use_locking: bool

    def __init__(self, weight_decay: Any, **kwargs: Any):
        self._decay_var_list: set[Any] | None = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Sequence[Any] | None = None,
    ) -> Any:
        """An operation that trains; `decay_var_list` are the variables that decay, or all."""
        optimizer: Any = self
        gradients = optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(gradient is None for gradient, _ in gradients):
            variables = [str(variable) for _, variable in gradients]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {variables} and loss {loss}."
            )
        return self.apply_gradients(gradients, global_step, name, decay_var_list)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Sequence[Any] | None = None,
    ) -> Any:
        """An operation that updates; `decay_var_list` are the variables that decay, or all."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        base: Any = super()
        return base.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self) -> None:
        given = self._weight_decay
        value = given() if callable(given) else given
        self._weight_decay_tensor = tf.convert_to_tensor(value, name="weight_decay")
        base: Any = super()
        base._prepare()

    def _decays(self, var: Any) -> bool:
        return self._decay_var_list is None or var in self._decay_var_list

    def _part_of(self, value: Any) -> Any:
        return tf.cast(self._weight_decay_tensor, value.dtype.base_dtype) * value

    def _decay_weights_op(self, var: Any) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return var.assign_sub(self._part_of(var), self._use_locking)

    def _decay_rows_op(self, var: Any, indices: Any) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return tf.scatter_sub(var, indices, self._part_of(tf.gather(var, indices)))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return base._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return base._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        with tf.control_dependencies([self._decay_rows_op(var, grad.indices)]):
            return base._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        base: Any = super()
        with tf.control_dependencies([self._decay_rows_op(var, indices)]):
            return base._resource_apply_sparse(grad, var, indices)


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """A class of optimizers like another, with weight decay as its first argument."""

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,  # type: ignore[misc] # known when this is called
    ):
        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
            base_optimizer.__init__(self, *args, **kwargs)
            self._decay_var_list = None
            self._weight_decay = weight_decay
            self._weight_decay_tensor = None

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):
    """Momentum with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):
    """Adam with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ):
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )


class ShampooWOptimizer(DecoupledWeightDecayExtension, ShampooOptimizer):
    """Shampoo with weight decay.

    As in TensorFlow, `mat_gbar_weight` takes the place of `mat_gbar_decay`.
    """

    def __init__(
        self,
        weight_decay: Any,
        global_step: Any,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: Any = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "ShampooW",
    ):
        super().__init__(
            weight_decay,
            global_step=global_step,
            max_matrix_size=max_matrix_size,
            gbar_decay=gbar_decay,
            gbar_weight=gbar_weight,
            mat_gbar_decay=mat_gbar_weight,
            learning_rate=learning_rate,
            svd_interval=svd_interval,
            precond_update_interval=precond_update_interval,
            epsilon=epsilon,
            alpha=alpha,
            use_iterative_root=use_iterative_root,
            use_locking=use_locking,
            name=name,
        )
