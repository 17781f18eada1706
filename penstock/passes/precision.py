"""Mixed precision on request: products of matrices and convolutions in 16 bits, the rest in 32.

TensorFlow's rewrite, with its lists of operations:
1. What gains most is computed in 16 bits: products and convolutions (`ALWAYS`).
2. What is dangerous there stays in 32 bits (`NEVER`), and with it what lies between two such.
3. What is safe unless it follows something dangerous (`BETWEEN`), and what changes no numbers
   (`NEUTRAL`), is computed in 16 bits between two nodes that are; neutral nodes beside one, too.
4. Values are converted where the two meet, each once. Feeds, fetches, variables and what control
   flow passes on keep their type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.registry import CONTROL_FLOW, OpSpec, find
from penstock.ir.signature import Arg
from penstock.ir.step_graph import Edge, Node, StepGraph

ALWAYS = frozenset(
    "BatchMatMul BatchMatMulV2 BatchMatMulV3 BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 "
    "Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilter "
    "Conv3DBackpropFilterV2 Conv3DBackpropInput Conv3DBackpropInputV2 CudnnRNN CudnnRNNBackprop "
    "CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNV2 CudnnRNNV3 Einsum GRUBlockCell "
    "GRUBlockCellGrad LSTMBlockCell LSTMBlockCellGrad MatMul".split()
)
BETWEEN = frozenset(
    "Add AddN AddV2 AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Elu "
    "EluGrad Erf Erfc FloorDiv FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 "
    "FusedBatchNormV3 Inv LeakyRelu LeakyReluGrad Log Log1p LogSoftmax Mul Prod RealDiv Reciprocal "
    "Selu SeluGrad Sigmoid SigmoidGrad Softmax Softplus SoftplusGrad Softsign SoftsignGrad Sqrt "
    "Sub Tanh TanhGrad".split()
)
NEVER = frozenset(
    "Exp Expm1 L2Loss Mean Pow SaveV2 SoftmaxCrossEntropyWithLogits "
    "SparseSoftmaxCrossEntropyWithLogits Sum".split()
)
NEUTRAL = frozenset(
    "Abs ArgMax ArgMin BatchToSpace BatchToSpaceND BroadcastTo Ceil CheckNumerics ClipByValue "
    "Concat ConcatV2 DepthToSpace DynamicPartition DynamicStitch EnsureShape Equal ExpandDims "
    "Floor Gather GatherNd GatherV2 Greater GreaterEqual Identity IsFinite IsInf IsNan Less "
    "LessEqual Max MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad "
    "MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2 Maximum Min Minimum MirrorPad MirrorPadGrad Neg "
    "NotEqual OneHot OnesLike Pack Pad PadV2 PreventGradient Relu Relu6 Relu6Grad ReluGrad Reshape "
    "ResizeNearestNeighbor ResizeNearestNeighborGrad Reverse ReverseSequence ReverseV2 Round "
    "Select SelectV2 Sign Slice Snapshot SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV "
    "Squeeze StopGradient StridedSlice StridedSliceGrad Tile TopK TopKV2 Transpose Unpack "
    "ZerosLike".split()
)

#: The attrs that hold the type which is lowered, by op; `T` for the others.
_TYPE_ATTRS = {"Gather": "Tparams", "GatherNd": "Tparams", "GatherV2": "Tparams"}


def lower_precision(step: StepGraph, dtype: DType) -> None:
    """Computes in the 16-bit type `dtype` what gains by it and loses little."""
    lowered = _chosen(step, dtype)
    if not lowered:
        return
    casts = _Casts(lowered, dtype)
    nodes: list[Node] = []
    for node in step.nodes:
        node.inputs = [casts.value(edge, as_low) for edge, as_low in _wanted(node, lowered)]
        nodes += casts.take_new()
        nodes.append(node)
        if node in lowered:
            _retype(node, dtype)
    step.fetches = [casts.value(edge, False) for edge in step.fetches]
    step.nodes = nodes + casts.take_new()


# Which nodes ----------------------------------------------------------------------------------


def _chosen(step: StepGraph, dtype: DType) -> set[Node]:
    """The nodes to compute in 16 bits."""
    able = {node for node in step.nodes if _can_be(node, dtype)}
    low = {node for node in able if node.type in ALWAYS}
    high = {node for node in step.nodes if node.type in NEVER}
    follows = {node for node in able if node.type in BETWEEN or node.type in NEUTRAL}
    neutral = {node for node in able if node.type in NEUTRAL}
    high |= _between(step, high, follows)
    low |= _between(step, low, follows - high)
    return low | _beside(step, low, neutral - high)


def _can_be(node: Node, dtype: DType) -> bool:
    """Whether a node computes 32-bit floats and could compute 16-bit ones instead."""
    if node.spec.is_stateful or node.spec.takes_refs or CONTROL_FLOW in node.spec.traits:
        return False
    key = _type_attr(node)
    declared = node.spec.attrs.get(key)
    if declared is None or node.attrs.get(key) is not dtypes.float32:
        return False
    if any(each.is_ref_dtype for each in node.dtypes):
        return False
    return declared.allowed is None or dtype in declared.allowed


def _between(step: StepGraph, ends: set[Node], through: set[Node]) -> set[Node]:
    """The nodes of `through` on a way from one of `ends` to another."""
    behind = _reached(step.nodes, ends, through, lambda node: [e.node for e in node.inputs])
    users: dict[Node, list[Node]] = {node: [] for node in step.nodes}
    for node in step.nodes:
        for edge in node.inputs:
            users[edge.node].append(node)
    ahead = _reached(reversed(step.nodes), ends, through, users.__getitem__)
    return behind & ahead


def _reached(
    nodes: Iterable[Node],
    ends: Collection[Node],
    through: set[Node],
    neighbours: Callable[[Node], list[Node]],
) -> set[Node]:
    found: set[Node] = set()
    for node in nodes:
        if node in through and any(n in ends or n in found for n in neighbours(node)):
            found.add(node)
    return found


def _beside(step: StepGraph, low: set[Node], neutral: set[Node]) -> set[Node]:
    """The neutral nodes that touch one of `low`, through other neutral ones too."""
    touching: dict[Node, list[Node]] = {}
    for node in step.nodes:
        for edge in node.inputs:
            touching.setdefault(node, []).append(edge.node)
            touching.setdefault(edge.node, []).append(node)
    found: set[Node] = set()
    pending = list(low)
    while pending:
        for node in touching.get(pending.pop(), ()):
            if node in neutral and node not in found:
                found.add(node)
                pending.append(node)
    return found - low


# Types ----------------------------------------------------------------------------------------


def _type_attr(node: Node) -> str:
    return _TYPE_ATTRS.get(node.type, "T")


def _of_type(arguments: Iterable[Arg], node: Node) -> list[bool]:
    """For each input or output, whether it has the type that is lowered."""
    key = _type_attr(node)
    return [arg.type_attr == key for arg in arguments for _ in range(arg.count(node.attrs))]


def _wanted(node: Node, lowered: set[Node]) -> list[tuple[Edge, bool]]:
    """The inputs of a node as they were, and whether it now wants them in 16 bits."""
    is_lowered = node in lowered
    flags = _of_type(node.spec.inputs, node)
    return [(edge, is_lowered and flag) for edge, flag in zip(node.inputs, flags, strict=True)]


def _retype(node: Node, dtype: DType) -> None:
    flags = _of_type(node.spec.outputs, node)
    node.dtypes = [dtype if flag else was for was, flag in zip(node.dtypes, flags, strict=True)]
    node.attrs = {**node.attrs, _type_attr(node): dtype}


class _Casts:
    """The conversions between the two types, one for each value."""

    def __init__(self, lowered: set[Node], dtype: DType):
        self._lowered = lowered
        self._dtype = dtype
        self._made: dict[tuple[Edge, bool], Edge] = {}
        self._new: list[Node] = []

    def value(self, edge: Edge, as_low: bool) -> Edge:
        """A value in the wanted type."""
        is_low = edge.dtype is self._dtype and edge.node in self._lowered
        if is_low == as_low:
            return edge
        if (edge, as_low) not in self._made:
            self._made[edge, as_low] = Edge(self._cast(edge, as_low), 0)
        return self._made[edge, as_low]

    def _cast(self, edge: Edge, as_low: bool) -> Node:
        source, target = edge.dtype.base_dtype, self._dtype if as_low else dtypes.float32
        producer = edge.node
        made = Node(
            _spec("Cast"),
            f"{producer.name}/{edge.index}/to_{target.name}",
            {"SrcT": source, "DstT": target, "Truncate": False},
            [target],
            [edge.shape],
            producer.origin,
            producer.order,
            producer.device,
        )
        made.inputs = [edge]
        self._new.append(made)
        return made

    def take_new(self) -> list[Node]:
        """The conversions that were made since the last time."""
        made, self._new = self._new, []
        return made


def _spec(name: str) -> OpSpec:
    spec = find(name)
    assert spec is not None
    return spec
