"""Regions of a step that a compiler makes one function of: runs of elementwise and other small ops.

It works on a step that has run: what the values of its edges look like (`Form`) is known. What
always holds:
1. A region is a run of nodes in the order of the step, so it is convex, and values live no longer
   than before; cheap nodes in between that need nothing of it are moved before it.
2. All its nodes are pure, of one device and under one guard. Whoever needs a view out of a region
   gets it from a copy of the view behind the region: a region gives memory of its own alone.
3. Sizes and axes are constants inside of a region, all other values come in as inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from penstock import dtypes
from penstock.ir.registry import OpSpec
from penstock.ir.signature import Arg, Signature
from penstock.ir.step_graph import Edge, Node, StepGraph, feed_for

#: Ops that compute something; those below only rename or move elements.
_COMPUTING = frozenset(
    """
    Abs Add AddN AddV2 BiasAdd BiasAddGrad BiasAddV1 Cast Ceil ClipByValue Cos Div DivNoNan Elu
    EluGrad Equal Erf Erfc Exp Expm1 Floor FloorDiv FloorMod Greater GreaterEqual Inv InvGrad
    IsFinite IsNan L2Loss LeakyRelu LeakyReluGrad Less LessEqual Log Log1p LogSoftmax LogicalAnd
    LogicalNot LogicalOr Max Maximum Mean Min Minimum Mul Neg NotEqual Pow Prod RealDiv Reciprocal
    ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad Rint Round Rsqrt RsqrtGrad Select SelectV2 Selu
    SeluGrad Sigmoid SigmoidGrad Sign Sin Softmax Softplus SoftplusGrad Softsign SoftsignGrad Sqrt
    SqrtGrad Square SquaredDifference Sub Sum Tanh TanhGrad
    """.split()
)
_MOVING = frozenset(
    """
    BroadcastTo ConcatV2 ExpandDims Identity OnesLike Pack Pad Reshape Slice Split SplitV
    Squeeze StopGradient Tile Transpose Unpack ZerosLike
    """.split()
)
_TYPES = (dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.float16, dtypes.bool)
_SIZES = (dtypes.int32, dtypes.int64)
#: What may be moved before a region that it needs nothing of: it costs nothing to be done early.
_CHEAP = frozenset(
    """
    Const Identity ReadVariableOp Shape StackPopV2 TensorArrayReadV3 _Copy _Truth
    """.split()
)

LEAST = 3  # computing nodes of a region: fewer gain less than a call costs
MOST = 128  # nodes of a region: a compiler's time grows faster than their number


class Form(NamedTuple):
    """What a value was like when the step ran."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str


#: The forms of a step's values, by the name of the node that makes one and its number there.
Forms = Mapping[tuple[str, int], Form]


@dataclass
class Region:
    """A run of nodes that one function computes."""

    nodes: list[Node]


def may_have_regions(graph: StepGraph) -> bool:
    """Whether it is worth a look, once the step has run, what can be fused in it."""
    bodies = [node.attrs["loop"].body for node in graph.nodes if node.type == "_While"]
    count = sum(node.type in _COMPUTING for node in graph.nodes)
    return count >= LEAST or any(may_have_regions(body) for body in bodies)


def fuse(
    graph: StepGraph,
    forms: Forms,
    is_view: Callable[[Node], bool],
    takes: Callable[[Node], bool],
) -> None:
    """Puts a `_Fused` node in the place of each region whose node `takes` agrees to.

    `is_view` says of a node whether its results may share memory with its inputs.
    """
    nodes: list[Node] = []
    replaced: dict[Edge, Edge] = {}
    instead: dict[Node, Node] = {}  # for control edges
    uses = _uses(graph)
    for entry in _runs(graph, forms, is_view):
        if isinstance(entry, Node):
            nodes.append(entry)
            continue
        fused, views, edges = _fused(entry, uses, is_view, forms)
        if not takes(fused):
            nodes += entry.nodes
            continue
        nodes += [fused, *views]
        replaced |= edges
        instead.update(dict.fromkeys(entry.nodes, fused))
    graph.nodes = nodes
    graph.replace(replaced)
    for node in nodes:
        if node.controls:
            moved = [instead.get(control, control) for control in node.controls]
            node.controls = [each for each in dict.fromkeys(moved) if each is not node]
        node.guard = tuple((replaced.get(edge, edge), value) for edge, value in node.guard)
    graph.verify("fuse")


def _uses(graph: StepGraph) -> dict[Edge, list[Node | None]]:
    """Who takes a value; None stands for the one who fetches it."""
    uses: dict[Edge, list[Node | None]] = {}
    for node in graph.nodes:
        for edge in (*node.inputs, *(predicate for predicate, _ in node.guard)):
            uses.setdefault(edge, []).append(node)
    for edge in graph.fetches:
        uses.setdefault(edge, []).append(None)
    return uses


def _runs(graph: StepGraph, forms: Forms, is_view: Callable[[Node], bool]) -> list[Node | Region]:
    """The nodes in order, with regions in the place of those that belong to one."""
    runs = _Runs(graph, is_view)
    targets = set(graph.targets)
    for node in graph.nodes:
        if node not in targets and _can_fuse(node, forms):
            runs.add(node)
        elif node.type in _CHEAP:
            runs.pass_by(node)
        else:
            runs.close()
            runs.found.append(node)
    runs.close()
    return runs.found


class _Runs:
    """The region that is being gathered, and what is finished."""

    def __init__(self, graph: StepGraph, is_view: Callable[[Node], bool]):
        self.found: list[Node | Region] = []
        self._is_view = is_view
        self._position = {node: index for index, node in enumerate(graph.nodes)}
        self._open: list[Node] = []
        self._before: list[Node] = []

    def add(self, node: Node) -> None:
        first = self._open[0] if self._open else node
        fits = first.guard == node.guard and (first.device == node.device or not node.dtypes)
        if not fits or len(self._open) >= MOST:
            self.close()
        # What makes nothing may be in a region, but begins none.
        (self._open if self._open or node.dtypes else self.found).append(node)

    def pass_by(self, node: Node) -> None:
        """Takes a cheap node, which is moved before the region if it needs no value of it.

        It need not wait for the region: what is in there has no effects.
        """
        needed = (*node.inputs, *(predicate for predicate, _ in node.guard))
        if any(edge.node in self._open for edge in needed):
            self.close()
        node.controls = [control for control in node.controls if control not in self._open]
        (self._before if self._open else self.found).append(node)

    def close(self) -> None:
        ends: list[Node] = []
        while self._open and not self._may_end(self._open[-1]):
            ends.insert(0, self._open.pop())
        if sum(node.type in _COMPUTING for node in self._open) >= LEAST:
            self.found += [*self._before, Region(self._open)]
        else:
            nodes = [*self._open, *self._before]
            nodes.sort(key=self._position.__getitem__)
            self.found += nodes
        self.found += ends
        self._open, self._before = [], []

    def _may_end(self, node: Node) -> bool:
        """Whether a region may end with a node: not with one that nothing in the region needs."""
        return bool(node.dtypes) and not self._is_view(node)


def _can_fuse(node: Node, forms: Forms) -> bool:
    """Whether a compiler can take the node: a pure one of known sizes, of numbers that it knows."""
    if node.type == "NoOp":  # it waits for others, which come before the region's end
        return True
    if node.type not in _COMPUTING and node.type not in _MOVING:
        return False
    for edge in node.inputs:
        if edge.dtype.base_dtype in _SIZES:
            if edge.node.type != "Const":
                return False
        elif edge.dtype.base_dtype not in _TYPES or _key(edge) not in forms:
            return False
    outputs = (Edge(node, index) for index in range(len(node.dtypes)))
    return all(edge.dtype in _TYPES and _key(edge) in forms for edge in outputs)


def _key(edge: Edge) -> tuple[str, int]:
    return edge.node.name, edge.index


def _fused(
    region: Region,
    uses: Mapping[Edge, list[Node | None]],
    is_view: Callable[[Node], bool],
    forms: Forms,
) -> tuple[Node, list[Node], dict[Edge, Edge]]:
    """The node that stands for a region, copies of the views that others take out of it, and
    which of their results stand for which of the region's."""
    replaced: dict[Edge, Edge] = {}
    members = set(region.nodes)
    views: list[Node] = []
    wanted: dict[Edge, None] = {}  # an ordered set
    for node in reversed(region.nodes):
        edges = [Edge(node, index) for index in range(len(node.dtypes))]
        taken = [e for e in edges if e in wanted or not members.issuperset(uses.get(e, ()))]
        if not taken:
            continue
        if not is_view(node):
            wanted.update(dict.fromkeys(taken))
            continue
        for edge in taken:
            wanted.pop(edge, None)
        copy = node.copy()
        copy.controls = []
        views.insert(0, copy)
        replaced.update((edge, Edge(copy, edge.index)) for edge in edges)
        wanted.update(dict.fromkeys(e for e in node.inputs if e.node in members))
    fused = _node_of(region, list(wanted), forms)
    for index, edge in enumerate(wanted):
        replaced[edge] = Edge(fused, index)
    return fused, views, replaced


def _node_of(region: Region, outputs: list[Edge], forms: Forms) -> Node:
    """One node for a region, with the region as a step of its own in its attrs."""
    members = set(region.nodes)
    inside: dict[Edge, Edge] = {}
    sources: list[Edge] = []
    feeds: list[Node] = []
    nodes: list[Node] = []
    for node in region.nodes:
        if not node.dtypes:
            continue
        for edge in node.inputs:
            if edge in inside or edge.node in members:
                continue
            if edge.node.type == "Const" and edge.dtype in _SIZES:
                nodes.append(edge.node)
                inside[edge] = edge
                continue
            feed = feed_for(edge, f"input_{len(feeds)}")
            feed.dtypes = [edge.dtype.base_dtype]
            feeds.append(feed)
            sources.append(edge)
            inside[edge] = Edge(feed, 0)
        copy = node.copy()
        copy.inputs = [inside[edge] for edge in node.inputs]
        copy.controls, copy.guard = [], ()
        inside.update((Edge(node, i), Edge(copy, i)) for i in range(len(node.dtypes)))
        nodes.append(copy)
    step = StepGraph([*feeds, *nodes], feeds, [inside[edge] for edge in outputs], [])
    first = region.nodes[0]
    made = Node(
        _spec(sources, outputs),
        f"{first.name}_and_{len(region.nodes) - 1}_more",
        {"region": step, "forms": [forms[_key(edge)] for edge in sources]},
        [edge.dtype for edge in outputs],
        [edge.shape for edge in outputs],
        first.origin,
        region.nodes[-1].order,
        first.device,
    )
    made.inputs = sources
    made.guard = first.guard
    controls = (c for node in region.nodes for c in node.controls if c not in members)
    made.controls = list(dict.fromkeys(controls))
    return made


def _spec(inputs: list[Edge], outputs: list[Edge]) -> OpSpec:
    return OpSpec(
        Signature(
            "_Fused",
            tuple(Arg(f"input_{i}", edge.dtype.base_dtype) for i, edge in enumerate(inputs)),
            tuple(Arg(f"output_{i}", edge.dtype) for i, edge in enumerate(outputs)),
            {},
        ),
        frozenset(),
    )
