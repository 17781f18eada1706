"""Which parts of steps compute but for a moment, and wait where others are woken first."""

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


def is_brisk(part: StepGraph, device: str) -> bool:
    """Whether those that a part wakes may be woken later: when it waits, or at its end.

    Not if it computes for long, nor if anything else in it may wait for those who are not awake
    yet: Python, a function, a pipeline of data.
    """
    kind = DeviceSpec.from_string(device).device_type or "CPU"
    work = 0.0
    for node in part.nodes:
        if node.type.startswith(_IN_LINES):
            continue
        if not _waits_for_nobody(node):
            return False
        work += seconds_of(node, kind)
    return work < _MOST_SECONDS


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
