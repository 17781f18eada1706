"""Which values may wait for others that go the same way: one message instead of many."""

from __future__ import annotations

from penstock.ir.step_graph import StepGraph

#: Types of nodes that take no time worth speaking of.
_PASSING = frozenset(
    {"Const", "Identity", "NoOp", "ReadVariableOp", "VarHandleOp", "Variable", "VariableV2"}
    | {"_Feed", "_Truth"}
)


def mark_sends(part: StepGraph) -> None:
    """Marks the Sends of a part after which it computes nothing before it waits or ends.

    Their values may go "soon": when the next Recv is reached, or the end. What follows any other
    Send takes time, which the receiver shall not lose.
    """
    soon = True
    for node in reversed(part.nodes):
        if node.type == "_Send":
            node.attrs["soon"] = soon
        elif node.type == "_Recv":
            soon = True
        elif node.type not in _PASSING:
            soon = False
