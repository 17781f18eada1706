"""What `cond_v2`, `while_v2` and `control_flow_util_v2` of TensorFlow have besides their nodes."""

from __future__ import annotations

from typing import Any

from penstock.autodiff.forward_functions import functions_of
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.operation import Operation
from penstock.ops.flow_graphs import CondBranchFuncGraph as CondBranchFuncGraph
from penstock.ops.flow_graphs import (
    FlowGraph,
    added_function,
    lowered,
    unique_function_name,
    unique_gradient_name,
)
from penstock.ops.flow_graphs import WhileBodyFuncGraph as WhileBodyFuncGraph
from penstock.ops.flow_graphs import WhileCondFuncGraph as WhileCondFuncGraph

#: What a program asks for with `output_all_intermediates`: the gradient takes what it needs anyway.
_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE: bool | None = None

LIVE_NAMES = ("_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE",)


def output_all_intermediates(state: bool | None = None) -> Any:
    """Says whether nodes give all values of their branches and bodies; nothing depends on it."""
    global _EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
    _EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE = state


def in_defun() -> bool:
    """Whether the body of a function is being built, but for branches and loops as such."""
    graph = get_default_graph()
    while isinstance(graph, FlowGraph) and graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph.building_function


def unique_fn_name(scope: str, name: str) -> str:
    """A name for the function of a node in a scope."""
    return unique_function_name(get_default_graph(), scope, name)


def unique_grad_fn_name(forward_name: str) -> str:
    """A name for a function's gradient."""
    return unique_gradient_name(get_default_graph(), forward_name)


def create_new_tf_function(func_graph: FunctionGraph) -> str:
    """Lets the nodes around a body call it; the function's name."""
    return added_function(func_graph).name


def maybe_set_lowering_attr(op: Operation) -> None:
    """Marks a node to be run as the primitives that it stands for."""
    lowered(op)


def get_func_graphs(op: Operation) -> list[FunctionGraph]:
    """The bodies of a conditional's branches."""
    attrs = ["branches"] if "branches" in op.attrs else ["then_branch", "else_branch"]
    return [
        each.graph.with_signature(each.name, each.inputs, each.outputs)
        for each in functions_of(op, 1, *attrs)
    ]


def _get_graph(while_op: Operation, func_attr_name: str, *unused: Any) -> FunctionGraph:
    """The condition of a loop (`cond`), or its body (`body`)."""
    condition, body = functions_of(while_op, 0, "cond", "body")
    found = condition if func_attr_name == "cond" else body
    return found.graph.with_signature(found.name, found.inputs, found.outputs)
