"""What is to be minimized, and what an optimizer under constraints is."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import penstock as tf

GATE_OP = tf.train.Optimizer.GATE_OP


class ConstrainedMinimizationProblem(abc.ABC):
    """An objective to minimize while all constraints are at most zero."""

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """A scalar."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """A tensor of what is to be at most zero."""

    @property
    def proxy_constraints(self) -> Any:
        """Constraints with useful gradients in the place of `constraints`, or None."""
        return None

    @property
    def pre_train_ops(self) -> Sequence[Any] | None:
        """What has to run before each step, or None."""
        return None

    @property
    def num_constraints(self) -> int:
        """The number of constraints, which is known when the graph is built."""
        shape = self.constraints.get_shape()
        proxies = shape
        if self.proxy_constraints is not None:
            proxies = self.proxy_constraints.get_shape()
        if not (shape.is_fully_defined() and proxies.is_fully_defined()):
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shape.as_list() != proxies.as_list():
            raise ValueError("constraints and proxy_constraints must have the same shape")
        count: int = shape.num_elements()
        return count


class ConstrainedOptimizer(abc.ABC):
    """Minimizes under constraints; steps are those of another optimizer."""

    def __init__(self, optimizer: Any):
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """The optimizer of the variables."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self,
        minimization_problem: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of one step, after `pre_train_ops`."""

    def minimize_constrained(
        self,
        minimization_problem: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of one step that heeds the constraints."""
        with tf.control_dependencies(minimization_problem.pre_train_ops or []):
            return self._minimize_constrained(
                minimization_problem,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize_unconstrained(
        self,
        minimization_problem: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of one step that minimizes the objective alone."""
        with tf.control_dependencies(minimization_problem.pre_train_ops or []):
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize(
        self,
        minimization_problem: Any,
        unconstrained_steps: Any = None,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of one step.

        Args:
          unconstrained_steps: how many first steps ignore the constraints; needs `global_step`.
        """
        settings = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **settings)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        limit = tf.convert_to_tensor(unconstrained_steps)
        return tf.cond(
            tf.cast(global_step, limit.dtype) < limit,
            true_fn=lambda: self.minimize_unconstrained(minimization_problem, **settings),
            false_fn=lambda: self.minimize_constrained(minimization_problem, **settings),
        )


def checked_constraints(problem: Any) -> tuple[Any, Any]:
    """The constraints of a problem and their proxies, as vectors of the objective's type."""
    constraints, proxies = problem.constraints, problem.proxy_constraints
    proxies = constraints if proxies is None else proxies
    types = {each.dtype.base_dtype for each in (problem.objective, constraints, proxies)}
    if len(types) > 1:
        raise ValueError("objective, constraints and proxy_constraints must have the same dtype")
    shape = (problem.num_constraints,)
    return tf.reshape(constraints, shape=shape), tf.reshape(proxies, shape=shape)


class TwoPlayerOptimizer(ConstrainedOptimizer):
    """An optimizer that plays against another one, whose variable weighs the constraints.

    Args:
      constraint_optimizer: the optimizer of that variable; by default the one of all others.
    """

    _state_name: str

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None):
        super().__init__(optimizer=optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """The optimizer of the constraints' weights, or None."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Any:
        """What the weights' variable begins with."""

    @abc.abstractmethod
    def _loss_and_gradient(
        self, state: Any, objective: Any, constraints: Any, proxies: Any
    ) -> tuple[Any, Any]:
        """What the variables minimize, and the gradient that the weights ascend by."""

    @abc.abstractmethod
    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        """Brings the weights back into their set."""

    def _constraint_grad_and_var(self, state: Any, gradient: Any) -> tuple[Any, Any]:
        return -gradient, state

    def _minimize_constrained(
        self,
        minimization_problem: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        constraints, proxies = checked_constraints(minimization_problem)
        count = minimization_problem.num_constraints
        state = tf.Variable(
            lambda: self._initial_state(count),
            trainable=False,
            name=self._state_name,
            use_resource=True,
        )
        loss, gradient = self._loss_and_gradient(
            state, minimization_problem.objective, constraints, proxies
        )
        pairs = self.optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        updates = self._updates(pairs, self._constraint_grad_and_var(state, gradient))
        with tf.control_dependencies(updates):
            if global_step is None:
                return self._projection_op(state, name=name)
            projection = self._projection_op(state, name="project")
            with tf.colocate_with(global_step):
                counted = tf.assign_add(global_step, 1, name="global_step_increment")
            return tf.group(projection, counted, name=name)

    def _updates(self, pairs: list[Any], of_weights: tuple[Any, Any]) -> list[Any]:
        if self.constraint_optimizer is None:
            return [self.optimizer.apply_gradients([*pairs, of_weights], name="update")]
        # Both players move at once: neither sees the other's new values.
        gradients = [gradient for gradient, _ in [*pairs, of_weights] if gradient is not None]
        with tf.control_dependencies(gradients):
            return [
                self.optimizer.apply_gradients(pairs, name="update"),
                self.constraint_optimizer.apply_gradients(
                    [of_weights], name="optimizer_state_update"
                ),
            ]
