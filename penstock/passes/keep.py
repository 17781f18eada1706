"""Keeping what a forward op computed anyway for its gradient, which would compute it again.

A pooling knows where its maxima are; its gradient op, as TensorFlow defines it, gets only the
images and has to look for them. Where both are in one step, the forward node is replaced by one
with a further output, and the gradient node by one that takes it. Which ops have such partners is
registered with them (`keeps_for_gradient`).
"""

from __future__ import annotations

from penstock.ir import registry
from penstock.ir.step_graph import Edge, Node, StepGraph


def keep_for_gradients(step: StepGraph) -> None:
    """Lets pairs of forward and gradient nodes share what the forward node computes."""
    if step.has_control_flow:
        return  # the gradient's forward value may come from another iteration
    keeping: dict[Node, registry.Keeping] = {}
    for node in step.nodes:
        pair = registry.keeping_for(node.type)
        if pair is None:
            continue
        forward = node.inputs[pair.output].node
        if not _belong_together(forward, node, pair):
            continue
        if forward not in keeping:
            keeping[forward] = pair
            forward.spec = pair.keeping
            extra = pair.keeping.outputs[1]
            forward.dtypes = [*forward.dtypes, *extra.types(forward.attrs)]
            forward.shapes = [*forward.shapes, None]
        node.spec = pair.of_kept
        node.inputs = [*node.inputs, Edge(forward, 1)]


def _belong_together(forward: Node, gradient: Node, pair: registry.Keeping) -> bool:
    """Whether one node is the gradient of the other, with the same input and attrs."""
    if forward.type not in (pair.forward, pair.keeping.name) or not forward.dtypes[0].is_floating:
        return False
    if forward.inputs[0] != gradient.inputs[pair.input]:
        return False
    attrs = pair.of_kept.attrs
    return all(forward.attrs.get(key) == gradient.attrs[key] for key in attrs)
