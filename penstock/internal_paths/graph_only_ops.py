"""`tensorflow.python.eager.graph_only_ops`: nodes of a graph, whatever the mode is."""

from __future__ import annotations

from typing import Any

from penstock.ir import registry
from penstock.ir.defaults import innermost_plain_graph
from penstock.ir.tensor import Tensor


def graph_zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of a tensor's shape and type."""
    spec = registry.find("ZerosLike")
    assert spec is not None
    with tensor.graph.as_default():
        made: Tensor = spec(tensor)
    return made


def graph_placeholder(dtype: Any, shape: Any, name: str | None = None) -> Tensor:
    """A placeholder of the innermost graph."""
    spec = registry.find("Placeholder")
    assert spec is not None
    with innermost_plain_graph().as_default():
        made: Tensor = spec(dtype=dtype, shape=shape, name=name)
    return made
