"""What `tensorflow.python.ops.variable_scope` has besides the public API."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.ir.tensor import Tensor
from penstock.ops.initialized_values import without_uninitialized_reads
from penstock.ops.save_slices import PartitionInfo
from penstock.ops.variable_creation import resource_variables_enabled
from penstock.ops.variable_scope import VariableScope, default_store, variable_scope
from penstock.ops.variable_store import VariableStore
from penstock.ops.variables import Variable as variable
from penstock.train.saveables import all_saveable_objects as _all_saveable_objects

__all__ = [
    "_PartitionInfo",
    "_VariableStore",
    "_all_saveable_objects",
    "_get_default_variable_store",
    "_pure_variable_scope",
    "_try_guard_against_uninitialized_dependencies",
    "variable",
]

_get_default_variable_store = default_store
_PartitionInfo = PartitionInfo
_VariableStore = VariableStore


def __getattr__(name: str) -> Any:
    if name == "_DEFAULT_USE_RESOURCE":
        return resource_variables_enabled()
    raise AttributeError(name)


def _try_guard_against_uninitialized_dependencies(name: str, initial_value: Tensor) -> Tensor:
    """The initial value of a variable, rebuilt so that it needs no other variable."""
    if not isinstance(initial_value, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial_value}")
    return without_uninitialized_reads(initial_value, name)


def _pure_variable_scope(
    name_or_scope: Any, *args: Any, **kwargs: Any
) -> AbstractContextManager[VariableScope]:
    """A variable scope that opens no name scope."""
    kwargs.pop("old_name_scope", None)
    kwargs["auxiliary_name_scope"] = False
    return variable_scope(name_or_scope, *args, **kwargs)
