"""Reads of resource variables that are fetched, in steps that may wait.

What a step has read of such a variable stays as it was: TensorFlow writes another value beside it.
Here a read may stand for the variable's own memory, which the steps of others may have changed by
the end of a wait; a fetched value is copied before.
"""

from __future__ import annotations

from penstock import dtypes
from penstock.ir.registry import ALIASES, READS, find
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.order import may_wait


def copy_fetched_reads(step: StepGraph) -> None:
    """Has the copies made that the step's results need anyway, where the reads are."""
    if not any(may_wait(node) for node in step.nodes):
        return
    copies: dict[Edge, Node] = {}
    for edge in step.fetches:
        if edge not in copies and edge.dtype is not dtypes.variant and _is_read(edge):
            copies[edge] = _copy_of(edge)
    step.fetches = [Edge(copies[edge], 0) if edge in copies else edge for edge in step.fetches]
    step.nodes += copies.values()


def _is_read(edge: Edge) -> bool:
    """Whether a value is what a node reads of a resource, directly or passed on."""
    while ALIASES in edge.node.spec.traits and not edge.dtype.is_ref_dtype:
        edge = edge.node.inputs[0]
    node = edge.node
    takes_resource = any(each.dtype is dtypes.resource for each in node.inputs)
    return READS in node.spec.traits and takes_resource and not may_wait(node)


def _copy_of(edge: Edge) -> Node:
    spec = find("DeepCopy")
    assert spec is not None
    node = edge.node
    name, attrs = f"{node.name}/_fetched_{edge.index}", {"T": edge.dtype}
    copy = Node(spec, name, attrs, [edge.dtype], [edge.shape], node.origin, node.order, node.device)
    copy.inputs = [edge]
    copy.guard = node.guard
    return copy
