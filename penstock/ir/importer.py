"""`tf.import_graph_def`: a GraphDef's nodes into the default graph.

Nothing that a GraphDef merely names is executed; unknown op types and attrs are refused with the
node's name before anything is added.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock import shapes
from penstock.ir.apply import coerce, complete_attrs, output_types
from penstock.ir.attr_codec import decode
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, add_function, find_spec
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor

_INPUT = re.compile(r"^(\^?)([^:]+?)(?::(\d+))?$")


@dataclass
class _Import:
    """One import under way: what is known of each node of the GraphDef."""

    graph: Graph
    nodes: dict[str, Any]
    prefix: str
    input_map: dict[str, Any]
    made: dict[str, Operation] = field(default_factory=dict)
    used_keys: set[str] = field(default_factory=set)
    back_edges: list[tuple[str, int, str, int]] = field(default_factory=list)


def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of `graph_def` to the default graph, in the scope `name` ("import" if None).

    `input_map` replaces inputs by tensors of the graph; `return_elements` names the operations and
    tensors of `graph_def` to return.
    """
    wanted = _checked_elements(return_elements)
    graph = get_default_graph()
    for message in _library(graph_def):
        add_function(graph, Function(message.signature.name, message))
    nodes = _checked_nodes(graph_def, graph)
    mapped = _checked_map(input_map or {})
    with graph.name_scope("import" if name is None else name or None) as scope:
        work = _Import(graph, nodes, scope, mapped)
        if not name and name is not None:
            _refuse_clashes(work)
        for key in _topological(work):
            work.made[key] = _add_node(work, nodes[key])
        for consumer, index, producer, output in work.back_edges:
            work.made[consumer]._update_input(index, work.made[producer].outputs[output])
    missing = [key for key in sorted(mapped) if not _is_there(work, key)]
    if missing:
        raise ValueError(
            "Attempted to map inputs that were not found in graph_def: "
            + ", ".join(f"[{key}]" for key in missing)
        )
    return None if wanted is None else [_element(work, entry) for entry in wanted]


def _library(graph_def: Any) -> Any:
    if not hasattr(graph_def, "node") or not hasattr(graph_def, "library"):
        raise TypeError("graph_def must be a GraphDef proto.")
    return graph_def.library.function


def _checked_nodes(graph_def: Any, graph: Graph) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError(f"Node '{node.name}' is not unique")
        if find_spec(node.op, graph._functions) is None:
            raise ValueError(
                f"Op type not registered '{node.op}' (node '{node.name}'): penstock has no op of "
                "that type; register it with penstock's op() if it is one of your own"
            )
        nodes[node.name] = node
    return nodes


def _checked_elements(elements: Any) -> list[str] | None:
    if elements is None:
        return None
    if isinstance(elements, (str, bytes)) or not all(isinstance(e, (str, bytes)) for e in elements):
        raise TypeError("return_elements must be a list of strings.")
    return [e.decode() if isinstance(e, bytes) else e for e in elements]


def _checked_map(input_map: dict[Any, Any]) -> dict[str, Any]:
    if not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    checked: dict[str, Any] = {}
    for key, value in input_map.items():
        text = key.decode() if isinstance(key, bytes) else key
        is_control = text.startswith("^")
        checked[text] = value if is_control else to_tensor(value, name=text.split(":")[0])
    return checked


def _is_there(work: _Import, key: str) -> bool:
    """Whether a key of the input map names an output of the GraphDef, be it an input or not."""
    if key in work.used_keys:
        return True
    match = _INPUT.match(key)
    if match is None or match[2] not in work.made:
        return False
    return bool(match[1]) or int(match[3] or 0) < len(work.made[match[2]].outputs)


def _refuse_clashes(work: _Import) -> None:
    for key in work.nodes:
        if key in work.graph._nodes_by_name:
            raise ValueError(f"Node name '{key}' already exists in the Graph")


def _split(node: Any, text: str) -> tuple[bool, str, int]:
    match = _INPUT.match(text)
    if match is None:
        raise ValueError(f"Node '{node.name}': input {text!r} is not a valid input name")
    return bool(match[1]), match[2], int(match[3] or 0)


def _mapped_key(work: _Import, source: str, output: int, is_control: bool) -> str | None:
    if is_control:
        names: Iterable[str] = (f"^{source}",)
    else:
        names = (f"{source}:{output}", *((source,) if output == 0 else ()))
    for key in names:
        if key in work.input_map:
            work.used_keys.add(key)
            return key
    return None


def _topological(work: _Import) -> list[str]:
    """Node names with producers first; a loop's back edge (NextIteration → Merge) doesn't count."""
    waiting: dict[str, int] = {}
    consumers: dict[str, list[str]] = {}
    for key, node in work.nodes.items():
        waiting[key] = 0
        for text in node.input:
            is_control, source, output = _split(node, text)
            if _mapped_key(work, source, output, is_control) is not None:
                continue
            if source not in work.nodes:
                raise ValueError(
                    f"Node '{key}' expects to be fed from '{text}', but '{source}' is not a node "
                    "of the GraphDef"
                )
            if _is_back_edge(work, node, source):
                continue
            waiting[key] += 1
            consumers.setdefault(source, []).append(key)
    keys = list(work.nodes)
    rank = {key: i for i, key in enumerate(keys)}
    ready = [rank[key] for key in keys if waiting[key] == 0]  # in the order of the GraphDef
    ordered: list[str] = []
    while ready:
        key = keys[heapq.heappop(ready)]
        ordered.append(key)
        for consumer in consumers.get(key, ()):
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, rank[consumer])
    if len(ordered) != len(work.nodes):
        stuck = [key for key, count in waiting.items() if count > 0]
        raise ValueError(f"the graph couldn't be sorted: a cycle runs through {stuck[:5]}")
    return ordered


def _is_back_edge(work: _Import, node: Any, source: str) -> bool:
    return node.op in ("Merge", "RefMerge") and work.nodes[source].op in (
        "NextIteration",
        "RefNextIteration",
    )


def _add_node(work: _Import, node: Any) -> Operation:
    spec = find_spec(node.op, work.graph._functions)
    assert spec is not None
    inputs, controls = _resolve_inputs(work, node)
    attrs = _attrs(spec, node, work.prefix)
    output_shapes = attrs.pop("_output_shapes", None)
    _check_input_types(spec, node, inputs, attrs)
    name = f"{work.prefix}{node.name}"
    work.graph._names.take(name)
    with work.graph.device(node.device or (lambda op: op._device)):
        op = work.graph._add(spec, name, inputs, attrs, output_types(spec, attrs), controls)
    if output_shapes and len(output_shapes) == len(op.outputs):
        for tensor, shape in zip(op.outputs, output_shapes, strict=True):
            if shapes.compatible(tensor._shape, shape):
                tensor._shape = shapes.merge(tensor._shape, shape)
    return op


def _resolve_inputs(work: _Import, node: Any) -> tuple[tuple[Tensor, ...], list[Operation]]:
    tensors: list[Tensor | None] = []
    controls: list[Operation] = []
    for text in node.input:
        is_control, source, output = _split(node, text)
        key = _mapped_key(work, source, output, is_control)
        if is_control:
            element = work.graph._control_op(work.input_map[key]) if key else work.made[source]
            controls.append(element)
        elif key is not None:
            tensors.append(work.input_map[key])
        elif source not in work.made:
            work.back_edges.append((node.name, len(tensors), source, output))
            tensors.append(None)
        else:
            outputs = work.made[source].outputs
            if output >= len(outputs):
                raise ValueError(
                    f"Node '{node.name}': input '{text}' names output {output} of '{source}', "
                    f"which has {len(outputs)}"
                )
            tensors.append(outputs[output])
    # Until a back edge is closed its place is held by the loop's first value.
    held = next((tensor for tensor in tensors if tensor is not None), None)
    return tuple(held if t is None else t for t in tensors), controls  # type: ignore[misc]


def _attrs(spec: OpSpec, node: Any, prefix: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for key, message in node.attr.items():
        try:
            value = decode(message)
        except (ValueError, TypeError) as error:
            raise ValueError(f"Node '{node.name}': attr '{key}': {error}") from None
        if key in spec.attrs:
            # A list of no entries has lost its kind in the message; the declaration knows it.
            values[key] = coerce(spec, spec.attrs[key], value) if value is not None else None
        elif key == "_class":
            values[key] = [_prefixed_group(group, prefix) for group in value]
        elif key.startswith("_"):
            values[key] = value
        # An attr that the op no longer has or does not have yet is dropped, as TensorFlow does
        # for attrs that hold their default.
    try:
        complete_attrs(spec, given, values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Node '{node.name}': NodeDef {error}") from None
    return values


def _prefixed_group(group: str, prefix: str) -> str:
    return f"loc:@{prefix}{group[5:]}" if group.startswith("loc:@") else group


def _check_input_types(
    spec: OpSpec, node: Any, inputs: tuple[Tensor, ...], attrs: dict[str, Any]
) -> None:
    expected = [(arg.name, dtype) for arg in spec.inputs for dtype in arg.types(attrs)]
    if len(expected) != len(inputs):
        raise ValueError(
            f"Node '{node.name}': {spec.name} takes {len(expected)} inputs, the GraphDef gives "
            f"{len(inputs)}"
        )
    for (name, dtype), tensor in zip(expected, inputs, strict=True):
        if tensor.dtype.base_dtype is not dtype.base_dtype:
            raise ValueError(
                f"Input '{name}' of node '{node.name}' was passed {tensor.dtype.base_dtype.name} "
                f"from {tensor.name} incompatible with expected {dtype.name}."
            )


def _element(work: _Import, text: str) -> Any:
    is_control, source, output = _split(_Named(text), text)
    op = work.made.get(source)
    if op is None or is_control:
        raise ValueError(f"Requested return_element {text!r} not found in graph_def.")
    if ":" not in text:
        return op
    if output >= len(op.outputs):
        raise ValueError(f"Requested return_element {text!r} has no such output.")
    return op.outputs[output]


@dataclass
class _Named:
    name: str
