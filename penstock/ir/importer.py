"""`tf.import_graph_def`: a GraphDef's nodes into the default graph.

Nothing that a GraphDef merely names is executed. What can't be imported is refused with the node's
name, and leaves the graph as it was.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock import errors, shapes
from penstock.ir import import_checks as checks
from penstock.ir import scopes
from penstock.ir.apply import coerce, complete_attrs, output_types
from penstock.ir.attr_codec import decode
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import add_library, find_spec
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor


@dataclass
class _Import:
    """One import under way: what is known of each node of the GraphDef, by its name there."""

    graph: Graph
    nodes: dict[str, Any]
    prefix: str
    input_map: dict[str, Any]
    extends: bool = False  # nodes may stand beside those that the graph has
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)  # that nodes come without
    names: dict[str, str] = field(default_factory=dict)
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

    Args:
      graph_def: the GraphDef message.
      input_map: tensors of the graph to use in the place of tensors of the GraphDef, by name.
      return_elements: names of the operations and tensors to return.
      name: prefix of the new names; a name that is taken already gets a suffix.
      op_dict: not used.
      producer_op_list: the op definitions of the program that wrote the GraphDef; attrs that only
        they have are left out where they hold their defaults.
    """
    graph_def = checks.as_graph_def(graph_def)
    wanted = checks.elements(return_elements)
    checks.versions(graph_def.versions)
    graph = get_default_graph()
    nodes = _known_nodes(graph, graph_def)
    future = checks.defaults_of_producer(producer_op_list)
    prefix = "import" if name is None else name or None
    # Nodes of other threads must not come between: a failed import takes back what it has added.
    with graph._lock, graph.name_scope(prefix) as scope:
        mapped = _converted_map(input_map or {}, has_scope=bool(scope))
        work = _Import(graph, nodes, scope, mapped)
        _choose_names(work)
        return _add_all(work, graph_def.versions, future, wanted)


def extend_graph(
    graph: Graph, graph_def: Any, constants: Mapping[str, np.ndarray] | None = None
) -> None:
    """Adds the nodes of `graph_def`, under their own names, which may use those of `graph`.

    It is how a session grows that has its graph from a client. Some nodes may come without the
    values of their `constants`.
    """
    checks.versions(graph_def.versions)
    nodes = _known_nodes(graph, graph_def)
    with graph._lock, graph.as_default():
        taken = next((name for name in nodes if name in graph._nodes_by_name), None)
        if taken is not None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"GraphDef argument to Extend includes node '{taken}', which was created by a "
                "previous call to Create or Extend in this session.",
            )
        work = _Import(graph, nodes, "", _elements_used(graph, nodes), extends=True)
        work.constants = constants or {}
        work.names = {name: name for name in nodes}
        _add_all(work, graph_def.versions, {}, None)


def _known_nodes(graph: Graph, graph_def: Any) -> dict[str, Any]:
    """The nodes of a GraphDef by name, whose ops are known, its functions being so from now on."""
    try:
        add_library(graph, graph_def.library)
    except errors.InvalidArgumentError as error:
        raise ValueError(error.message) from None
    nodes = {}
    for node in checks.unique_nodes(graph_def):
        if find_spec(node.op, graph._functions) is None:
            raise errors.NotFoundError(None, None, checks.unknown_op(node))
        nodes[node.name] = node
    return nodes


def _elements_used(graph: Graph, nodes: dict[str, Any]) -> dict[str, Any]:
    """The tensors and operations of `graph` that new nodes name as their inputs."""
    used: dict[str, Any] = {}
    for node in nodes.values():
        for text, (is_control, source, output) in checks.parsed_inputs(node):
            if source in nodes:
                continue
            op = graph._nodes_by_name.get(source)
            if op is None:
                raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
            if is_control:
                used[f"^{source}"] = op
                continue
            if output >= len(op.outputs):
                raise ValueError(
                    f"Node '{node.name}': Connecting to invalid output {output} of source node "
                    f"{source} which has {len(op.outputs)} outputs"
                )
            used[f"{source}:{output}"] = op.outputs[output]
    return used


def _add_all(
    work: _Import, made_by: Any, future: checks.ProducerDefaults, wanted: Sequence[str] | None
) -> list[Any] | None:
    """Adds the nodes of an import, or none of them; the elements that are `wanted` of them."""
    graph = work.graph
    before = graph.version
    outer_devices = graph._scopes.devices
    versions = graph._merge_versions(made_by)
    try:
        with graph._scopes.setting(devices=[]):
            for key in _topological(work):
                work.made[key] = _add_node(work, work.nodes[key], future)
        for consumer, index, producer, output in work.back_edges:
            source = _output(work, work.nodes[consumer], producer, output)
            work.made[consumer]._update_input(index, source)
        _place(work, outer_devices)
        _refuse_unused_keys(work)
        return None if wanted is None else [_element(work, entry) for entry in wanted]
    except BaseException:
        graph._remove_since(before)
        graph._versions = versions
        raise


def _converted_map(input_map: dict[Any, Any], *, has_scope: bool) -> dict[str, Any]:
    given = checks.map_keys(input_map)
    plain = {k: v for k, v in given.items() if not k.startswith("^") and not isinstance(v, Tensor)}
    if plain and not has_scope:
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
            "values. Try calling tf.convert_to_tensor() on `input_map` values before calling "
            "tf.import_graph_def()."
        )
    if plain:
        with get_default_graph().name_scope("_inputs"):
            given.update((key, to_tensor(value)) for key, value in plain.items())
    return given


def _refuse_unused_keys(work: _Import) -> None:
    missing = [key for key in sorted(work.input_map) if not _is_there(work, key)]
    if missing:
        raise ValueError(
            "Attempted to map inputs that were not found in graph_def: "
            + ", ".join(f"[{key}]" for key in missing)
        )


def _is_there(work: _Import, key: str) -> bool:
    """Whether a key of the input map names an output of the GraphDef, be it an input or not."""
    if key in work.used_keys:
        return True
    is_control, source, output = checks.parse_input(key)
    if source not in work.made:
        return False
    return is_control or output < len(work.made[source].outputs)


# Names and order ------------------------------------------------------------------------------


def _choose_names(work: _Import) -> None:
    """Names in the graph: with the prefix, and with a suffix where that name is in use.

    In use are the names of nodes and those of scopes with nodes in them.
    """
    taken: set[str] = set()
    for name in work.graph._nodes_by_name:
        while name and name not in taken and name.startswith(work.prefix):
            taken.add(name)
            name = name.rpartition("/")[0]
    for key in work.nodes:
        chosen, count = f"{work.prefix}{key}", 0
        while chosen in taken or (count and f"{key}_{count}" in work.nodes):
            count += 1
            chosen = f"{work.prefix}{key}_{count}"
        work.names[key] = chosen


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
        for text, (is_control, source, output) in checks.parsed_inputs(node):
            if _mapped_key(work, source, output, is_control) is not None:
                continue
            if source not in work.nodes:
                raise ValueError(f"Node '{key}': Unknown input node '{text}'")
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
        raise ValueError(f"{len(stuck)} nodes in a cycle: it runs through {stuck[:5]}")
    return ordered


def _is_back_edge(work: _Import, node: Any, source: str) -> bool:
    return node.op in ("Merge", "RefMerge") and work.nodes[source].op in (
        "NextIteration",
        "RefNextIteration",
    )


# Nodes ----------------------------------------------------------------------------------------


def _add_node(work: _Import, node: Any, future: checks.ProducerDefaults) -> Operation:
    spec = find_spec(node.op, work.graph._functions)
    assert spec is not None
    name = work.names[node.name]
    inputs, controls = _resolve_inputs(work, node)
    attrs = _attrs(work, spec, node, future)
    output_shapes = attrs.pop("_output_shapes", None)
    checks.input_types(spec, name, inputs, attrs)
    if name not in work.graph._names:
        work.graph._names.take(name)
    op = work.graph._add(spec, name, inputs, attrs, output_types(spec, attrs), controls)
    op._is_imported = True
    if output_shapes and len(output_shapes) == len(op.outputs):
        for tensor, shape in zip(op.outputs, output_shapes, strict=True):
            if shapes.compatible(tensor._shape, shape):
                tensor._shape = shapes.merge(tensor._shape, shape)
            else:
                checks.inconsistent_shape(op, tensor, shape)
    return op


def _resolve_inputs(work: _Import, node: Any) -> tuple[tuple[Tensor, ...], list[Operation]]:
    tensors: list[Tensor | None] = []
    controls: list[Operation] = []
    for _, (is_control, source, output) in checks.parsed_inputs(node):
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
            tensors.append(_output(work, node, source, output))
    # Until a back edge is closed its place is held by the loop's first value.
    held = next((tensor for tensor in tensors if tensor is not None), None)
    return tuple(held if t is None else t for t in tensors), controls  # type: ignore[misc]


def _output(work: _Import, node: Any, source: str, output: int) -> Tensor:
    outputs = work.made[source].outputs
    if output >= len(outputs):
        raise ValueError(
            f"Node '{node.name}': Connecting to invalid output {output} of source node {source} "
            f"which has {len(outputs)} outputs"
        )
    return outputs[output]


def _attrs(
    work: _Import, spec: OpSpec, node: Any, future: checks.ProducerDefaults
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, message in node.attr.items():
        if key not in spec.attrs and not key.startswith("_"):
            checks.future_attr(spec, node, key, message, future)
            continue
        if key in spec.attrs:
            checks.attr_kind(spec, node, key, message)
        try:
            value = decode(message)
        except (ValueError, TypeError) as error:
            raise ValueError(f"Node '{node.name}': attr '{key}': {error}") from None
        if key in spec.attrs:
            # A list of no entries has lost its kind in the message; the declaration knows it.
            values[key] = coerce(spec, spec.attrs[key], value) if value is not None else None
        elif key == "_class":
            values[key] = [_renamed_group(work, node, str(group)) for group in value]
        else:
            values[key] = value
    if node.name in work.constants:
        values["value"] = work.constants[node.name]
    checks.attrs(spec, work.names[node.name], values)
    try:
        complete_attrs(spec, {}, values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Node '{node.name}': NodeDef {error}") from None
    return values


def _renamed_group(work: _Import, node: Any, group: str) -> str:
    if not group.startswith("loc:@"):
        return group
    target = group.removeprefix("loc:@")
    if work.extends and target in work.graph._nodes_by_name:
        return group
    if target not in work.nodes:
        raise ValueError(f"Node '{node.name}' expects to be colocated with unknown node '{target}'")
    return f"loc:@{work.names[target]}"


def _place(work: _Import, outer: list[scopes.DeviceScope]) -> None:
    """Sets devices: of the GraphDef and the scopes, or, if a node is colocated, of its partners.

    Nodes that extend a graph have been placed by who sends them; where that contradicts their
    partners, it is for the placement of a step to say so.
    """
    colocated: dict[Operation, list[str]] = {}
    for key, op in work.made.items():
        partners = [group[5:] for group in op.attrs.get("_class", ()) if group[:5] == "loc:@"]
        partners = [name for name in partners if name != op.name]
        op._device = ""
        if partners and not work.extends:
            colocated[op] = partners
            continue
        own = work.nodes[key].device
        scopes.apply_devices([*outer, scopes.device_scope(own)] if own else outer, op)
    for op, partners in colocated.items():
        found = (work.graph._nodes_by_name[name].device for name in partners)
        op._device = next(filter(None, found), "")


def _element(work: _Import, text: str) -> Any:
    if ":" not in text:
        if text not in work.made:
            raise ValueError(f"Requested return node '{text}' not found in graph def")
        return work.made[text]
    _, source, output = checks.parse_input(text)
    key = _mapped_key(work, source, output, is_control=False)
    if key is not None:
        return work.input_map[key]
    if source in work.made:
        outputs = work.made[source].outputs
        if output >= len(outputs):
            raise ValueError(
                f"Invalid return output {output} of node '{source}', which has {len(outputs)} "
                "output(s)"
            )
        return outputs[output]
    raise ValueError(f"Requested return tensor '{text}' not found in graph def")
