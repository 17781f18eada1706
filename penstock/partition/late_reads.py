"""When a variable of another device is read: as late as it would be on the same one.

A node that takes the value of a reference reads it when it runs, so after all that it waits for.
Where the variable is on another device, sending its value right away would be too early: it may be
updated by what the node waits for. The read becomes a node of its own on the variable's device,
which waits for the same.
"""

from __future__ import annotations

from penstock.ir.registry import find
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.partition.loops import devices_of


def read_late(step: StepGraph) -> None:
    """Puts the reads of references by nodes of other devices into a placed step."""
    nodes: list[Node] = []
    for node in step.nodes:
        if len(devices_of(node)) == 1:
            nodes += _reads_of(node)
        nodes.append(node)
    step.nodes = nodes


def _reads_of(node: Node) -> list[Node]:
    """The reads that a node needs, which it then takes its inputs from."""
    far = {
        i
        for i, (edge, takes_reference) in enumerate(
            zip(node.inputs, node.ref_inputs(), strict=True)
        )
        if edge.dtype.is_ref_dtype and not takes_reference and edge.node.device != node.device
    }
    waits_for = [edge.node for i, edge in enumerate(node.inputs) if i not in far] + node.controls
    if not far or not waits_for:
        return []
    reads = {i: _read(node.inputs[i], node, waits_for) for i in sorted(far)}
    node.inputs = [Edge(reads[i], 0) if i in reads else edge for i, edge in enumerate(node.inputs)]
    return list(reads.values())


def _read(edge: Edge, reader: Node, waits_for: list[Node]) -> Node:
    spec = find("Identity")
    assert spec is not None
    dtype = edge.dtype.base_dtype
    read = Node(
        spec,
        f"{reader.name}/_read_of_{edge.node.name}",
        {"T": dtype},
        [dtype],
        [edge.shape],
        reader.origin,
        reader.order,
        edge.node.device,
    )
    read.inputs = [edge]
    read.controls = list(dict.fromkeys(waits_for))
    read.guard = reader.guard
    return read
