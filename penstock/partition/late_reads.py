"""When a variable of another device is read: as late as it would be on the same one.

A node that takes the value of a reference reads it when it runs, so after all that it waits for.
Where the variable is on another device, sending its value right away would be too early: it may be
updated by what the node waits for. The read becomes a node of its own on the variable's device,
which waits for the same.

So it is with a value that was passed on, as the Identity of a variable does: it is the variable's
memory, and updated with it. There the read waits for the updates alone, which are on the device of
the variable; where the node waits for none, the value is sent right away, as any other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

from penstock.ir.registry import ALIASES, find
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.partition.loops import devices_of
from penstock.passes.order import accesses, live_variable


def read_late(step: StepGraph) -> None:
    """Puts the reads of variables by nodes of other devices into a placed step."""
    updates = _Updates(step)
    nodes: list[Node] = []
    for node in step.nodes:
        if len(devices_of(node)) == 1:
            reads = {**_reads_of_references(node), **_reads_after_updates(node, updates)}
            node.inputs = [
                Edge(reads[i], 0) if i in reads else edge for i, edge in enumerate(node.inputs)
            ]
            nodes += reads.values()
        nodes.append(node)
    step.nodes = nodes


def _reads_of_references(node: Node) -> dict[int, Node]:
    """The reads that a node needs of references, by the number of the input."""
    far = {
        i
        for i, (edge, takes_reference) in enumerate(
            zip(node.inputs, node.ref_inputs(), strict=True)
        )
        if edge.dtype.is_ref_dtype and not takes_reference and edge.node.device != node.device
    }
    waits_for = [edge.node for i, edge in enumerate(node.inputs) if i not in far] + node.controls
    if not waits_for:
        return {}
    return {i: _read(node.inputs[i], node, waits_for) for i in sorted(far)}


def _reads_after_updates(node: Node, updates: _Updates) -> dict[int, Node]:
    """The reads that a node needs of values passed on that it waits for the updates of."""
    found = {}
    for i, state in _passed_on(node):
        if before := updates.before(node, state):
            found[i] = _read(node.inputs[i], node, before)
    return found


def _passed_on(node: Node) -> Iterator[tuple[int, Hashable]]:
    """The inputs that are the memory of variables on other devices, and whose it is.

    What comes out of a branch is read there, under the condition of the branch.
    """
    for i, edge in enumerate(node.inputs):
        if edge.dtype.is_ref_dtype or edge.node.device == node.device:
            continue
        if len(edge.node.guard) <= len(node.guard) and _is_in_place(edge):
            state = live_variable(edge)
            if state is not None:
                yield i, state


def _is_in_place(edge: Edge) -> bool:
    """Whether a value is passed on without a copy to another device on the way."""
    while not edge.dtype.is_ref_dtype and ALIASES in edge.node.spec.traits:
        source = edge.node.inputs[0]
        if source.node.device != edge.node.device:
            return False
        edge = source
    return True


class _Updates:
    """The nodes that write to variables whose values are passed on to other devices."""

    def __init__(self, step: StepGraph):
        wanted = {state for node in step.nodes for _, state in _passed_on(node)}
        self._writers: dict[Hashable, list[Node]] = defaultdict(list)
        self._bits: dict[Node, int] = {}
        self._before: dict[Node, int] = {}
        for node in step.nodes if wanted else ():
            if written := accesses(node).writes & wanted:
                self._bits[node] = 1 << len(self._bits)
                for state in written:
                    self._writers[state].append(node)
        for node in step.nodes if self._bits else ():
            self._before[node] = 0
            for producer in node.producers():
                self._before[node] |= self._before.get(producer, 0) | self._bits.get(producer, 0)

    def before(self, node: Node, state: Hashable) -> list[Node]:
        """The updates of a variable that a node waits for."""
        writers = self._writers.get(state, ())
        return [each for each in writers if self._before[node] & self._bits[each]]


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
