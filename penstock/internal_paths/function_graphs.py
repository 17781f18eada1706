"""`func_graph` and `function_def_to_graph` of TensorFlow: bodies from Python and from messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import shapes
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, body_graph_def, with_index
from penstock.ir.importer import import_graph_def
from penstock.ops.concrete_functions import FuncGraph as FuncGraph
from penstock.ops.function_tracing import (  # noqa: F401
    UnknownArgument,
    convert_structure_to_signature,
    func_graph_from_py_func,
)


def function_def_to_graph(
    fdef: Any, input_shapes: Sequence[Any] | None = None, copy_functions: bool = True
) -> FuncGraph:
    """The body of a FunctionDef; the functions that it calls are those of the default graph."""
    outer = get_default_graph()
    graph = FuncGraph(fdef.signature.name)
    _check_shapes(fdef, input_shapes)
    messages = [each and shapes.as_shape(each).as_proto() for each in input_shapes or ()]
    graph_def, arguments, results = body_graph_def(fdef, {}, outer._functions, messages)
    with graph.as_default():
        wanted = [f"{name}:0" for name in arguments] + [with_index(text) for text in results]
        found = import_graph_def(graph_def, name="", return_elements=wanted) or []
    graph.inputs = found[: len(arguments)]
    graph.outputs = found[len(arguments) :]
    graph.structured_outputs = list(graph.outputs)
    return graph


def function_def_to_graph_def(
    fdef: Any, input_shapes: Sequence[Any] | None = None, copy_functions: bool = True
) -> tuple[Any, dict[str, str]]:
    """The nodes of a FunctionDef as a GraphDef, and what each of its tensors is called there."""
    _check_shapes(fdef, input_shapes)
    library = get_default_graph()._functions
    messages = [each and shapes.as_shape(each).as_proto() for each in input_shapes or ()]
    graph_def, arguments, _ = body_graph_def(fdef, {}, library, messages)
    names: dict[str, str] = {}
    for place, argument in enumerate(graph_def.node[: len(arguments)]):
        names |= {argument.name: f"{argument.name}:0", f"^{argument.name}": f"^{argument.name}"}
        if not messages or messages[place] is None:
            del argument.attr["shape"]
        for key, value in fdef.arg_attr[place].attr.items() if place in fdef.arg_attr else ():
            argument.attr[key].CopyFrom(value)
    for node in graph_def.node:
        node.input[:] = [text if text[0] == "^" else with_index(text) for text in node.input]
    if copy_functions:
        graph_def.library.function.extend(each.definition for each in library.values())
    for node in fdef.node_def:
        names |= _tensor_names(node, library)
    return graph_def, names


def _tensor_names(node: Any, library: dict[str, Function]) -> dict[str, str]:
    """The results of a node: `node:result:number` in a function is `node:number` in a graph."""
    from penstock.ir.attr_codec import decode
    from penstock.ir.function import find_spec

    spec = find_spec(node.op, library)
    if spec is None:
        raise ValueError(f"Op type not registered '{node.op}'")
    values = {key: decode(value) for key, value in node.attr.items()}
    found, place = {f"^{node.name}": f"^{node.name}"}, 0
    for result in spec.outputs:
        for number in range(result.count(values)):
            found[f"{node.name}:{result.name}:{number}"] = f"{node.name}:{place}"
            place += 1
    return found


def _check_shapes(fdef: Any, input_shapes: Sequence[Any] | None) -> None:
    wanted = len(fdef.signature.input_arg)
    if input_shapes is not None and len(input_shapes) != wanted:
        raise ValueError(
            "Length of input_shapes must match the number of input_args. "
            f"len(input_shapes): {len(input_shapes)} len(input_arg): {wanted}"
        )
