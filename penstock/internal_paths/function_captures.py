"""What `tensorflow.python.framework.function` tells a function's body of the graph around it."""

from __future__ import annotations

from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.tensor import Tensor
from penstock.ops.functions import DefinedFunction as _DefinedFunction  # noqa: F401


def get_extra_vars() -> list[Any]:
    """The variables that the body has asked for; [] outside of a body."""
    graph = get_default_graph()
    return graph.asked_variables if isinstance(graph, FunctionGraph) else []


def get_extra_inputs() -> list[Tensor]:
    """The tensors of the graph around it that the body uses."""
    graph = get_default_graph()
    return list(graph.captured) if isinstance(graph, FunctionGraph) else []


def get_extra_args() -> list[Tensor]:
    """The arguments that stand for `get_extra_inputs()`."""
    graph = get_default_graph()
    return list(graph.captured.values()) if isinstance(graph, FunctionGraph) else []
