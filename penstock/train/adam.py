"""Adam: running means of gradients and of their squares, corrected for starting at zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.control import colocate_with, control_dependencies, group
from penstock.ops.elementwise import sqrt
from penstock.ops.training import ApplyAdam, ResourceApplyAdam
from penstock.ops.variable_updates import assign, assign_sub, scatter_add
from penstock.train.fused import apply, cast_for
from penstock.train.optimizer import Optimizer, hyperparameter


class AdamOptimizer(Optimizer):
    """Adam, as of Kingma and Ba (2014), with their epsilon-hat as `epsilon`.

    A sparse gradient moves all rows: those that it lacks have a zero gradient, not none.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ):
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        """The variables that hold beta1 and beta2 to the power of the number of steps."""
        graph = get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph=graph),
            self._get_non_slot_variable("beta2_power", graph=graph),
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        # The powers live with one variable; the first by name is the same in every process.
        first = min(var_list, key=lambda var: var.name)
        self._create_non_slot_variable(self._beta1, name="beta1_power", colocate_with=first)
        self._create_non_slot_variable(self._beta2, name="beta2_power", colocate_with=first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = hyperparameter(self._lr, "learning_rate")
        self._beta1_t = hyperparameter(self._beta1, "beta1")
        self._beta2_t = hyperparameter(self._beta2, "beta2")
        self._epsilon_t = hyperparameter(self._epsilon, "epsilon")

    def _adam_settings(self, var: Any) -> list[Any]:
        """beta1_power, beta2_power, learning rate, beta1, beta2, epsilon in the type of `var`."""
        powers = self._get_beta_accumulators()
        return cast_for(var, *powers, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._apply_adam(ApplyAdam, grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        return self._apply_adam(ResourceApplyAdam, grad, handle)

    def _apply_adam(self, op_type: Any, grad: Tensor, var: Any) -> Operation:
        return apply(
            op_type,
            [var, self.get_slot(var, "m"), self.get_slot(var, "v")],
            [*self._adam_settings(var), grad],
            use_locking=self._use_locking,
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        def scatter(x: Any, i: Tensor, v: Tensor) -> Tensor:
            return scatter_add(x, i, v, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _apply_sparse_shared(
        self,
        grad: Tensor,
        var: Any,
        indices: Tensor,
        scatter_add: Callable[[Any, Tensor, Tensor], Tensor],
    ) -> Operation:
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = self._adam_settings(var)
        rate = rate * sqrt(1 - beta2_power) / (1 - beta1_power)
        mean = self.get_slot(var, "m")
        new_rows = grad * (1 - beta1)
        with control_dependencies([assign(mean, mean * beta1, use_locking=self._use_locking)]):
            mean_value = scatter_add(mean, indices, new_rows)
        square = self.get_slot(var, "v")
        new_rows = (grad * grad) * (1 - beta2)
        with control_dependencies([assign(square, square * beta2, use_locking=self._use_locking)]):
            square_value = scatter_add(square, indices, new_rows)
        root = sqrt(square_value)
        update = assign_sub(
            var, rate * mean_value / (root + epsilon), use_locking=self._use_locking
        )
        return group(update, mean_value, square_value)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Operation:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                powers = [
                    power.assign(power * beta, use_locking=self._use_locking)
                    for power, beta in (
                        (beta1_power, self._beta1_t),
                        (beta2_power, self._beta2_t),
                    )
                ]
        return group(*update_ops, *powers, name=name_scope)
