"""Regions of a step that a compiler makes one function of: runs of elementwise and other small ops.

It works on a step that has run: what the values of its edges look like (`Form`) is known. What
always holds:
1. A region is a run of nodes in the order of the step, so it is convex, and values live no longer
   than before, but for small ones: cheap nodes in between that need nothing of it are moved before
   it, and a later node that makes little joins it if all that it needs is there by then.
2. All its nodes are pure, of one device and under one guard. A region gives memory of its own
   alone: who needs several views of one value gets them from copies of the views behind the region.
3. Sizes, axes and constants of one number are constants inside of a region, all other values come
   in as inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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
MOST_SCALARS = 1024  # ... where all are scalars, which need no loops
SMALL = 2**18  # bytes of what a node makes that may be computed earlier than its turn
THIN = 2**16  # elements of the operands of a product that may be computed as a sum of products


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
    runs = _Runs(graph, forms, is_view)
    for node in graph.nodes:
        runs.take(node)
    return runs.finish()


def _makes_scalars(node: Node) -> bool:
    return all(shape == () for shape in node.shapes)


def _has_effects(node: Node) -> bool:
    """Whether a node may change what another one reads."""
    handles = (edge.dtype.is_ref_dtype or edge.dtype is dtypes.resource for edge in node.inputs)
    return node.spec.is_stateful or any(handles)


def _needed(node: Node) -> list[Edge]:
    """The values that must be there before a node runs."""
    return [*node.inputs, *(predicate for predicate, _ in node.guard)]


class _Runs:
    """The region that is being gathered, and what is finished."""

    def __init__(self, graph: StepGraph, forms: Forms, is_view: Callable[[Node], bool]):
        self.found: list[Node | Region] = []
        self._targets = set(graph.targets)
        self._forms = forms
        self._is_view = is_view
        self._position = {node: index for index, node in enumerate(graph.nodes)}
        self._open: dict[Node, None] = {}  # an ordered set, as is the last
        self._before: list[Node] = []
        self._behind: dict[Node, None] = {}  # what has to come after the region
        self._has_scalars_alone = True

    def take(self, node: Node) -> None:
        if self._can_fuse(node):
            self.add(node)
        elif node.type in _CHEAP:
            self.pass_by(node)
        else:
            self.leave_behind(node)

    def _can_fuse(self, node: Node) -> bool:
        return node not in self._targets and _can_fuse(node, self._forms)

    def add(self, node: Node) -> None:
        """Takes a node that can be fused."""
        if self._open and not self._fits(node):
            if node.type not in _COMPUTING:  # it alone is not worth another region
                self._behind[node] = None
                return
            self.close()
        if self._open or node.dtypes:
            node.controls = [control for control in node.controls if control not in self._behind]
            self._open[node] = None
            self._has_scalars_alone = self._has_scalars_alone and _makes_scalars(node)
        else:  # what makes nothing may be in a region, but begins none
            self.found.append(node)

    def _fits(self, node: Node) -> bool:
        first = next(iter(self._open))
        if first.guard != node.guard or (first.device != node.device and node.dtypes):
            return False
        scalars_alone = self._has_scalars_alone and _makes_scalars(node)
        if len(self._open) >= (MOST_SCALARS if scalars_alone else MOST):
            return False
        return not self._behind or self._may_go_ahead(node)

    def _may_go_ahead(self, node: Node) -> bool:
        """Whether a node may be computed before all that is behind the region.

        It may not read a variable earlier than it should, and its values live longer then.
        """
        if self._needs_behind(node) or any(edge.dtype.is_ref_dtype for edge in node.inputs):
            return False
        return _bytes_made(node, self._forms) <= SMALL

    def pass_by(self, node: Node) -> None:
        """Takes a cheap node, which is moved before the region if it needs no value of it.

        It need not wait for the region: what is in there has no effects.
        """
        needs_region = any(edge.node in self._open for edge in _needed(node))
        stays = needs_region or self._needs_behind(node) or any(map(_has_effects, self._behind))
        if stays and node.type != "Const":
            self.leave_behind(node)
            return
        passed = self._open.keys() | self._behind.keys()
        node.controls = [control for control in node.controls if control not in passed]
        (self._before if self._open else self.found).append(node)

    def _needs_behind(self, node: Node) -> bool:
        """Whether a node has to come after something that is behind the region.

        To be told to wait for what has no effects changes nothing.
        """
        if any(edge.node in self._behind for edge in _needed(node)):
            return True
        waits = any(control in self._behind for control in node.controls)
        return waits and any(map(_has_effects, self._behind))

    def leave_behind(self, node: Node) -> None:
        """Takes a node that is not fused: it comes after the region that is open."""
        if self._open:
            self._behind[node] = None
        else:
            self.found.append(node)

    def close(self) -> None:
        """Ends the region. What is behind it and only moves elements may begin the next one."""
        members = list(self._open)
        ends: list[Node] = []
        while members and not self._may_end(members[-1]):
            ends.insert(0, members.pop())
        fixed, movable = self._split_behind()
        if sum(self._computes(node) for node in members) >= LEAST:
            self.found += [*self._before, Region(members), *ends, *fixed]
        else:
            nodes = [*self._open, *self._before, *fixed]
            nodes.sort(key=self._position.__getitem__)
            self.found += nodes
        self._open, self._before, self._behind = {}, [], {}
        self._has_scalars_alone = True
        for node in movable:
            self.add(node)

    def _computes(self, node: Node) -> bool:
        """Whether a node does more than pass on what it gets, as a sum over no axis does."""
        return node.type in _COMPUTING and not self._is_view(node)

    def _split_behind(self) -> tuple[list[Node], list[Node]]:
        """Of what is behind the region, that which has its place, and that which could be fused."""
        fixed: list[Node] = []
        movable: list[Node] = []
        needed: set[Node] = set()
        for node in reversed(self._behind):
            may_move = node not in needed and self._can_fuse(node)
            (movable if may_move else fixed).insert(0, node)
            if not may_move:
                needed.update(edge.node for edge in _needed(node))
                needed.update(node.controls)
        return fixed, movable

    def finish(self) -> list[Node | Region]:
        while self._open:
            self.close()
        return self.found

    def _may_end(self, node: Node) -> bool:
        """Whether a region may end with a node: not with a view of what comes in from outside."""
        made_here = any(edge.node in self._open for edge in node.inputs)
        return bool(node.dtypes) and (made_here or not self._is_view(node))


def _can_fuse(node: Node, forms: Forms) -> bool:
    """Whether a compiler can take the node: a pure one of known sizes, of numbers that it knows."""
    if node.type == "NoOp":  # it waits for others, which come before the region's end
        return True
    if node.type not in _COMPUTING and node.type not in _MOVING and not _is_thin(node, forms):
        return False
    for edge in node.inputs:
        if edge.dtype.base_dtype in _SIZES:
            if edge.node.type != "Const":
                return False
        elif edge.dtype.base_dtype not in _TYPES or _key(edge) not in forms:
            return False
    outputs = (Edge(node, index) for index in range(len(node.dtypes)))
    return all(edge.dtype in _TYPES and _key(edge) in forms for edge in outputs)


def _is_thin(node: Node, forms: Forms) -> bool:
    """Whether a node is a matrix product that is little more than a scaled vector, or a sum."""
    if node.type != "MatMul":
        return False
    shapes = [forms[_key(edge)].shape for edge in node.inputs if _key(edge) in forms]
    return (
        len(shapes) == 2
        and any(1 in shape for shape in shapes)
        and all(math.prod(shape) <= THIN for shape in shapes)
    )


def _bytes_made(node: Node, forms: Forms) -> int:
    sizes = (math.prod(forms[node.name, index].shape) for index in range(len(node.dtypes)))
    return sum(size * dtype.size for size, dtype in zip(sizes, node.dtypes, strict=True))


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
    results = _results(wanted, views, replaced, uses, members)
    fused = _node_of(region, results, forms)
    replaced.update((edge, Edge(fused, index)) for index, edge in enumerate(results))
    return fused, views, replaced


def _results(
    wanted: Iterable[Edge],
    views: list[Node],
    replaced: dict[Edge, Edge],
    uses: Mapping[Edge, list[Node | None]],
    members: Collection[Node],
) -> list[Edge]:
    """What a region gives: in the place of a value of which just one view is wanted, the view.

    No copy of such a view is needed behind the region: it is taken out of the others.
    """
    inside = {made.node: edge for edge, made in replaced.items()}  # which view a copy is of

    def only_view_of(edge: Edge) -> Node | None:
        takers = [view for view in views if edge in view.inputs]
        others = set(uses.get(edge, ())) - {inside[view].node for view in takers}
        alone = len(takers) == 1 and len(takers[0].dtypes) == 1
        return takers[0] if alone and all(user in members for user in others) else None

    found = []
    for edge in wanted:
        while (view := only_view_of(edge)) is not None:
            edge = inside[view]
            views.remove(view)
            del replaced[edge]
        found.append(edge)
    return found


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
            if edge.node.type == "Const" and (edge.dtype in _SIZES or _is_uniform(edge.node)):
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


def _is_uniform(constant: Node) -> bool:
    """Whether all elements of a constant are the same, down to their bits."""
    try:
        value = np.asarray(constant.attrs["value"])
    except TypeError:  # a type that NumPy does not know
        return False
    if not value.size or not value.dtype.isbuiltin:
        return False
    bits = np.ascontiguousarray(value).reshape(-1, 1).view(np.uint8)
    return bool((bits == bits[0]).all())


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
