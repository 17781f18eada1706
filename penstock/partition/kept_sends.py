"""What becomes of values that are sent: which leave the process, and which of them may wait.

Those that go the same way, one shortly after the other, take one message instead of many.
"""

from __future__ import annotations

import math

from penstock.devices import DeviceSpec
from penstock.ir.registry import WAITS
from penstock.ir.step_graph import Node, StepGraph
from penstock.partition.memory import is_handle
from penstock.placement.cost_model import CostModel

#: Seconds that a value may wait: about what a message costs both sides.
PATIENCE = 100e-6
_READING = frozenset(("Const", "Identity", "NoOp", "ReadVariableOp"))
# A size that is not known until a run may be a large one.
_COSTS = CostModel(unknown_size=4096)


def mark_sends(part: StepGraph, device: str, patience: float = PATIENCE) -> None:
    """Marks the Sends of a part after which it soon sends more, waits, or ends.

    Their values go "soon": with the next message that way, when a Recv is reached, or at the end.
    A Send that is followed by work which takes time is not marked; its value goes at once, and
    takes along those that wait. A value that `leaves` for another task is one of the past as soon
    as it was sent: nobody sees what is written to its memory afterwards. While it waits it has to
    be a copy, unless it `lasts`: the part does nothing with any memory until then.
    """
    own = DeviceSpec.from_string(device)
    kind = own.device_type or "CPU"
    left = 0.0  # the time until what waits is sent
    lasts = True
    for node in reversed(part.nodes):
        if node.type == "_Send":
            other = DeviceSpec.from_string(node.attrs["recv_device"])
            node.attrs["leaves"] = (own.job, own.task) != (other.job, other.task)
            node.attrs["soon"] = left <= patience
            node.attrs["lasts"] = lasts
            if left > patience:
                left, lasts = 0.0, True
        elif node.type == "_Recv":
            left, lasts = 0.0, True
        else:
            left += seconds_of(node, kind)
            lasts = lasts and (node.type in _READING or only_names_state(node))


def only_names_state(node: Node) -> bool:
    """Whether a node gives a variable, a queue or the like, and does nothing with it."""
    return not node.inputs and bool(node.dtypes) and all(is_handle(each) for each in node.dtypes)


def seconds_of(node: Node, kind: str) -> float:
    """About how long a node computes on a kind of device."""
    has_own_pace = "loop" in node.attrs or WAITS in node.spec.traits
    return math.inf if has_own_pace else _COSTS.time(node, kind)
