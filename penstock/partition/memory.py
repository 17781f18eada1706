"""Which memory the values of a GPU's part are in, and copies where a node wants them elsewhere.

Sizes, axes and indices of slices are read by the host before a kernel is launched, so they stay in
the host's memory, and what is computed from integers alone is computed there: shape arithmetic
never waits for the GPU. Everything else is in the device's memory.

1. A node of the part runs on the device, or on the host (then its `device` is the host's name).
2. A value crosses by a `_Copy` node, one for each memory that wants it. Constants are made where
   they are wanted.
3. A loop's variable stays in one memory: in the device's, if any iteration leaves it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock import dtypes
from penstock.devices import DeviceSpec
from penstock.dtypes import DType
from penstock.ir.registry import CONTROL_FLOW, op
from penstock.ir.signature import Arg
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.ir.type_sets import FLOATING

HOST, DEVICE = "host", "device"
ANY = "any"  # a constant, which can be made in either; a handle, which is in neither

COPY = op("_Copy(x: T) -> y: T", to=HOST)

Supports = Callable[[Node, str], bool]

# Inputs of these types are data wherever an op has them; others of its integers may be sizes.
_COMPLEX = (dtypes.complex64, dtypes.complex128)
_COUNTING = (dtypes.int32, dtypes.int64, dtypes.bool, dtypes.string)
_SIZE_ATTRS = frozenset(
    "Tidx Index Tshape Tpaddings Tnumsegments Tseed Taxis S Tblock_shape Tlen Tindex Tperm Tdim "
    "index_type Tcrops shape_type Tmultiples Tk Tshift".split()
)
_SIZE_TYPES = (dtypes.int32, dtypes.int64, dtypes.uint64, dtypes.string)
# Arguments that the rules take for sizes but are data, and the other way round.
_DATA = frozenset(
    "DynamicPartition.partitions CropAndResize.box_ind CropAndResizeGradImage.box_ind Bincount.arr "
    "CropAndResizeGradBoxes.box_ind InplaceUpdate.i InplaceAdd.i InplaceSub.i "
    "DenseBincount.input SparseDenseCwiseMul.sp_indices SparseDenseCwiseDiv.sp_indices "
    "SparseDenseCwiseAdd.sp_indices _MaxPoolGradOfKept.positions "
    "CTCLoss.labels_indices CTCLossV2.labels_indices".split()
)
_SIZES = frozenset(
    "RandomUniform.shape RandomStandardNormal.shape TruncatedNormal.shape RandomUniformInt.shape "
    "StatelessRandomUniform.shape StatelessRandomNormal.shape StatelessTruncatedNormal.shape "
    "StatelessRandomUniformInt.shape StatelessRandomUniformFullInt.shape ScatterNd.shape "
    "ParameterizedTruncatedNormal.shape SparseTensorDenseAdd.a_shape PadV2.constant_values "
    "LinSpace.start LinSpace.stop HistogramFixedWidth.value_range MatrixSolveLs.l2_regularizer "
    "BatchMatrixSolveLs.l2_regularizer Reverse.dims".split()
)
_ASKS_FOR_SHAPE = ("Shape", "ShapeN", "Size", "Rank", "VariableShape", "TensorArraySizeV3")
_KEEPS_VALUES = ("TensorArray", "StackP")  # their elements are where their type belongs


@dataclass
class _Found:
    """What was found out about one graph."""

    space: dict[Edge, str] = field(default_factory=dict)
    on_host: set[Node] = field(default_factory=set)
    wanted: dict[Node, list[str]] = field(default_factory=dict)  # of each node's inputs


def settle(
    graph: StepGraph, device: str, host: str, supports: Supports, *, fetches: str = ANY
) -> None:
    """Decides for every node of a GPU's part, and puts copies in, in place.

    `fetches` says which memory the results of the part are wanted in.
    """
    settling = _Settling(device, host, supports)
    settling.apply(graph, [HOST] * len(graph.feeds), [fetches] * len(graph.fetches))


class _Settling:
    def __init__(self, device: str, host: str, supports: Supports):
        self.device, self.host, self.supports = device, host, supports
        self.device_type = DeviceSpec.from_string(device).device_type or ""
        self.variables: dict[int, list[str]] = {}  # by loop: where its variables are

    # Finding out -------------------------------------------------------------------------------

    def find(self, graph: StepGraph, feeds: Sequence[str]) -> _Found:
        found = _Found()
        for feed, space in zip(graph.feeds, feeds, strict=True):
            found.space[Edge(feed, 0)] = _space_of(feed.dtypes[0], space)
        for node in graph.nodes:
            if node.type != "_Feed":
                self._node(node, found)
        return found

    def _node(self, node: Node, found: _Found) -> None:
        # The back edge of a hand-made loop comes from a node further down.
        given = [found.space.get(edge, _belongs(edge.dtype)) for edge in node.inputs]
        if node.attrs.get("loop") is not None:
            wanted, outputs, on_host = self._loop(node, given)
        else:
            wanted, outputs, on_host = self._rule(node, given)
        wanted = [
            ANY if is_handle(edge.dtype, takes_ref) else want
            for edge, want, takes_ref in zip(node.inputs, wanted, node.ref_inputs(), strict=True)
        ]
        found.wanted[node] = wanted
        if on_host:
            found.on_host.add(node)
        for i, (dtype, space) in enumerate(zip(node.dtypes, outputs, strict=True)):
            found.space[Edge(node, i)] = _space_of(dtype, space)

    def _rule(self, node: Node, given: list[str]) -> tuple[list[str], list[str], bool]:
        """Where a node wants its inputs, where its outputs are, and whether it runs on the host."""
        count, outputs = len(node.inputs), len(node.dtypes)
        if node.type == "Const":
            return [], [ANY], False
        if node.device != self.device:  # in a step that is not cut: of the host's own
            return [HOST] * count, [HOST] * outputs, True
        if node.type == "_Recv":
            return [], [_belongs(node.dtypes[0])], False
        if node.type == "_Send" or node.type == "_Show":
            return [ANY], [], True
        if node.type == "_Truth" or node.type == "LoopCond":
            return [HOST] * count, [HOST] * outputs, True
        if node.type == "_Choose":
            side = DEVICE if DEVICE in given[1:] else _first(given[1:], node.dtypes[0])
            return [HOST, side, side], [side, HOST], False
        if node.type in _ASKS_FOR_SHAPE:
            return [ANY] * count, [HOST] * outputs, True
        if CONTROL_FLOW in node.spec.traits:
            spaces = [_belongs(dtype) for dtype in node.dtypes]
            wanted = [_belongs(edge.dtype) for edge in node.inputs]
            if node.type in ("Switch", "RefSwitch"):
                wanted[1] = HOST
            return wanted, spaces, False
        if node.type.startswith(_KEEPS_VALUES):
            sizes = _wants_sizes(node)
            wanted = [
                HOST if size or _is_flow(arg) else _belongs(edge.dtype)
                for edge, size, arg in zip(node.inputs, sizes, _arguments(node), strict=True)
            ]
            flows = [arg.name == "flow_out" or arg.name == "flow" for arg in node.spec.outputs]
            spaces = [
                HOST if flow else _belongs(dtype)
                for dtype, flow in zip(node.dtypes, flows, strict=True)
            ]
            return wanted, spaces, False
        if self._runs_on_host(node, given):
            return [HOST] * count, [HOST] * outputs, True
        return [HOST if size else DEVICE for size in _wants_sizes(node)], [DEVICE] * outputs, False

    def _runs_on_host(self, node: Node, given: list[str]) -> bool:
        if node.type == "Assert" or not self.supports(node, self.device_type):
            return True
        counts = all(dtype in _COUNTING for dtype in node.dtypes)
        touches_state = any(is_handle(edge.dtype) for edge in node.inputs)
        return (
            counts
            and bool(node.dtypes)
            and bool(node.inputs)
            and DEVICE not in given
            and not touches_state
            and all(edge.dtype in _COUNTING for edge in node.inputs)
        )

    def _loop(self, node: Node, given: list[str]) -> tuple[list[str], list[str], bool]:
        loop = node.attrs["loop"]
        entering = [
            _belongs(edge.dtype) if space == ANY else space
            for edge, space in zip(node.inputs, given, strict=True)
        ]
        variables, fixed = entering[: loop.variables], entering[loop.variables :]
        while True:
            header = self.find(loop.header, [*variables, *fixed])
            passed = [header.space[edge] for edge in loop.header.fetches[1:]]
            passed = [
                _belongs(edge.dtype) if space == ANY else space
                for edge, space in zip(loop.header.fetches[1:], passed, strict=True)
            ]
            body = self.find(loop.body, [*variables, *fixed, *passed])
            moved = [
                DEVICE if DEVICE in (now, body.space[edge]) else now
                for now, edge in zip(variables, loop.body.fetches, strict=False)
            ]
            if moved == variables:
                break
            variables = moved
        self.variables[id(loop)] = [*variables, *fixed, *passed]
        return [*variables, *fixed], [variables[i] for i in loop.exits], False

    # Putting copies in -------------------------------------------------------------------------

    def apply(self, graph: StepGraph, feeds: Sequence[str], fetches: Sequence[str]) -> None:
        found = self.find(graph, feeds)
        copies: dict[tuple[Edge, str], Edge] = {}
        nodes: list[Node] = []
        waited_for = {control for node in graph.nodes for control in node.controls}
        waited_for.update(graph.targets)

        def moved(edge: Edge, want: str) -> Edge:
            have = found.space[edge]
            if want == ANY and edge.node.type == "Const":
                want = _belongs(edge.dtype)
            if want in (ANY, have):
                return edge
            if (edge, want) not in copies:
                made = self._made(edge, want)
                copies[edge, want] = Edge(made, 0 if made.type == "_Copy" else edge.index)
                nodes.append(made)
            return copies[edge, want]

        for node in graph.nodes:
            if node.type == "Const" and node not in waited_for:
                continue  # made where it is wanted
            loop = node.attrs.get("loop")
            if loop is not None:
                self._apply_to_loop(loop)
            elif node in found.on_host:
                node.device = self.host
            if node.type != "_Feed":
                wanted = found.wanted[node]
                node.inputs = [moved(e, w) for e, w in zip(node.inputs, wanted, strict=True)]
            nodes.append(node)
        graph.fetches = [moved(e, w) for e, w in zip(graph.fetches, fetches, strict=True)]
        graph.nodes = nodes
        graph.verify("settle")

    def _apply_to_loop(self, loop: Any) -> None:
        spaces = self.variables[id(loop)]
        entering = spaces[: len(loop.header.feeds)]
        passed = spaces[len(loop.header.feeds) :]
        self.apply(loop.header, entering, [HOST, *passed])
        self.apply(loop.body, spaces, spaces[: loop.variables])

    def _made(self, edge: Edge, want: str) -> Node:
        place = self.host if want == HOST else self.device
        if edge.node.type == "Const":
            made = edge.node.copy()
            made.device = place
            return made
        dtype = edge.dtype.base_dtype
        made = Node(
            COPY,
            f"{edge.node.name}/to_{want}",
            {"T": dtype, "to": want},
            [dtype],
            [edge.shape],
            edge.node.origin,
            edge.node.order,
            place,
        )
        made.inputs = [edge]
        made.guard = edge.node.guard
        return made


def is_handle(dtype: DType, takes_ref: bool = True) -> bool:
    """Whether an input is state itself, not a value of it."""
    return (dtype.is_ref_dtype and takes_ref) or dtype in (dtypes.resource, dtypes.variant)


def _space_of(dtype: DType, space: str) -> str:
    if dtype in (dtypes.resource, dtypes.variant):
        return ANY
    return DEVICE if dtype.is_ref_dtype else space  # the value of a variable of this device


def in_device_memory(dtype: DType) -> bool:
    """Whether values of a type are in the device's memory if nothing else decides."""
    return dtype.base_dtype in (*FLOATING, *_COMPLEX)


def _belongs(dtype: DType) -> str:
    return DEVICE if in_device_memory(dtype) else HOST


def _first(spaces: list[str], dtype: DType) -> str:
    return next((space for space in spaces if space != ANY), _belongs(dtype))


def _arguments(node: Node) -> list[Arg]:
    """The argument that each input of a node belongs to."""
    return [arg for arg in node.spec.inputs for _ in range(arg.count(node.attrs))]


def _is_flow(arg: Arg) -> bool:
    return arg.name == "flow_in"


def _wants_sizes(node: Node) -> list[bool]:
    """For each input, whether the host reads it: a size, an axis, a position."""
    return [_is_size(node.type, arg) for arg in _arguments(node)]


def _is_size(op_type: str, arg: Arg) -> bool:
    name = f"{op_type}.{arg.name}"
    if name in _SIZES:
        return True
    if name in _DATA or op_type.startswith("SparseSegment"):
        return arg.type_attr == "Tnumsegments"
    return arg.type_attr in _SIZE_ATTRS or arg.dtype in _SIZE_TYPES
