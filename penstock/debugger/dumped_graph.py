"""The graph of a watched run, and questions about its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.ir import registry

_MERGE = ("Merge", "RefMerge")
_DEBUG_PREFIX = "__dbg_"


def node_and_slot(element: str) -> tuple[str, int]:
    """The node and the output of a name such as "node:1", "node" or "^node"."""
    name, _, slot = element.removeprefix("^").partition(":")
    return name, int(slot) if slot else 0


class DumpedGraph:
    """The part of a graph that one device ran; names of tensors end in ":slot" unless that is 0."""

    def __init__(self, graph_def: Any, device_name: str):
        self.device_name = device_name
        self.debug_graph_def = graph_def
        self.graph_def = graph_def = reconstruct_non_debug_graph_def(graph_def)
        self.nodes: dict[str, Any] = {}
        for node in graph_def.node:
            if node.name in self.nodes:
                raise ValueError(f"Duplicate node name on device {device_name}: '{node.name}'")
            self.nodes[node.name] = node
        self.inputs = {
            name: [each for each in node.input if not each.startswith("^")]
            for name, node in self.nodes.items()
        }
        self.controls = {
            name: [each[1:] for each in node.input if each.startswith("^")]
            for name, node in self.nodes.items()
        }
        self.recipients = self._reversed(self.inputs)
        self.control_recipients = self._reversed(self.controls)

    def _reversed(self, edges: dict[str, list[str]]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self.nodes}
        for name, sources in edges.items():
            for source in sources:
                found.setdefault(node_and_slot(source)[0], []).append(name)
        return found

    def reference_users(self, name: str) -> list[str]:
        """The nodes that take a reference to this one, and may so change its value."""
        found = []
        for user in dict.fromkeys(self.recipients.get(name, [])):
            node = self.nodes[user]
            if any(node_and_slot(each)[0] == name for each in _reference_inputs(node)):
                found.append(user)
        return found

    def transitive_inputs(
        self, name: str, include_control: bool, include_reversed_ref: bool
    ) -> list[str]:
        """All that a node's value depends on, each before what it depends on itself."""
        found: list[str] = []
        for source, _ in self._backwards(name, include_control, include_reversed_ref):
            found.append(source)
        return found

    def some_path(
        self, source: str, target: str, include_control: bool, include_reversed_ref: bool
    ) -> list[str] | None:
        """A path of edges from one node to another; None if there is none."""
        parents: dict[str, str] = {}
        for name, via in self._backwards(target, include_control, include_reversed_ref):
            parents[name] = via
            if name == source:
                path = [source]
                while path[-1] != target:
                    path.append(parents[path[-1]])
                return path
        return None

    def _backwards(
        self, start: str, include_control: bool, include_reversed_ref: bool
    ) -> Iterator[tuple[str, str]]:
        """What lies before a node, depth first, with the node that was the way to it."""
        lists: list[Callable[[str], list[str]]] = [lambda name: self.inputs.get(name, [])]
        if include_control:
            lists.append(lambda name: self.controls.get(name, []))
        if include_reversed_ref:
            lists.append(self.reference_users)
        seen = {start}
        stack = [(start, iter(self._sources(start, lists)))]
        while stack:
            name, sources = stack[-1]
            source = next(sources, None)
            if source is None:
                stack.pop()
            elif source not in seen:
                seen.add(source)
                yield source, name
                stack.append((source, iter(self._sources(source, lists))))

    def _sources(self, name: str, lists: list[Callable[[str], list[str]]]) -> list[str]:
        node = self.nodes.get(name)
        if node is None or node.op in _MERGE:  # a loop goes back from here
            return []
        return [node_and_slot(each)[0] for sources in lists for each in sources(name)]


def _reference_inputs(node: Any) -> list[str]:
    """The inputs of a node that its op takes by reference."""
    spec = registry.find(node.op)
    if spec is None or not spec.takes_refs:
        return []
    data = [each for each in node.input if not each.startswith("^")]
    return [each for each, arg in zip(data, spec.inputs, strict=False) if arg.is_ref]


def reconstruct_non_debug_graph_def(debug_graph_def: Any) -> Any:
    """The graph without the nodes of TensorFlow's debugger; Penstock's watches leave none."""
    copied = {node.name: node.input[0] for node in debug_graph_def.node if is_copy_node(node.name)}
    made = type(debug_graph_def)()
    made.CopyFrom(debug_graph_def)
    del made.node[:]
    for node in debug_graph_def.node:
        if is_copy_node(node.name) or is_debug_node(node.name):
            continue
        kept = [
            copied.get(each, each) for each in node.input if not is_debug_node(each.lstrip("^"))
        ]
        added = made.node.add()
        added.CopyFrom(node)
        del added.input[:]
        added.input.extend(each for each in kept if not is_copy_node(each.lstrip("^")))
    return made


def get_node_name(element_name: str) -> str:
    """The node of a tensor's name."""
    return node_and_slot(element_name)[0]


def get_output_slot(element_name: str) -> int:
    """The output of a tensor's name."""
    return node_and_slot(element_name)[1]


def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """The node of a name, and the output if the name is a tensor's."""
    if ":" in name and not name.endswith(":"):
        node, _, slot = name.rpartition(":")
        return node, int(slot)
    return name, None


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """Of "__dbg_node:1_0_DebugIdentity": the watched node, its output, a number, the debug op."""
    if not node_name.startswith(_DEBUG_PREFIX):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    parts = node_name.removeprefix(_DEBUG_PREFIX).rsplit("_", 2)
    if len(parts) < 3:
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    watched, number, debug_op = parts
    if watched.count(":") != 1:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    name, _, slot = watched.partition(":")
    return name, int(slot), int(number), debug_op


def is_copy_node(node_name: str) -> bool:
    """Whether a node of TensorFlow's debugger copies a tensor."""
    return node_name.startswith("__copy_")


def is_debug_node(node_name: str) -> bool:
    """Whether a node of TensorFlow's debugger writes a tensor."""
    return node_name.startswith(_DEBUG_PREFIX)
