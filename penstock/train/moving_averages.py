"""Moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.binary import divide, minimum, pow
from penstock.ops.binary import truediv as true_divide
from penstock.ops.casts import cast
from penstock.ops.control import group
from penstock.ops.initializers import zeros_initializer
from penstock.ops.variable_collections import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from penstock.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from penstock.ops.variable_updates import assign, assign_add, assign_sub
from penstock.ops.variables import Variable
from penstock.train import slots
from penstock.train.replicas import has_strategy, update_by_mean, variables_beside

__all__ = ["ExponentialMovingAverage", "assign_moving_average", "weighted_moving_average"]

_AVERAGED_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


class ExponentialMovingAverage:
    """Keeps shadow variables: shadow = decay * shadow + (1 - decay) * variable.

    >>> averages = tf.train.ExponentialMovingAverage(decay=0.999)
    >>> with tf.control_dependencies([train]):
    ...     train = averages.apply([w, b])

    `num_updates` (a step count) lowers the decay at first, to (1 + num_updates) / (10 +
    num_updates). `zero_debias` corrects the averages of tensors for starting at zero.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Sequence[Any] | None = None) -> Operation:
        """The operation that updates all shadows; makes those that are missing.

        `var_list` are variables, whose shadows start at their initial value, and tensors, whose
        shadows start at zero; by default all trainable variables.
        """
        averaged = trainable_variables() if var_list is None else list(var_list)
        debiased = set()
        for var in averaged:
            if var.dtype.base_dtype not in _AVERAGED_TYPES:
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if var not in self._averages:
                # Shadows outlive the step being built: they must not wait for its control inputs.
                with get_default_graph().control_dependencies(None):
                    self._averages[var] = self._make_shadow(var)
                if self._zero_debias and not isinstance(var, Variable):
                    debiased.add(var)
        with name_scope(self._name) as scope:
            decay = self._effective_decay()
            updates = [
                assign_moving_average(self._averages[var], var, decay, zero_debias=var in debiased)
                for var in averaged
            ]
            return group(*updates, name=scope)

    def _make_shadow(self, var: Any) -> Any:
        if isinstance(var, Variable):
            shadow = slots.create_slot(var, var.initialized_value(), self._name)
            get_default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return shadow
        is_variable = var.op.type in ("Variable", "VariableV2", "VarHandleOp")
        return slots.create_zeros_slot(var, self._name, colocate_with_primary=is_variable)

    def _effective_decay(self) -> Tensor:
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        updates = cast(self._num_updates, dtypes.float32, name="num_updates")
        return minimum(decay, (1.0 + updates) / (10.0 + updates))

    def average(self, var: Any) -> Any:
        """The shadow variable of `var`; None where `apply` has not been called with it."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of the shadow of `var`, whether it exists yet or not: for checkpoints."""
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(
        self, moving_avg_variables: Sequence[Any] | None = None
    ) -> dict[str, Any]:
        """A map for `tf.train.Saver` that reads averages into the variables themselves.

        `moving_avg_variables` (by default the trainable ones and those that have an average) are
        read from their averages' names, all others from their own.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [*trainable_variables(), *moving_average_variables()]
        averaged = list(dict.fromkeys(moving_avg_variables))
        found = {self.average_name(var): var for var in averaged}
        names = {var.name for var in averaged}
        for var in global_variables():
            if var.name not in names and var.op.name not in found:
                found[var.op.name] = var
        return found


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Sets `variable` to variable * decay + value * (1 - decay).

    With `zero_debias` the average starts at zero and is divided by 1 - decay^steps; its sum and
    step count are variables of their own beside `variable`. The replicas of a strategy move it by
    the mean of their values.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        weight = convert_to_tensor(1.0 - decay, name="decay")
        if weight.dtype is not variable.dtype.base_dtype:
            weight = cast(weight, variable.dtype.base_dtype)

        # Each device of a strategy has an update, in a scope of its own.
        final_name = None if has_strategy() else scope
        if not zero_debias:

            def moved(own: Any, by: Any) -> Any:
                return assign_sub(own, (own - by) * weight, name=final_name)

            return update_by_mean(variable, moved, value)

        def moved_from_zero(own: Any, by: Any, biased: Any, steps: Any) -> Any:
            return assign(own, _debiased(biased, steps, by, weight), name=final_name)

        return update_by_mean(variable, moved_from_zero, value, _debias_variables)


def _debias_variables(variable: Any) -> tuple[Any, Any]:
    """The biased average and the step count of an average that starts at zero."""
    dtype = variable.dtype.base_dtype
    with (
        variable_scope(variable.op.name, values=[variable]),
        variables_beside(variable),
    ):
        biased = get_variable(
            _unused("biased"),
            shape=variable.get_shape(),
            dtype=dtype,
            initializer=zeros_initializer(),
            trainable=False,
        )
        steps = get_variable(
            _unused("local_step"),
            shape=[],
            dtype=dtype,
            initializer=zeros_initializer(),
            trainable=False,
        )
    return biased, steps


def _debiased(biased: Any, steps: Any, value: Any, weight: Tensor) -> Tensor:
    """Updates a biased average and a step count; returns the average without the bias."""
    average = assign_sub(biased, (biased - value) * weight)
    count = assign_add(steps, 1)
    return average / (1 - pow(1.0 - weight, count))


def _unused(name: str) -> str:
    """A variable name that the current variable scope does not have yet, unless it is reused."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {var.op.name for var in scope.global_variables()}
    candidate, suffix = name, 0
    while f"{scope.name}/{candidate}" in taken:
        suffix += 1
        candidate = f"{name}_{suffix}"
    return candidate


def weighted_moving_average(
    value: Any,
    decay: Any,
    weight: Any,
    truediv: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """The moving average of value * weight over the moving average of weight."""
    settings: dict[str, Any] = {
        "initializer": zeros_initializer(),
        "trainable": False,
        "collections": collections or [GraphKeys.GLOBAL_VARIABLES],
    }
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        weighted = get_variable(
            "value_x_weight",
            shape=value.get_shape(),
            dtype=value.dtype.base_dtype,
            **settings,
        )
        weights = get_variable(
            "weight", shape=weight.get_shape(), dtype=weight.dtype.base_dtype, **settings
        )
        numerator = assign_moving_average(weighted, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        quotient = true_divide if truediv else divide
        return quotient(numerator, denominator, name=scope.name)
