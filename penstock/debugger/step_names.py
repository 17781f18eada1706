"""How nodes of a step and their values are called where a user sees them."""

from __future__ import annotations

from typing import Any


def tensor_name(node: Any, slot: int) -> str:
    """The name of an output; what is fed has the name of the tensor that it stands for."""
    return str(node.name.removeprefix("_feed/")) if node.type == "_Feed" else f"{node.name}:{slot}"


def node_name(node: Any) -> str:
    """The name of a node, or of the one that is fed."""
    return tensor_name(node, 0).rpartition(":")[0]
