"""`convert_variables_to_constants_v2`: a concrete function whose variables are constants."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, graph_util
from penstock.ops.control import init_scope
from penstock.proto import GraphDef
from penstock.wrapped_functions import function_from_graph_def

__all__ = ["convert_variables_to_constants_v2"]

_READERS = ("ReadVariableOp", "ResourceGather")


def convert_variables_to_constants_v2(func: Any, lower_control_flow: bool = True) -> Any:
    """A function like a concrete one, in which what it captures is constants.

    Args:
      func: the concrete function. Variables that its branches, loops and calls take are refused.
      lower_control_flow: branches and loops stay the nodes that they are.
    """
    values = _captured_values(func)
    graph_def = func.graph.as_graph_def()
    for node in graph_def.node:
        if node.name in values and values[node.name][1]:
            node.op = "VarHandleOp"  # as which `graph_util` knows it
            node.attr["dtype"].type = values[node.name][0].as_datatype_enum
    _check_handles(graph_def, {name for name, (_, is_handle, _) in values.items() if is_handle})
    types = graph_util._types_behind_handles(graph_def, {n.name: n for n in graph_def.node})
    arrays = {name: array for name, (_, _, array) in values.items()}
    frozen = GraphDef(library=graph_def.library, versions=graph_def.versions)
    for node in graph_def.node:
        frozen.node.extend(graph_util._frozen(node, arrays, types))
    inputs = [tensor for tensor in func.inputs if tensor.op.name not in values]
    made = function_from_graph_def(
        frozen, [tensor.name for tensor in inputs], [tensor.name for tensor in func.outputs]
    )
    for new, old in zip(made.inputs, inputs, strict=True):
        new.set_shape(old.shape)
    return made


def _captured_values(func: Any) -> dict[str, tuple[Any, bool, Any]]:
    """The type of each captured value by its node, whether it is behind a handle, and the value."""
    variables = {id(each.handle): each for each in func.graph.variables}
    found = {}
    with init_scope():
        for outer, inner in zip(func.captured_inputs, func.graph.internal_captures, strict=True):
            variable = variables.get(id(outer))
            if variable is not None:
                dtype = variable.dtype.base_dtype
                found[inner.op.name] = (dtype, True, variable.numpy())
            elif outer.dtype not in (dtypes.resource, dtypes.variant):
                found[inner.op.name] = (outer.dtype, False, outer.numpy())
    return found


def _check_handles(graph_def: Any, handles: set[str]) -> None:
    for node in graph_def.node:
        passes_on = node.op in _READERS or node.op in graph_util._PASSED_THROUGH
        if not passes_on and handles & {text.partition(":")[0] for text in node.input}:
            raise NotImplementedError(
                f"{node.op} '{node.name}' takes a variable: only variables that the function reads "
                "itself can be made constants"
            )
