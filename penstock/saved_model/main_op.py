"""`tf.saved_model.main_op`: the operation that runs when a SavedModel is loaded."""

from __future__ import annotations

from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ops.control import group, no_op
from penstock.ops.variable_collections import (
    global_variables_initializer,
    local_variables_initializer,
)

__all__ = ["main_op", "main_op_with_restore"]


def _tables_initializer(name: str = "init_all_tables") -> Operation:
    initializers = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


def main_op() -> Operation:
    """An operation that initializes all variables and tables."""
    return group(
        global_variables_initializer(), local_variables_initializer(), _tables_initializer()
    )


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """`main_op`, followed by the operation of that name."""
    graph = get_default_graph()
    with graph.control_dependencies([main_op()]):
        restore = restore_op_name
        if isinstance(restore, str):
            restore = graph.get_operation_by_name(restore)
        return group(restore)
