"""What `tensorflow.python.ops.variable_scope` has besides the public API."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.ops.variable_scope import VariableScope, default_store, variable_scope
from penstock.ops.variables import Variable as variable

__all__ = ["_get_default_variable_store", "_pure_variable_scope", "variable"]

_get_default_variable_store = default_store


def _pure_variable_scope(
    name_or_scope: Any, *args: Any, **kwargs: Any
) -> AbstractContextManager[VariableScope]:
    """A variable scope that opens no name scope."""
    kwargs.pop("old_name_scope", None)
    kwargs["auxiliary_name_scope"] = False
    return variable_scope(name_or_scope, *args, **kwargs)
