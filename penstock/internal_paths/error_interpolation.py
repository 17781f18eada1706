"""`tensorflow.python.framework.error_interpolation`: where the nodes of a message were made."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from penstock.ir import source
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.proto import GraphDebugInfo

__all__ = ["create_graph_debug_info_def", "interpolate", "parse_message"]

_TAG = re.compile(r"{{(?P<type>\w+) (?P<name>[A-Za-z0-9.][A-Za-z0-9_.\-/]*)}}")


class _ParseTag(NamedTuple):
    type: str
    name: str


def parse_message(message: str) -> tuple[list[str], list[_ParseTag]]:
    """The text around the tags `{{node name}}` of an error message, and the tags."""
    tags = [_ParseTag(match["type"], match["name"]) for match in _TAG.finditer(message)]
    return _TAG.split(message)[:: _TAG.groups + 1], tags


def interpolate(error_message: str, graph: Graph) -> str:
    """An error message whose tags `{{node name}}` say where the nodes were made."""

    def described(match: re.Match[str]) -> str:
        name = match["name"]
        op = graph._nodes_by_name.get(name) if match["type"] == "node" else None
        made_at = source.describe(op._line) if op is not None else ""
        return f"node {name} (defined at {made_at})" if made_at else f"node {name}"

    return _TAG.sub(described, error_message)


def create_graph_debug_info_def(operations: Iterable[tuple[str, Operation]]) -> Any:
    """A GraphDebugInfo message: the line of the program that made each of the nodes.

    Args:
      operations: pairs of a function's name ("" for a graph's own nodes) and an operation.
    """
    message = GraphDebugInfo()
    files: dict[str, int] = {}
    for function, op in operations:
        trace = message.traces[function + op.name]
        for frame in op.traceback:
            index = files.setdefault(frame[0], len(files))
            trace.file_line_cols.add(file_index=index, line=frame[1])
    message.files.extend(files)
    return message
