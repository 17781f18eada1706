"""The order of a step: deterministic, state read before it is written, memory freed early.

TensorFlow leaves open in which order two nodes run that touch one variable and that no edge
connects. Here reads come before writes, then the order of creation decides. As in TensorFlow, a
reference variable is read by who uses its value, not by the Identity or Reshape that passes the
reference on: after a control dependency on an update, the new value is seen. The chosen order is
written into the graph as control edges between the accesses of one variable, so that the plan and
the dataflow executor run a step alike.

A node that may wait, for a queue to fill, comes when nothing else is left to run, and no such edge
leads out of it: what it waits for may be something that another node does. The members of a
collective instance, which wait for each other, come together (`meetings`). What comes after the
lock of a mutex is ordered by the lock alone: an edge into it could close a circle of waits.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable
from typing import NamedTuple

from penstock import dtypes
from penstock.ir.registry import ALIASES, CALLS_PYTHON, LOCKS, READS, WAITS, WRITES
from penstock.ir.step_graph import Edge, Node, StepGraph, is_back_edge
from penstock.passes.meetings import Meetings

_ASK_FOR_SHAPES = frozenset(["Shape", "ShapeN", "Size", "Rank"])


class Accesses(NamedTuple):
    """The state that a node reads and writes, by identity of the variable."""

    reads: frozenset[Hashable]
    writes: frozenset[Hashable]


def accesses(node: Node) -> Accesses:
    """What a node does to the variables behind its ref and resource inputs."""
    reads: set[Hashable] = set()
    writes: set[Hashable] = set()
    traits = node.spec.traits
    if (loop := node.attrs.get("loop")) is not None:
        return _of_loop(node, loop.writes)
    passes_on = ALIASES in traits
    for edge, takes_ref in zip(node.inputs, node.ref_inputs(), strict=True):
        if edge.dtype.is_ref_dtype and takes_ref:
            (reads if READS in traits else writes).add(state_of(edge))
        elif (variable := live_variable(edge)) is not None:
            if not passes_on:
                reads.add(variable)
        elif edge.dtype is dtypes.resource:
            if WRITES in traits:
                writes.add(state_of(edge))
            elif READS in traits:
                reads.add(state_of(edge))
    return Accesses(frozenset(reads), frozenset(writes))


def _of_loop(node: Node, writes: bool) -> Accesses:
    """A loop touches the variables that enter it; which of them its body writes is not told."""
    states = {
        state_of(edge)
        for edge in node.inputs
        if edge.dtype.is_ref_dtype or edge.dtype is dtypes.resource
    }
    live = {variable for edge in node.inputs if (variable := live_variable(edge)) is not None}
    found = frozenset(states | live)
    return Accesses(frozenset(), found) if writes else Accesses(found, frozenset())


def live_variable(edge: Edge) -> Hashable | None:
    """The reference variable whose memory an edge stands for, directly or passed on."""
    while not edge.dtype.is_ref_dtype:
        if ALIASES not in edge.node.spec.traits:
            return None
        edge = edge.node.inputs[0]
    return state_of(edge)


def state_of(edge: Edge) -> tuple[str, str]:
    """The identity of the state behind a ref or resource edge: its container and name."""
    node = edge.node
    while True:
        upstream = next(
            (e for e in node.inputs if e.dtype.is_ref_dtype or e.dtype is dtypes.resource), None
        )
        if upstream is None:
            break
        node = upstream.node
    name = node.attrs.get("shared_name") or node.name
    return node.attrs.get("container", ""), name


def may_wait(node: Node) -> bool:
    """Whether a node may wait for another one, of this step or of one in another thread."""
    if (loop := node.attrs.get("loop")) is not None:
        return any(may_wait(inner) for part in (loop.header, loop.body) for inner in part.nodes)
    return WAITS in node.spec.traits


def may_block(node: Node) -> bool:
    """Whether others must be able to run beside a node: it may wait, or calls a user's function.

    Such a function keeps its place in the order of the step, unlike what is known to wait.
    """
    if (loop := node.attrs.get("loop")) is not None:
        return any(may_block(inner) for part in (loop.header, loop.body) for inner in part.nodes)
    return WAITS in node.spec.traits or CALLS_PYTHON in node.spec.traits


def order_step(step: StepGraph) -> None:
    """Sorts `step.nodes` into the order of execution and adds the control edges of state."""
    touched = {node: accesses(node) for node in step.nodes}
    guarded = _after_locks(step.nodes)
    touched = {
        node: access
        for node, access in touched.items()
        if (access.reads or access.writes) and node not in guarded
    }
    waits = any(may_wait(node) for node in step.nodes)
    if not waits and not any(access.writes for access in touched.values()):
        return
    step.nodes = _schedule(step, touched)
    if not step.has_control_flow:
        # An edge out of a branch would make what it leads to die with the branch, and no edge may
        # cross the border of a frame: there the executor's own order decides.
        _connect(step, touched)


def _after_locks(nodes: list[Node]) -> set[Node]:
    found: set[Node] = set()
    if any(LOCKS in node.spec.traits for node in nodes):
        for node in nodes:
            if LOCKS in node.spec.traits or any(each in found for each in node.producers()):
                found.add(node)
    return found


class _Blockers:
    """For each writer, how many accesses must still come before it."""

    def __init__(self, nodes: list[Node], touched: dict[Node, Accesses]):
        self.remaining: dict[Node, int] = {}
        self.releases: dict[Node, list[Node]] = defaultdict(list)
        after = _writers_before(nodes, touched)
        by_state: dict[Hashable, list[Node]] = defaultdict(list)
        for node, access in touched.items():
            for state in access.reads | access.writes:
                by_state[state].append(node)
        bit = {node: i for i, node in enumerate(n for n in nodes if n in touched)}
        for writer, access in touched.items():
            earlier: set[Node] = set()
            for state in access.writes:
                for other in by_state[state]:
                    descends = after[other] >> bit[writer] & 1
                    if other is writer or descends or may_wait(other):
                        continue
                    if _precedes(other, writer, touched):
                        earlier.add(other)
            self.remaining[writer] = len(earlier)
            for other in earlier:
                self.releases[other].append(writer)


def _precedes(other: Node, writer: Node, touched: dict[Node, Accesses]) -> bool:
    """Whether an access that no edge orders comes before `writer`: reads do, then older writes."""
    shared = touched[other].writes & touched[writer].writes
    return not shared or other.order < writer.order


def _writers_before(nodes: list[Node], touched: dict[Node, Accesses]) -> dict[Node, int]:
    """For each node, a bit set of the accessing nodes that it descends from."""
    bits = {node: 1 << i for i, node in enumerate(n for n in nodes if n in touched)}
    before: dict[Node, int] = {}
    for node in nodes:
        mask = 0
        for producer in node.producers():
            if not is_back_edge(producer, node):
                mask |= before[producer] | bits.get(producer, 0)
        before[node] = mask
    return before


def _schedule(step: StepGraph, touched: dict[Node, Accesses]) -> list[Node]:
    blockers = _Blockers(step.nodes, touched)
    consumers = step.consumers()
    waiting = {
        node: len({p for p in node.producers() if not is_back_edge(p, node)}) for node in step.nodes
    }
    count = len(step.nodes)
    rank = {node: i + count * _lateness(node) for i, node in enumerate(step.nodes)}
    meetings = Meetings(step.nodes)
    begin = (meetings.come(node) for node in step.nodes if waiting[node] == 0)
    ready = [rank[node] for node in begin if node is not None]
    heapq.heapify(ready)
    # A writer that may run does so at once (its gradient is freed); one that may not waits aside.
    held: dict[Node, None] = {}
    ordered: list[Node] = []

    def done(node: Node) -> None:
        ordered.append(node)
        for writer in blockers.releases.get(node, ()):
            blockers.remaining[writer] -= 1
            if blockers.remaining[writer] == 0 and writer in held:
                del held[writer]
                heapq.heappush(ready, _rank_of_writer(writer))
        for consumer in consumers[node]:
            if is_back_edge(node, consumer):
                continue
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                _make_ready(meetings.come(consumer))

    def _make_ready(node: Node | None) -> None:
        if node is None:
            return
        remaining = blockers.remaining.get(node, 0)
        if remaining:
            held[node] = None
        else:
            writes = node in touched and touched[node].writes
            heapq.heappush(ready, _rank_of_writer(node) if writes else rank[node])

    def _rank_of_writer(node: Node) -> int:
        return rank[node] if may_wait(node) else rank[node] - count

    while ready or held:
        if not ready:
            # Writers of several variables wait for each other's readers: the oldest goes first.
            writer = min(held, key=lambda n: n.order)
            del held[writer]
            blockers.remaining[writer] = 0
            heapq.heappush(ready, rank[writer])
        index = heapq.heappop(ready)
        for node in meetings.together(step.nodes[index % count]):
            done(node)
        if not ready and not held:
            for node in meetings.give_up():
                _make_ready(node)
    return ordered


def _lateness(node: Node) -> int:
    """Who may wait comes last; who asks for a shape first, before others reuse the memory."""
    if may_wait(node):
        return 1
    return -1 if node.type in _ASK_FOR_SHAPES else 0


def _connect(step: StepGraph, touched: dict[Node, Accesses]) -> None:
    """Adds control edges so that accesses of one variable keep this order in any executor."""
    last_write: dict[Hashable, Node] = {}
    reads_since: dict[Hashable, list[Node]] = defaultdict(list)
    for node in step.nodes:
        access = touched.get(node)
        if access is None:
            continue
        before: dict[Node, None] = {}
        for state in sorted(access.reads | access.writes, key=repr):
            if state in last_write and not may_wait(last_write[state]):
                before[last_write[state]] = None
        for state in sorted(access.writes, key=repr):
            before.update(dict.fromkeys(reads_since.pop(state, ())))
            last_write[state] = node
        for state in access.reads - access.writes:
            reads_since[state].append(node)
        existing = set(node.producers())
        added = [n for n in before if n not in existing and n is not node]
        node.controls += added
        for other in added:
            if not touched[other].writes & (access.reads | access.writes):
                step.reads_first[other, node] = touched[other].reads & access.writes
