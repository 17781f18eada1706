"""The nodes of a graph as an exported MetaGraphDef has them: scoped, stripped, without savers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from penstock.ir import registry
from penstock.ir.attr_codec import encode
from penstock.ir.naming import without_scope
from penstock.ir.op_def import op_def
from penstock.proto import GraphDef, NodeDef, OpList

UNBOUND_INPUT_PREFIX = "$unbound_inputs_"

_SAVER_OPS = frozenset(
    "SaveV2 Save SaveSlices RestoreV2 Restore RestoreSlice MergeV2Checkpoints".split()
)
_FUNCTION_OPS = frozenset("_Arg _Retval _ListToArray _ArrayToList".split())


class NodeExport:
    """Which nodes are exported and how they are renamed.

    Inputs from outside of the scope become unbound: they get a name to be mapped on import.
    """

    def __init__(self, scope: str | None, excluded: frozenset[str], clear_devices: bool):
        self._scope = scope
        self._excluded = excluded
        self._clear_devices = clear_devices
        self.unbound: list[str] = []

    def includes(self, member: Any) -> bool:
        """Whether a node, or a collection's member by its name, is exported."""
        name = member if isinstance(member, str) else getattr(member, "name", None)
        if not isinstance(name, str):
            return True
        if name in self._excluded or name.partition(":")[0] in self._excluded:
            return False
        return not self._scope or name.startswith((UNBOUND_INPUT_PREFIX, self._scope))

    def graph_def(self, original: Any) -> Any:
        """The exported part of a GraphDef."""
        message = GraphDef(versions=original.versions, library=original.library)
        for node in original.node:
            if self.includes(node.name):
                message.node.append(self._node(node))
        return message

    def _node(self, original: Any) -> Any:
        node = NodeDef()
        node.CopyFrom(original)
        node.name = without_scope(original.name, self._scope)
        node.input[:] = [self._input(name) for name in original.input]
        if "_class" in node.attr:
            groups = node.attr["_class"].list.s
            groups[:] = [
                without_scope(group.decode(), self._scope).encode()
                for group in groups
                if not self._scope or group.decode().partition("@")[2].startswith(self._scope)
            ]
        if node.op in ("Enter", "RefEnter"):
            frame = node.attr["frame_name"].s.decode()
            node.attr["frame_name"].s = without_scope(frame, self._scope).encode()
        if self._clear_devices:
            node.device = ""
        return node

    def _input(self, name: str) -> str:
        if self._scope and not name.lstrip("^").startswith(self._scope):
            unbound = re.sub(r"^(\^?)", rf"\g<1>{UNBOUND_INPUT_PREFIX}", name, count=1)
            self.unbound.append(unbound)
            return unbound
        return without_scope(name, self._scope)


def _scope_of(name: str) -> str:
    return name.lstrip("^").rpartition("/")[0]


def extraneous_saver_nodes(graph_def: Any, saver_def: Any) -> frozenset[str]:
    """The nodes in the scopes of all savers but the one that `saver_def` names."""
    keep: set[str] = set()
    if saver_def is not None:
        keep = {
            _scope_of(saver_def.save_tensor_name.partition(":")[0]) + "/",
            _scope_of(saver_def.restore_op_name) + "/",
        }
    saver_nodes = {node.name for node in graph_def.node if node.op in _SAVER_OPS}
    scopes = {f"{_scope_of(name)}/" for name in saver_nodes - keep} - keep
    scopes.discard("/")
    return frozenset(
        node.name for node in graph_def.node if any(node.name.startswith(scope) for scope in scopes)
    )


# Op definitions and attrs ---------------------------------------------------------------------


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The op types of a graph and of the functions that it calls."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    waiting = [node.op for node in graph_def.node]
    while waiting:
        name = waiting.pop()
        if name in used:
            continue
        used.add(name)
        if name in functions:
            waiting += [node.op for node in functions[name].node_def]
    return [name for name in used if name not in functions]


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The definitions of the op types that a graph uses, as an OpList message."""
    message = OpList()
    for name in sorted(ops_used_by_graph_def(graph_def)):
        spec = registry.find(name)
        if spec is not None:
            message.op.append(op_def(spec))
        elif name not in _FUNCTION_OPS:
            raise ValueError(f"Op {name} is used by the graph, but is not registered")
    return message


def strip_graph_default_valued_attrs(meta_graph_def: Any) -> None:
    """Removes attrs that have their defaults, so that an older program can read the graph."""
    graph_def = meta_graph_def.graph_def
    functions = {function.signature.name for function in graph_def.library.function}
    _strip(graph_def.node, functions)
    for function in graph_def.library.function:
        _strip(function.node_def, functions)
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def _strip(nodes: Iterable[Any], functions: set[str]) -> None:
    for node in nodes:
        spec = None if node.op in functions else registry.find(node.op)
        if spec is None:
            continue
        for name, declared in spec.attrs.items():
            if (
                declared.has_default
                and name in node.attr
                and node.attr[name] == encode(declared.default, declared.kind)
            ):
                del node.attr[name]
