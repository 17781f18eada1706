"""The transform that prints what nodes give."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.proto import GraphDef, NodeDef
from penstock.tools.graph_transforms.edges import consumers, place, redirect, source
from penstock.tools.graph_transforms.request import Request


def insert_logging(graph_def: Any, request: Request) -> Any:
    """Puts a Print between chosen nodes and those that use them."""
    types, prefixes = request.several("op"), request.several("prefix")
    used = consumers(graph_def)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    result = GraphDef()
    printed: dict[str, str] = {}
    for node in graph_def.node:
        result.node.add().CopyFrom(node)
        chosen = not (types or prefixes) or node.op in types
        chosen = chosen or any(node.name.startswith(prefix) for prefix in prefixes)
        outputs = graph.get_operation_by_name(node.name).outputs
        if chosen and outputs and used[node.name]:
            made = _print(node, outputs, request)
            printed[node.name] = made.name
            result.node.add().CopyFrom(made)
    of_prints = {name: list(_node(result, name).input) for name in printed.values()}

    def through_print(text: str) -> str:
        if place(text) == 0 and source(text) in printed:
            return f"{printed[source(text)]}:0"
        return text

    redirect(result, through_print)
    for name, texts in of_prints.items():
        node = _node(result, name)
        del node.input[:]
        node.input.extend(texts)
    return result


def _node(graph_def: Any, name: str) -> Any:
    return next(node for node in graph_def.node if node.name == name)


def _print(node: Any, outputs: Any, request: Request) -> Any:
    name = f"{node.name}__print__"
    made = NodeDef(name=name, op="Print", device=node.device)
    made.input.extend([f"{node.name}:0", *(f"{node.name}:{i}" for i in range(len(outputs)))])
    made.attr["T"].type = outputs[0].dtype.as_datatype_enum
    made.attr["U"].list.type.extend(output.dtype.as_datatype_enum for output in outputs)
    said = f";{node.op};" if request.flag("show_op", False) else ""
    said += f";{name};" if request.flag("show_name", False) else ""
    made.attr["message"].s = (said + request.text("message", "")).encode()
    made.attr["first_n"].i = request.number("first_n", -1)
    made.attr["summarize"].i = request.number("summarize", 1024)
    return made
