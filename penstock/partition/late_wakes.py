"""Which parts of steps compute but for a moment, and wake others when they wait themselves."""

from __future__ import annotations

from penstock.devices import DeviceSpec
from penstock.ir.registry import (
    CALLS_PYTHON,
    CONTROL_FLOW,
    LOCKS,
    MEETS,
    READS,
    WAITS,
    WRITES,
    find,
)
from penstock.ir.step_graph import Node, StepGraph
from penstock.partition.kept_sends import only_names_state, seconds_of

_MOST_SECONDS = 1e-3  # of work, while others may have to wait
# Those of state that is waited for by `state.waiting.Lines`.
_IN_LINES = ("Queue", "Accumulator", "ResourceAccumulator", "SparseAccumulator")


def wakes_late(part: StepGraph, device: str) -> bool:
    """Whether a part may wake others, and may do so when it waits itself, or at its end.

    Not if it computes for long, nor if anything else in it may wait for those who are not awake
    yet: Python, a function, a pipeline of data.
    """
    kind = DeviceSpec.from_string(device).device_type or "CPU"
    rest = [node for node in part.nodes if not node.type.startswith(_IN_LINES)]
    return (
        len(rest) < len(part.nodes)
        and all(_waits_for_nobody(node) for node in rest)
        and sum(seconds_of(node, kind) for node in rest) < _MOST_SECONDS
    )


def _waits_for_nobody(node: Node) -> bool:
    spec = node.spec
    if node.type in ("_Send", "_Recv", "_Feed") or only_names_state(node):
        return True
    calls = any(attr.kind in ("func", "list(func)") for attr in spec.attrs.values())
    if calls or find(node.type) is None:  # an op of its own is a function of the graph
        return False
    if not spec.traits.isdisjoint((WAITS, MEETS, LOCKS, CALLS_PYTHON, CONTROL_FLOW)):
        return False
    return not spec.is_stateful or not spec.traits.isdisjoint((READS, WRITES))
