"""Which steps can be recorded on a GPU and replayed: those that are the same every time.

A recording holds the GPU's work with the addresses that it reads and writes; what the host does
between is not in it. So nothing of a step may depend on what the host finds in a run:

1. All nodes are the GPU's, but for arithmetic of sizes, which depends on the shapes of feeds alone.
2. Fed values are needed in the GPU's memory alone: they are copied into the recording's own inputs.
3. State is variables' of the GPU. Random numbers are of torch's generators, which a recording
   carries on; a seeded node counts on the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock import dtypes
from penstock.ir.registry import CONTROL_FLOW, READS, STATEFUL, WAITS, WRITES
from penstock.ir.step_graph import Node, StepGraph
from penstock.runtime.binding import BoundNode
from penstock.runtime.device import Device
from penstock.state.variable import VariableState

_LOOKS_AT_SHAPE = ("Shape", "ShapeN", "Size", "Rank", "VariableShape")
_OF_TORCHS_GENERATOR = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def obstacle(
    graph: StepGraph, bound: Sequence[BoundNode], devices: Mapping[str, Device]
) -> str | None:
    """Why a step can't be recorded, in words; None where nothing is in the way."""
    places = {devices[node.device] for node in graph.nodes if node.type != "_Feed"}
    gpus = {device for device in places if device.torch_device.type == "cuda"}
    if len(gpus) != 1:
        return "it is not on one GPU"
    if any(device.kind is not None for device in places):
        return "it uses a device of another type"
    known: set[Node] = set()  # what the host computes of sizes
    for entry in bound:
        problem = _of_node(entry, devices, known)
        if problem is not None:
            return f"{entry.node.name}: {problem}"
    return _of_feeds(graph, devices) or _of_fetches(graph, known)


def _of_node(entry: BoundNode, devices: Mapping[str, Device], known: set[Node]) -> str | None:
    node = entry.node
    traits = node.spec.traits
    if node.guard or CONTROL_FLOW in traits or WAITS in traits or entry.takes_step:
        return f"{node.type} decides or waits while the step runs"
    if node.spec.function is not None:
        return "it calls a function"
    if entry.is_constant:
        if isinstance(entry.constant, VariableState):
            on_gpu = devices[node.device].torch_device.type == "cuda"
            return None if on_gpu else "a variable of the host"
        known.add(node)
        return None
    if devices[node.device].torch_device.type == "cuda":
        return _of_state(node)
    if node.type in _LOOKS_AT_SHAPE:
        known.add(node)
        return None
    if STATEFUL not in traits and node.inputs and all(e.node in known for e in node.inputs):
        known.add(node)
        return None
    return f"{node.type} runs on the host"


def _of_state(node: Node) -> str | None:
    traits = node.spec.traits
    if STATEFUL not in traits or node.type in _VARIABLES:
        return None
    if node.type in _OF_TORCHS_GENERATOR:
        seeded = node.attrs["seed"] or node.attrs["seed2"]
        return "its seeded numbers are counted on the host" if seeded else None
    of_variables = all(
        edge.dtype.is_ref_dtype or edge.dtype is dtypes.resource for edge in node.inputs[:1]
    )
    if node.inputs and of_variables and (READS in traits or WRITES in traits):
        return None
    return f"{node.type} has state or effects of its own"


def _of_feeds(graph: StepGraph, devices: Mapping[str, Device]) -> str | None:
    for node in graph.nodes:
        if node.type in _LOOKS_AT_SHAPE:
            continue
        on_gpu = node.type != "_Feed" and devices[node.device].torch_device.type == "cuda"
        for edge in node.inputs:
            if edge.node.type == "_Feed" and not (on_gpu and node.type == "_Copy"):
                return f"{node.name}: the host needs what is fed"
    return None


def _of_fetches(graph: StepGraph, known: set[Node]) -> str | None:
    for edge in graph.fetches:
        if edge.dtype.base_dtype in (dtypes.resource, dtypes.variant, dtypes.string):
            return f"{edge.node.name}: a handle is fetched"
        if edge.node.type == "_Feed":
            return f"{edge.node.name}: what is fed is fetched"
    return None
