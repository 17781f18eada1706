"""Initial values that read other variables.

`tf.Variable(v + 1)` would fail where `v` is initialized in the same step, or after it. So an
initial value is rebuilt: where it reads a reference variable, it takes the variable's value if it
has one and the variable's own initial value if not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock import dtypes
from penstock.ir import registry
from penstock.ir.apply import output_types
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

if TYPE_CHECKING:
    from penstock.ops.variables import Variable

# Nodes that may read or ask about a variable without a value, or whose reads order themselves.
_LEFT_ALONE = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def initialized_value(variable: Variable) -> Tensor:
    """The value of `variable` if it has one when the step runs, else its initial value."""
    from penstock.ops.conditionals import cond
    from penstock.ops.variable_updates import is_variable_initialized

    with get_default_graph().control_dependencies(None):
        value: Tensor = cond(
            is_variable_initialized(variable),
            variable.read_value,
            lambda: variable.initial_value,
        )
    return value


def without_uninitialized_reads(initial_value: Tensor, variable_name: str) -> Tensor:
    """`initial_value` of the variable of that name, rebuilt so that it needs no other variable."""
    rebuilt: dict[Operation, Operation] = {}
    for op in _producers_first(initial_value.op):
        rebuilt[op] = _rebuilt(op, rebuilt, variable_name)
    if initial_value.op not in rebuilt:
        return initial_value  # a loop: its nodes can't be rebuilt one by one
    return rebuilt[initial_value.op].outputs[initial_value.value_index]


def _producers_first(target: Operation) -> Iterator[Operation]:
    """The nodes that `target` is computed from and itself; nothing where they form a cycle."""
    ordered: list[Operation] = []
    done: set[Operation] = set()
    open_nodes: set[Operation] = {target}
    pending = [(target, _read_by(target))]
    while pending:
        op, inputs = pending[-1]
        producer = next((t.op for t in inputs if t.op not in done), None)
        if producer is None:
            pending.pop()
            done.add(op)
            ordered.append(op)
        elif producer in open_nodes:
            return iter(())
        else:
            open_nodes.add(producer)
            pending.append((producer, _read_by(producer)))
    return iter(ordered)


def _read_by(op: Operation) -> Iterator[Tensor]:
    return iter(() if op.type in _LEFT_ALONE else op.inputs)


def _rebuilt(op: Operation, rebuilt: dict[Operation, Operation], variable_name: str) -> Operation:
    if op.type in _LEFT_ALONE:
        return op
    if op.type in _VARIABLES:
        value = _initialized_value_of(op)
        return op if value is None else value.op
    inputs = tuple(rebuilt[tensor.op].outputs[tensor.value_index] for tensor in op.inputs)
    if inputs == tuple(op.inputs):
        return op
    spec: Any = registry.find("Switch") if op.type == "RefSwitch" else op.spec
    handles = any(tensor.dtype.base_dtype is dtypes.resource for tensor in op.inputs)
    if handles or any(arg.is_ref for arg in spec.inputs):
        return op  # it may write to the variable, so it needs the variable itself
    graph = op.graph
    name = graph._names.take(f"{op.name}_{variable_name}")
    attrs = dict(op.attrs)
    return graph._add(spec, name, inputs, attrs, output_types(spec, attrs))


def _initialized_value_of(op: Operation) -> Tensor | None:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if variable.name == f"{op.name}:0":
                return initialized_value(variable)
    return None
