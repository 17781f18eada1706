"""Other initial values for variables that have been made, in however many copies."""

from __future__ import annotations

from typing import Any

from penstock.distribute import context
from penstock.distribute.variables import AggregatingVariable, DistributedVariable
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph


def start_with(variable: Any, value: Any) -> None:
    """Makes a value the initial one of a variable: in all copies, and in the tasks that have some.

    Where several replicas come along here, it is the first that does it for all.
    """
    if isinstance(variable, DistributedVariable):
        replica = context.get_replica_context()
        if replica is None or replica.replica_number == 0:
            _start_copies(variable, value)
    elif isinstance(variable, AggregatingVariable):
        start_with(variable.get(), value)
    else:
        variable._initializer_op = variable.assign(value).op


def _start_copies(variable: DistributedVariable, value: Any) -> None:
    extended = variable.distribute_strategy.extended
    copies: list[Any] = []
    for number, copy in enumerate(variable.values):
        settings = {"initial_value": value, "dtype": copy.dtype}
        initial = extended._initial_value(number, copy.device, copies, settings)
        with get_default_graph().device(copy.device):
            made = initial() if callable(initial) else initial
            copy._initial_value = convert_to_tensor(made, dtype=copy.dtype)
            start_with(copy, copy._initial_value)
        copies.append(copy)
