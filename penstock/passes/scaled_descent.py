"""Gradient descent by a scaled gradient: the factor goes into the rate, not over the gradient.

Clipping by a global norm multiplies every gradient by one number. Where gradient descent is all
that takes such a product, `w -= (rate * factor) * gradient` spares a pass over the gradient and the
memory for the result.
"""

from __future__ import annotations

from penstock import shapes
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.order import live_variable

_DESCENTS = ("ApplyGradientDescent", "ResourceApplyGradientDescent")


def scale_in_descent(step: StepGraph) -> None:
    """Multiplies rates, in the place of gradients, by the scalars that scale these."""
    if not any(node.type in _DESCENTS for node in step.nodes):
        return
    uses: dict[Edge, int] = {}
    for edge in [edge for node in step.nodes for edge in node.inputs] + step.fetches:
        uses[edge] = uses.get(edge, 0) + 1
    waited_for = {c for node in step.nodes for c in node.controls}.union(step.targets)
    made: dict[tuple[Edge, Edge], Node] = {}  # one rate for all who share its factors
    nodes: list[Node] = []
    for node in step.nodes:
        chain = _chain(node, uses)
        if chain and waited_for.isdisjoint(chain):
            rate = node.inputs[1]
            gradient, factor = _scaled(chain[-1])
            if _have_values_of_their_own(gradient, factor, rate):
                if (rate, factor) not in made:
                    made[rate, factor] = _rate(chain[-1], rate, factor)
                    nodes.append(made[rate, factor])
                node.inputs = [node.inputs[0], Edge(made[rate, factor], 0), gradient]
        nodes.append(node)
    if made:
        step.nodes = nodes
        step.drop_unused()


def _chain(node: Node, uses: dict[Edge, int]) -> list[Node]:
    """The product that an update takes, behind the nodes that only hand it on to the update."""
    if node.type not in _DESCENTS or node.attrs["use_locking"]:
        return []
    edge = node.inputs[2]
    found = [edge.node]
    while edge.node.type == "Identity" and uses[edge] == 1:
        edge = edge.node.inputs[0]
        found.append(edge.node)
    alone = uses[edge] == 1 and not any(each.controls for each in found)
    return found if alone and _is_scaled(edge.node) else []


def _have_values_of_their_own(*edges: Edge) -> bool:
    """Whether none of them stands for a variable, whose value depends on when it is read."""
    return all(live_variable(edge) is None for edge in edges)


def _is_scaled(node: Node) -> bool:
    """Whether a node multiplies a floating-point value of a known shape by a scalar."""
    if node.type != "Mul" or not node.dtypes[0].is_floating:
        return False
    known = all(shapes.is_full(edge.shape) for edge in node.inputs)
    return known and sum(edge.shape == () for edge in node.inputs) == 1


def _scaled(product: Node) -> tuple[Edge, Edge]:
    """The value that a product scales, and the factor."""
    first, second = product.inputs
    return (second, first) if first.shape == () else (first, second)


def _rate(product: Node, rate: Edge, factor: Edge) -> Node:
    scaled = product.copy()
    scaled.name = f"{product.name}/rate"
    scaled.shapes = [()]
    scaled.inputs = [rate, factor]
    return scaled
