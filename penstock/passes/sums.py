"""Sums of products in loops: the gradient of a weight that every iteration uses.

Such a gradient is `sum = sum + transpose(a) @ b` with a few rows in each `a` and `b`. Collecting
the rows of many iterations and multiplying them at once gives the same sum in a fraction of the
time: one large product instead of many small ones, and one addition.
"""

from __future__ import annotations

from penstock import dtypes
from penstock.ir.registry import STATEFUL, op
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import FLOATING

# Stateful, since it holds on to the memory of a and b.
ADD_PRODUCT = op("_AddProduct(sum: T, a: T, b: T) -> total: T", STATEFUL, T=FLOATING)

_ADDITIONS = ("Add", "AddV2")
_TYPES = (dtypes.float32, dtypes.float64)


def collect_products(header: StepGraph, body: StepGraph, variables: int) -> list[int]:
    """Rewrites the sums of a loop's body; returns the numbers of the variables that hold them."""
    uses = _uses(body)
    used_by_header = {edge for node in header.nodes for edge in node.inputs} | set(header.fetches)
    found = []
    for index in range(variables):
        if Edge(header.feeds[index], 0) in used_by_header:
            continue
        if _collect(body, index, uses):
            found.append(index)
    if found:
        body.drop_unused()
    return found


def _uses(body: StepGraph) -> dict[Edge, int]:
    uses: dict[Edge, int] = {}
    for node in body.nodes:
        for edge in node.inputs:
            uses[edge] = uses.get(edge, 0) + 1
    for edge in body.fetches:
        uses[edge] = uses.get(edge, 0) + 1
    return uses


def _collect(body: StepGraph, index: int, uses: dict[Edge, int]) -> bool:
    total, start = body.fetches[index], Edge(body.feeds[index], 0)
    addition = total.node
    if addition.type not in _ADDITIONS or addition.guard or start not in addition.inputs:
        return False
    product = next((edge for edge in addition.inputs if edge != start), start)
    if uses[total] != 1 or uses[start] != 1 or uses.get(product) != 1:
        return False
    if not _is_sum_over_rows(product.node) or addition.controls:
        return False
    if any(addition in node.controls or product.node in node.controls for node in body.nodes):
        return False
    made = Node(
        ADD_PRODUCT,
        addition.name,
        {"T": total.dtype},
        addition.dtypes,
        addition.shapes,
        addition.origin,
        addition.order,
        addition.device,
    )
    made.inputs = [start, *product.node.inputs]
    made.controls = list(product.node.controls)
    body.nodes[body.nodes.index(addition)] = made
    body.fetches[index] = Edge(made, 0)
    return True


def _is_sum_over_rows(node: Node) -> bool:
    """Whether a node multiplies over the rows of both factors, as a weight's gradient does."""
    return (
        node.type == "MatMul"
        and not node.guard
        and node.attrs["transpose_a"]
        and not node.attrs["transpose_b"]
        and node.attrs["T"] in _TYPES
    )
