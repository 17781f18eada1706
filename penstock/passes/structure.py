"""Loops and conditionals of dataflow primitives as structure that a plan can be made of.

A loop's frame becomes one `_While` node, whose regions (`header`, `body`) are step graphs of their
own; inner loops are nodes of the outer ones' regions. In what is left of each region, Switch and
Merge become guards: a node of a branch runs only where the predicate says so, and `_Choose` takes
the value of the branch that ran. What always holds:
1. The values are those of the dataflow executor; where a graph is not of this form (hand-made
   primitives can be anything), `structured` returns None and the executor runs the step.
2. A region's feeds are the loop's variables, then its invariants, then what the header gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Arg, Signature
from penstock.ir.step_graph import FEED, Edge, Node, StepGraph, feed_for, is_back_edge
from penstock.passes.guards import NotStructured, guard_branches
from penstock.passes.order import accesses, order_step
from penstock.passes.prune import topological
from penstock.passes.sums import collect_products

ENTER = ("Enter", "RefEnter")
EXIT = ("Exit", "RefExit")
MERGE = ("Merge", "RefMerge")
SWITCH = ("Switch", "RefSwitch")
NEXT_ITERATION = ("NextIteration", "RefNextIteration")

Frame = tuple[str, ...]


@dataclass
class Loop:
    """A loop as a `_While` node has it in its attrs: two regions and how values pass through.

    `exits` says for each output of the node which loop variable it is at the end.
    """

    name: str
    header: StepGraph
    body: StepGraph
    variables: int
    exits: list[int]
    writes: bool
    references: tuple[set[int], set[int]]  # which results of header and body are references
    sums: list[int]  # the variables that are sums of products (passes/sums.py)
    assumed: list[tuple[int, bool]]  # the inputs of the node that must be so for the loop to run


def structured(step: StepGraph) -> StepGraph | None:
    """The step with loops and branches as structure, or None where it has no such form."""
    copy = step.copy()
    try:
        _collapse_loops(copy)
        _guard(copy)
    except NotStructured:
        return None
    order_step(copy)
    copy.verify("structured")
    return copy


def _guard(region: StepGraph, invariants: Sequence[Node] = ()) -> dict[Node, bool]:
    assumed = guard_branches(region, invariants)
    region.nodes = topological(region.nodes)
    return assumed


def _collapse_loops(step: StepGraph) -> None:
    frames = _frames(step.nodes)
    inside: dict[Frame, list[Node]] = {}
    for node in step.nodes:
        inside.setdefault(frames[node], []).append(node)
    for frame in sorted((frame for frame in inside if frame), key=len, reverse=True):
        loop = _Collapse(frame, inside[frame])
        made = loop.node()
        inside.setdefault(frame[:-1], []).append(made)
        _rewire(step, inside, frame, loop, made)
    step.nodes = topological(inside[()])


def _rewire(
    step: StepGraph,
    inside: dict[Frame, list[Node]],
    frame: Frame,
    loop: _Collapse,
    made: Node,
) -> None:
    """Lets the graph around a loop use the loop's node in place of its exits."""
    edges = {Edge(node, 0): Edge(made, i) for i, node in enumerate(loop.exits)}
    gone = {*inside.pop(frame), *loop.enters}
    outer = inside[frame[:-1]]
    outer[:] = [node for node in outer if node not in gone]
    # What enters the loops beside this one is used in the outer frame, too.
    beside = [node for key, nodes in inside.items() if key[:-1] == frame[:-1] for node in nodes]
    entering = [node for node in beside if node.type in ENTER]
    for node in (*outer, *entering):
        if node is made:
            continue
        node.inputs = [edges.get(edge, edge) for edge in node.inputs]
        if any(control in gone for control in node.controls):
            node.controls = list(
                dict.fromkeys(made if each in gone else each for each in node.controls)
            )
    step.fetches = [edges.get(edge, edge) for edge in step.fetches]
    step.targets = list(dict.fromkeys(made if each in gone else each for each in step.targets))


def _frames(nodes: Iterable[Node]) -> dict[Node, Frame]:
    """The frame that each node runs in; an Exit counts as a node of its loop."""
    found: dict[Node, Frame] = {}
    for node in nodes:
        if node.type in ENTER:
            outer = _common_frame(node, found)
            found[node] = (*outer, node.attrs["frame_name"])
        else:
            found[node] = _common_frame(node, found)
    return found


def _common_frame(node: Node, found: dict[Node, Frame]) -> Frame:
    frames = set()
    for producer in node.producers():
        if not is_back_edge(producer, node) and not _is_free(producer):
            frame = found[producer]
            frames.add(frame[:-1] if producer.type in EXIT else frame)
    if len(frames) > 1:
        raise NotStructured(f"{node!r} has inputs of several frames")
    return frames.pop() if frames else ()


def _is_free(node: Node) -> bool:
    """Whether a node is a constant of the step, which any frame may use."""
    return node.type == "Const" and not node.controls


class _Collapse:
    """One loop whose inner loops are nodes already."""

    def __init__(self, frame: Frame, nodes: list[Node]):
        self.frame = frame
        self.nodes = nodes = topological(nodes)
        self.enters = [node for node in nodes if node.type in ENTER]
        self.exits = [node for node in nodes if node.type in EXIT]
        self.merges = [node for node in nodes if node.type in MERGE and _is_loop_merge(node)]
        self.condition = _only([node for node in nodes if node.type == "LoopCond"], "LoopCond")
        self.switches = self._loop_switches()
        self._take_exits_from_switches()

    def _loop_switches(self) -> dict[Node, Node]:
        """For each variable's Merge, the Switch that leads into the body and out of the loop."""
        merged = {Edge(node, 0): node for node in self.merges}
        found: dict[Node, Node] = {}
        for node in self.nodes:
            if node.type in SWITCH and node.inputs[1] == Edge(self.condition, 0):
                merge = merged.get(node.inputs[0])
                if merge is None or merge in found:
                    raise NotStructured(f"{node!r} switches no variable of the loop")
                found[merge] = node
        return found

    def _take_exits_from_switches(self) -> None:
        """Leaves out what only hands the value of a Switch on to an Exit.

        Optimizers gate gradients: the two of a Merge are Identities that wait for its Switch.
        """
        switches = set(self.switches.values())
        takers: dict[Node, set[Node]] = {}
        for node in self.nodes:
            for producer in node.producers():
                takers.setdefault(producer, set()).add(node)
        gone: set[Node] = set()
        for leaving in self.exits:
            passed_on: list[Node] = []
            edge = leaving.inputs[0]
            while edge.node.type == "Identity" and _waits_for(edge.node, switches):
                passed_on.append(edge.node)
                edge = edge.node.inputs[0]
            alone = all(len(takers[node]) == 1 for node in passed_on)
            if passed_on and alone and edge.node in switches:
                leaving.inputs = [edge]
                gone.update(passed_on)
        self.nodes = [node for node in self.nodes if node not in gone]

    def node(self) -> Node:
        """The loop as one node of the region around it."""
        starts, self.invariants = self._entering()
        self.variables = starts
        feeds = [feed_for(edge, f"{self.frame[-1]}/variable") for edge in self._initial()]
        constants = [feed_for(Edge(node, 0), node.name) for node in self.invariants]
        loop = self._loop(feeds, constants)
        entered = [*starts, *self.invariants]
        made = Node(
            _while_spec(entered, self.exits),
            self.frame[-1],
            {"loop": loop},
            [node.dtypes[0] for node in self.exits],
            [node.shapes[0] for node in self.exits],
            (self.exits or self.enters)[0].origin,
            max(node.order for node in self.nodes),
            self.condition.device,
        )
        made.inputs = [node.inputs[0] for node in entered]
        made.controls = list(dict.fromkeys(c for node in entered for c in node.controls))
        return made

    def _initial(self) -> list[Edge]:
        return [Edge(merge, 0) for merge in self.merges]

    def _entering(self) -> tuple[list[Node], list[Node]]:
        """The Enter of each variable, and those of the invariants."""
        starts: list[Node] = []
        for merge in self.merges:
            if merge not in self.switches and len(self._consumers(merge)) == 0:
                raise NotStructured(f"{merge!r} leads nowhere")
            entering = [e.node for e in merge.inputs if e.node.type in ENTER]
            if len(entering) != 1 or len(merge.inputs) != 2:
                raise NotStructured(f"{merge!r} is no loop variable")
            starts.append(entering[0])
        started = set(starts)
        invariants = [node for node in self.enters if node not in started]
        if any(not node.attrs["is_constant"] for node in invariants):
            raise NotStructured("a value enters the loop for its first iteration only")
        return starts, invariants

    def _consumers(self, node: Node) -> list[Node]:
        return [each for each in self.nodes if any(edge.node is node for edge in each.inputs)]

    def _loop(self, feeds: list[Node], constants: list[Node]) -> Loop:
        header, body = self._regions()
        in_header: dict[Edge, Edge] = {}
        in_body: dict[Edge, Edge] = {}
        for merge, feed in zip(self.merges, feeds, strict=True):
            in_header[Edge(merge, 0)] = Edge(feed, 0)
            if merge in self.switches:
                in_body[Edge(self.switches[merge], 1)] = Edge(feed, 0)
        for enter, feed in zip(self.invariants, constants, strict=True):
            in_header[Edge(enter, 0)] = Edge(feed, 0)
        header_graph = self._header_graph(header, feeds, constants, in_header)
        body_graph, passed = self._body_graph(
            header, body, feeds, constants, {**in_header, **in_body}
        )
        header_graph.fetches += passed
        assumed: dict[int, bool] = {}
        for region in (header_graph, body_graph):
            _add_constants(region)
            fixed = region.feeds[len(feeds) : len(feeds) + len(constants)]
            for feed, value in _guard(region, fixed).items():
                if assumed.setdefault(region.feeds.index(feed), value) != value:
                    raise NotStructured("the loop needs both sides of one condition")
            order_step(region)
            region.verify("structured loop")
        sums = collect_products(header_graph, body_graph, len(feeds))
        writes = any(accesses(node).writes for node in (*header_graph.nodes, *body_graph.nodes))
        given = enumerate(header_graph.fetches[1:], 1)
        return Loop(
            self.frame[-1],
            header_graph,
            body_graph,
            len(feeds),
            self._exits_by_variable(),
            writes,
            (
                {i for i, edge in given if edge.dtype.is_ref_dtype},
                {
                    i
                    for i, merge in enumerate(self.merges)
                    if _back(merge).type == "RefNextIteration"
                },
            ),
            sums,
            list(assumed.items()),
        )

    def _exits_by_variable(self) -> list[int]:
        places = {switch: self.merges.index(merge) for merge, switch in self.switches.items()}
        found = []
        for node in self.exits:
            source = node.inputs[0]
            if source.node not in places or source.index != 0:
                raise NotStructured(f"{node!r} is not the exit of a variable")
            found.append(places[source.node])
        return found

    def _regions(self) -> tuple[list[Node], list[Node]]:
        """The nodes that run before the condition is known, and those of the body."""
        switches = set(self.switches.values())
        special = {*self.enters, *self.exits, *self.merges, *switches, self.condition}
        special |= {node for node in self.nodes if node.type in NEXT_ITERATION}
        in_body: set[Node] = set()
        header, body = [], []
        for node in self.nodes:
            if node in special:
                continue
            producers = set(node.producers())
            if any(edge.node in switches and edge.index == 0 for edge in node.inputs):
                raise NotStructured(f"{node!r} runs where the loop ends")
            if producers & (switches | in_body):
                in_body.add(node)
                body.append(node)
            else:
                header.append(node)
        return header, body

    def _header_graph(
        self, header: list[Node], feeds: list[Node], constants: list[Node], named: dict[Edge, Edge]
    ) -> StepGraph:
        inputs = [*feeds, *constants]
        members = set(header)
        for node in header:
            node.inputs = [named.get(edge, edge) for edge in node.inputs]
            _keep_controls(node, members)
        predicate = named.get(self.condition.inputs[0], self.condition.inputs[0])
        effects = _effects(header, [predicate])
        return StepGraph([*inputs, *header], list(inputs), [predicate], effects)

    def _body_graph(
        self,
        header: list[Node],
        body: list[Node],
        feeds: list[Node],
        constants: list[Node],
        named: dict[Edge, Edge],
    ) -> tuple[StepGraph, list[Edge]]:
        """The body, and the values of the header that it uses, which follow its other feeds."""
        own = {*feeds, *constants}
        variables = [_feed_like(feed) for feed in feeds]
        fixed = [_feed_like(feed) for feed in constants]
        renamed = dict(zip([*feeds, *constants], [*variables, *fixed], strict=True))
        named = {
            key: Edge(renamed[edge.node], 0) if edge.node in own else edge
            for key, edge in named.items()
        }
        members, in_body = set(header), set(body)
        passed: dict[Edge, Node] = {}

        def translated(edge: Edge) -> Edge:
            if edge in named:
                return named[edge]
            if edge.node in members:
                if edge not in passed:
                    passed[edge] = feed_for(edge, edge.node.name)
                return Edge(passed[edge], 0)
            return edge

        for node in body:
            node.inputs = [translated(edge) for edge in node.inputs]
            _keep_controls(node, in_body)
        results = []
        for merge, variable in zip(self.merges, variables, strict=True):
            source = _back(merge).inputs[0]
            switch = self.switches.get(merge)
            is_same = switch is not None and source == Edge(switch, 1)
            results.append(Edge(variable, 0) if is_same else translated(source))
        inputs = [*variables, *fixed, *passed.values()]
        graph = StepGraph([*inputs, *body], inputs, results, _effects(body, results))
        return graph, list(passed)


def _keep_controls(node: Node, members: set[Node]) -> None:
    """Keeps the control inputs that are in the same region; the others have run before."""
    node.controls = [control for control in node.controls if control in members]


def _while_spec(enters: list[Node], exits: list[Node]) -> OpSpec:
    """The signature of one loop: what enters it, by reference where the loop wants that."""
    inputs = tuple(
        Arg(f"input_{i}", node.dtypes[0].base_dtype, is_ref=node.type == "RefEnter")
        for i, node in enumerate(enters)
    )
    outputs = tuple(
        Arg(f"output_{i}", node.dtypes[0].base_dtype, is_ref=node.type == "RefExit")
        for i, node in enumerate(exits)
    )
    return OpSpec(Signature("_While", inputs, outputs, {}), frozenset([Trait.STATEFUL]))


def _add_constants(region: StepGraph) -> None:
    """Gives a region copies of the step's constants that it uses."""
    members = set(region.nodes)
    copies: dict[Node, Node] = {}

    def own(edge: Edge) -> Edge:
        if edge.node in members:
            return edge
        if not _is_free(edge.node):
            raise NotStructured(f"{edge.node!r} is outside of the loop that uses it")
        return Edge(copies.setdefault(edge.node, edge.node.copy()), edge.index)

    for node in region.nodes:
        node.inputs = [own(edge) for edge in node.inputs]
    region.fetches = [own(edge) for edge in region.fetches]
    region.nodes = [*copies.values(), *region.nodes]


def _effects(nodes: list[Node], results: list[Edge]) -> list[Node]:
    """What runs for its effect: nodes that nobody uses."""
    used = {producer for node in nodes for producer in node.producers()}
    used.update(edge.node for edge in results)
    return [node for node in nodes if node not in used]


def _waits_for(node: Node, others: set[Node]) -> bool:
    """Whether all control inputs of a node stand for some of the others."""
    return all(
        control in others or (control.type == "NoOp" and _waits_for(control, others))
        for control in node.controls
    )


def _is_loop_merge(node: Node) -> bool:
    return any(edge.node.type in NEXT_ITERATION for edge in node.inputs)


def _back(merge: Node) -> Node:
    """The NextIteration that closes the loop at a Merge."""
    return _only([e.node for e in merge.inputs if e.node.type in NEXT_ITERATION], "NextIteration")


def _only(nodes: list[Any], what: str) -> Any:
    if len(nodes) != 1:
        raise NotStructured(f"the loop has {len(nodes)} nodes of the kind {what}")
    return nodes[0]


def _feed_like(feed: Node) -> Node:
    return Node(FEED, feed.name, feed.attrs, feed.dtypes, feed.shapes, feed.origin, order=-1)
