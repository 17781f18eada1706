"""The variables of a graph as collections, and the operations that initialize and check them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import logical_not
from penstock.ops.constants import constant
from penstock.ops.control import group, no_op
from penstock.ops.joining import stack
from penstock.ops.masking import boolean_mask
from penstock.ops.shaping import Rank
from penstock.ops.variable_updates import is_variable_initialized

__all__ = [
    "all_variables",
    "assert_variables_initialized",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "trainable_variables",
    "variables_initializer",
]


def _collection(key: str, scope: str | None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables that all tasks share; `scope` is a regex that their names must start with."""
    return _collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """The old name of `tf.global_variables`."""
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    """The variables that a task keeps for itself: counters of epochs and the like."""
    return _collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that inference needs, as far as the model says so."""
    return _collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers train by default."""
    return _collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables whose moving averages are kept."""
    return _collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# Initializing ---------------------------------------------------------------------------------


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that runs the initializers of all variables in `var_list`."""
    if not var_list:
        return no_op(name=name)
    return group(*[variable.initializer for variable in var_list], name=name)


def global_variables_initializer() -> Operation:
    """An operation that initializes all global variables.

    >>> sess.run(tf.global_variables_initializer())
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """An operation that initializes all local variables."""
    return variables_initializer(local_variables())


def initialize_variables(var_list: Any, name: str = "init") -> Operation:
    """The old name of `tf.variables_initializer`."""
    return variables_initializer(var_list, name)


def initialize_all_variables() -> Operation:
    """The old name of `tf.global_variables_initializer`."""
    return global_variables_initializer()


def initialize_local_variables() -> Operation:
    """The old name of `tf.local_variables_initializer`."""
    return local_variables_initializer()


# Checking -------------------------------------------------------------------------------------


def _known_variables() -> list[Any]:
    return global_variables() + local_variables()


def _variable_nodes() -> list[Tensor]:
    """The buffers of the reference variables of a graph whose collections are lost."""
    types = ("Variable", "VariableV2", "AutoReloadVariable")
    return [op.outputs[0] for op in get_default_graph().get_operations() if op.type in types]


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """A vector of the names of the variables that have no value yet; empty if all have one."""
    if var_list is None:
        var_list = _known_variables() or _variable_nodes()
    with name_scope(name):
        initialized = [is_variable_initialized(variable) for variable in var_list]
        with get_default_graph().device("/cpu:0"):
            if not var_list:
                return constant([], dtypes.string)
            mask = logical_not(stack(initialized))
            names = constant([variable.op.name for variable in var_list])
            return boolean_mask(names, mask)


def assert_variables_initialized(var_list: Any = None) -> Tensor | None:
    """A tensor that fails with FailedPreconditionError unless the variables have values."""
    if var_list is None:
        var_list = _known_variables()
    var_list = var_list or _variable_nodes()
    if not var_list:
        return None
    ranks = []
    for variable in var_list:
        with get_default_graph().colocate_with(variable.op):
            ranks.append(Rank(variable))  # reads the variable, and costs nothing
    return ranks[0] if len(ranks) == 1 else stack(ranks)
