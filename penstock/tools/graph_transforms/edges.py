"""The inputs of nodes as GraphDefs write them: "name", "name:1", "^name"."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from penstock.proto import GraphDef


def source(text: str) -> str:
    """The name of the node that an input comes from."""
    return text.removeprefix("^").partition(":")[0]


def place(text: str) -> int:
    """The output of that node; -1 for a control input."""
    if text.startswith("^"):
        return -1
    return int(text.partition(":")[2] or 0)


def copy_of(graph_def: Any) -> Any:
    copied = GraphDef()
    copied.CopyFrom(graph_def)
    return copied


def only(graph_def: Any, names: Container[str]) -> Any:
    """A graph of the nodes of these names."""
    result = GraphDef()
    result.node.extend(node for node in graph_def.node if node.name in names)
    return result


def consumers(graph_def: Any) -> dict[str, list[Any]]:
    """The nodes that take something from each node, once for each input."""
    found: dict[str, list[Any]] = {node.name: [] for node in graph_def.node}
    for node in graph_def.node:
        for text in node.input:
            found.setdefault(source(text), []).append(node)
    return found


def redirect(graph_def: Any, new_text: Callable[[str], str]) -> None:
    """Lets nodes take other inputs; what became a control input twice is one."""
    for node in graph_def.node:
        texts = [new_text(text) for text in node.input]
        data = [text for text in texts if not text.startswith("^")]
        control = dict.fromkeys(text for text in texts if text.startswith("^"))
        del node.input[:]
        node.input.extend([*data, *control])
