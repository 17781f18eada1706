"""Transforms that leave out nodes, devices and attributes, or put them in order."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, errors
from penstock.ir import registry
from penstock.ir.attr_codec import encode
from penstock.proto import GraphDef, NodeDef
from penstock.tools.graph_transforms.edges import copy_of, only, redirect, source
from penstock.tools.graph_transforms.request import Request


def needed(graph_def: Any, request: Request) -> set[str]:
    """The names of the nodes between the inputs and the outputs."""
    nodes = {node.name: node for node in graph_def.node}
    found: set[str] = set()
    pending = [source(name) for name in request.outputs]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        if name not in nodes:
            raise errors.InvalidArgumentError(None, None, f"Input node {name} not found in graph")
        found.add(name)
        if name not in request.inputs:
            pending += [source(text) for text in nodes[name].input]
    return found | (set(request.inputs) & nodes.keys())


def strip_unused_nodes(graph_def: Any, request: Request) -> Any:
    """Keeps what is between inputs and outputs; inputs that compute something are placeholders."""
    result = only(graph_def, needed(graph_def, request))
    kinds = _placeholders(request)
    for node in result.node:
        if node.name in kinds and node.op not in ("Placeholder", "PlaceholderV2"):
            dtype, sizes = kinds[node.name]
            node.CopyFrom(NodeDef(name=node.name, op="Placeholder"))
            node.attr["dtype"].type = dtype.as_datatype_enum
            node.attr["shape"].shape.SetInParent()
            for size in sizes:
                node.attr["shape"].shape.dim.add(size=size)
    return result


def _placeholders(request: Request) -> dict[str, tuple[Any, list[int]]]:
    """The type and shape of each input's placeholder."""
    shape = request.text("shape", "")
    default = _dtype(request.text("type", "float")), _sizes(shape, request) if shape else []
    kinds = dict.fromkeys(request.inputs, default)
    names, types = request.several("name"), request.several("type_for_name")
    shapes = request.several("shape_for_name")
    if len(types) not in (0, len(names)) or len(shapes) not in (0, len(names)):
        request.refuse(
            "strip_unused_nodes expects a 'type_for_name' and a 'shape_for_name' for each 'name'"
        )
    for place, name in enumerate(names):
        dtype, sizes = kinds.get(name, default)
        kinds[name] = (
            _dtype(types[place]) if types else dtype,
            _sizes(shapes[place], request) if shapes else sizes,
        )
    return kinds


def _dtype(text: str) -> Any:
    return dtypes.as_dtype("float32" if text == "float" else text)


def _sizes(text: str, request: Request) -> list[int]:
    if not text:
        request.refuse("Specificed shape is empty.")
    try:
        return [int(size) for size in text.split(",")]
    except ValueError:
        request.refuse(f"Could not parse '{text}' as a shape")


def remove_nodes(graph_def: Any, request: Request) -> Any:
    """Leaves out nodes of some types that pass something on: their users take their input."""
    removed_types = request.several("op")
    if not removed_types:
        request.refuse(
            "remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)"
        )
    most = request.number("max_inputs", 1)
    outputs = {source(name) for name in request.outputs}
    passed = {
        node.name: node.input[0]
        for node in graph_def.node
        if node.op in removed_types and 1 <= len(node.input) <= most and node.name not in outputs
    }
    result = GraphDef()
    result.node.extend(node for node in graph_def.node if node.name not in passed)

    def before(text: str) -> str:
        while source(text) in passed:
            found = passed[source(text)]
            text = f"^{source(found)}" if text.startswith("^") else found
        return text

    redirect(result, before)
    return result


def remove_control_dependencies(graph_def: Any, request: Request) -> Any:
    """Leaves out control inputs."""
    result = copy_of(graph_def)
    for node in result.node:
        data = [text for text in node.input if not text.startswith("^")]
        del node.input[:]
        node.input.extend(data)
    return result


def remove_device(graph_def: Any, request: Request) -> Any:
    """Leaves out the devices of all nodes."""
    result = copy_of(graph_def)
    for node in result.node:
        node.device = ""
    return result


def set_device(graph_def: Any, request: Request) -> Any:
    """Puts all nodes on a device, or those that have none."""
    device, if_default = request.text("device", ""), request.flag("if_default", False)
    result = copy_of(graph_def)
    for node in result.node:
        if not (if_default and node.device):
            node.device = device
    return result


def remove_attribute(graph_def: Any, request: Request) -> Any:
    """Leaves out an attribute of the nodes of a type, or of all."""
    (name,) = request.required(
        "'attribute_name' argument, e.g. remove_attribute(op_name=Mul, attribute_name=foo)",
        "attribute_name",
    )
    op_type = request.text("op_name", "*")
    result = copy_of(graph_def)
    for node in result.node:
        if op_type in ("*", node.op):
            node.attr.pop(name, None)
    return result


def add_default_attributes(graph_def: Any, request: Request) -> Any:
    """Writes the attributes that nodes have by default."""
    result = copy_of(graph_def)
    for node in result.node:
        spec = registry.find(node.op)
        for attr in spec.attrs.values() if spec is not None else ():
            if attr.has_default and attr.name not in node.attr:
                node.attr[attr.name].CopyFrom(encode(attr.default, attr.kind))
    return result


def merge_duplicate_nodes(graph_def: Any, request: Request) -> Any:
    """Computes equal nodes once, those that become equal thereby, too."""
    result = copy_of(graph_def)
    kept_names = {source(name) for name in (*request.inputs, *request.outputs)}
    while True:
        first: dict[bytes, str] = {}
        merged: dict[str, str] = {}
        for node in result.node:
            spec = registry.find(node.op)
            if node.name in kept_names or spec is None or spec.is_stateful:
                continue
            nameless = NodeDef()
            nameless.CopyFrom(node)
            nameless.name = ""
            found = first.setdefault(nameless.SerializeToString(deterministic=True), node.name)
            if found != node.name:
                merged[node.name] = found
        if not merged:
            return result
        result = only(result, {node.name for node in result.node} - merged.keys())

        def instead(text: str, merged: dict[str, str] = merged) -> str:
            name = source(text)
            return text.replace(name, merged[name], 1) if name in merged else text

        redirect(result, instead)


def sort_by_execution_order(graph_def: Any, request: Request) -> Any:
    """Puts nodes behind those that they take something from."""
    nodes = {node.name: node for node in graph_def.node}
    done: dict[str, None] = {}
    for start in nodes:
        pending = [start]
        while pending:
            name = pending[-1]
            missing = [s for s in map(source, nodes[name].input) if s not in done]
            # A loop's NextIteration comes after the Merge that takes it.
            missing = [s for s in missing if nodes[s].op not in ("NextIteration",)]
            if not missing or name in done:
                pending.pop()
                done.setdefault(name)
            elif len(pending) > len(nodes):
                raise errors.InvalidArgumentError(
                    None, None, f"The graph has a cycle through {name}"
                )
            else:
                pending.append(missing[0])
    result = GraphDef()
    result.node.extend(nodes[name] for name in done)
    return result
