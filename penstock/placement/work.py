"""How much an operation computes and moves, from its type and the static shapes around it.

Estimates to choose devices by, not counts to report: what is not in the tables below takes one
floating point operation per element that comes in or goes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.registry import ALIASES, CONTROL_FLOW, RESHAPES
from penstock.ir.step_graph import Edge, Node
from penstock.shapes import Shape

#: Bytes of an element whose type does not say: a string.
_STRING_BYTES = 32


class Work(NamedTuple):
    """What an operation does in one run."""

    flops: float
    bytes: float


NOTHING = Work(0.0, 0.0)


class Sizes:
    """Shapes and sizes of values; a size that is not known counts as `unknown`."""

    def __init__(self, unknown: int):
        self.unknown = unknown

    def shape(self, edge: Edge) -> tuple[int, ...]:
        return self._known(edge.shape)

    def elements(self, edge: Edge) -> int:
        return math.prod(self._known(edge.shape))

    def bytes(self, edge: Edge) -> int:
        return self.elements(edge) * bytes_per_element(edge.dtype)

    def inputs(self, node: Node) -> int:
        """The elements of all inputs."""
        return sum(self.elements(edge) for edge in node.inputs)

    def outputs(self, node: Node) -> int:
        """The elements of all outputs."""
        return sum(math.prod(self._known(shape)) for shape in node.shapes)

    def _known(self, shape: Shape) -> tuple[int, ...]:
        if shape is None:
            return ()
        return tuple(self.unknown if size is None else size for size in shape)


def bytes_per_element(dtype: DType) -> int:
    """The bytes of one element; handles have none."""
    base = dtype.base_dtype
    if base is dtypes.string:
        return _STRING_BYTES
    return 0 if base in (dtypes.resource, dtypes.variant) else base.size


def takes_no_time(node: Node) -> bool:
    """Whether a node is no call of a kernel: what is given, or passes its input on."""
    if node.type in _GIVEN:
        return True
    return not node.spec.is_stateful and not node.spec.traits.isdisjoint((ALIASES, RESHAPES))


def work_of(node: Node, sizes: Sizes) -> Work:
    """What a node does, as far as the static shapes tell."""
    if takes_no_time(node) or CONTROL_FLOW in node.spec.traits:
        return NOTHING
    made = [Edge(node, i) for i in range(len(node.dtypes))]
    written = sum(sizes.bytes(edge) for edge in made)
    if node.type in _LOOKS_AT_SHAPES:
        return NOTHING
    if node.type in _READS_WHAT_IT_GIVES:
        return Work(0.0, 2.0 * written)
    count = _counts.get(node.type, _per_element)
    read = sum(sizes.bytes(edge) for edge in node.inputs)
    return Work(float(count(node, sizes)), float(read + written))


_GIVEN = frozenset(
    "Const _Feed Placeholder PlaceholderWithDefault Variable VariableV2 VarHandleOp "
    "ReadVariableOp NoOp _Truth".split()
)
_LOOKS_AT_SHAPES = frozenset(
    "Shape ShapeN Size Rank BroadcastGradientArgs BroadcastArgs VariableShape".split()
)
#: Of a large input they look only at the part that they give.
_READS_WHAT_IT_GIVES = frozenset(
    "Slice StridedSlice Gather GatherV2 GatherNd ResourceGather ResourceGatherNd Split SplitV "
    "Unpack Pack Concat ConcatV2 Fill ZerosLike OnesLike Tile".split()
)

Count = Callable[[Node, Sizes], float]
_counts: dict[str, Count] = {}


def _counted(types: str) -> Callable[[Count], Count]:
    def register(count: Count) -> Count:
        _counts.update(dict.fromkeys(types.split(), count))
        return count

    return register


def _per_element(node: Node, sizes: Sizes) -> float:
    return max(sizes.inputs(node), sizes.outputs(node))


@_counted(
    "Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh Sigmoid Softplus Pow Erf "
    "Erfc Lgamma Digamma Igamma Igammac Zeta Polygamma Softmax LogSoftmax "
    "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits RandomUniform "
    "RandomStandardNormal TruncatedNormal Multinomial RandomGamma"
)
def _transcendental(node: Node, sizes: Sizes) -> float:
    return 10 * _per_element(node, sizes)


# Products -------------------------------------------------------------------------------------


@_counted("MatMul SparseMatMul")
def _matmul(node: Node, sizes: Sizes) -> float:
    left = sizes.shape(node.inputs[0])
    inner = left[0 if node.attrs.get("transpose_a") else -1] if left else 1
    return 2 * inner * sizes.outputs(node)


@_counted("BatchMatMul BatchMatMulV2 BatchMatMulV3")
def _batch_matmul(node: Node, sizes: Sizes) -> float:
    left = sizes.shape(node.inputs[0])
    inner = left[-2 if node.attrs.get("adj_x") else -1] if len(left) > 1 else 1
    return 2 * inner * sizes.outputs(node)


@_counted("SparseTensorDenseMatMul")
def _sparse_matmul(node: Node, sizes: Sizes) -> float:
    dense = sizes.shape(node.inputs[3])
    return 2 * sizes.elements(node.inputs[1]) * (dense[-1] if dense else 1)


@_counted("LSTMBlockCell BlockLSTM BlockLSTMV2 GRUBlockCell")
def _recurrent_cell(node: Node, sizes: Sizes) -> float:
    """Every row of the largest input is multiplied by the largest matrix of weights."""
    values = max(node.inputs, key=lambda edge: len(sizes.shape(edge)))
    rows = math.prod(sizes.shape(values)[:-1])
    matrices = [
        sizes.elements(e) for e in node.inputs if e is not values and len(sizes.shape(e)) == 2
    ]
    return 2 * rows * max(matrices, default=1)


# Windows --------------------------------------------------------------------------------------


def _window(shape: tuple[int, ...]) -> int:
    """The multiplications for one output of a convolution with a filter of this shape."""
    return math.prod(shape[:-1])


@_counted("Conv2D Conv3D _FusedConv2D")
def _convolution(node: Node, sizes: Sizes) -> float:
    return 2 * _window(sizes.shape(node.inputs[1])) * sizes.outputs(node)


@_counted("Conv2DBackpropInput Conv3DBackpropInput Conv3DBackpropInputV2")
def _convolution_by_input(node: Node, sizes: Sizes) -> float:
    return 2 * _window(sizes.shape(node.inputs[1])) * sizes.elements(node.inputs[2])


@_counted("Conv2DBackpropFilter Conv3DBackpropFilter Conv3DBackpropFilterV2")
def _convolution_by_filter(node: Node, sizes: Sizes) -> float:
    return 2 * _window(sizes.shape(Edge(node, 0))) * sizes.elements(node.inputs[2])


@_counted(
    "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter"
)
def _depthwise_convolution(node: Node, sizes: Sizes) -> float:
    by_filter = node.type.endswith("Filter")
    taps = sizes.shape(Edge(node, 0) if by_filter else node.inputs[1])[:2]
    of = Edge(node, 0) if len(node.inputs) == 2 else node.inputs[2]
    return 2 * math.prod(taps) * sizes.elements(of)


@_counted("MaxPool AvgPool MaxPool3D AvgPool3D MaxPoolGrad AvgPoolGrad LRN")
def _pooling(node: Node, sizes: Sizes) -> float:
    return math.prod(node.attrs.get("ksize", (5,))) * _per_element(node, sizes)


# Linear algebra, transforms, order ------------------------------------------------------------


@_counted(
    "Cholesky CholeskyGrad MatrixInverse MatrixDeterminant LogMatrixDeterminant MatrixSolve "
    "MatrixTriangularSolve MatrixSolveLs Qr Svd SelfAdjointEig SelfAdjointEigV2 Eig Lu "
    "MatrixExponential MatrixLogarithm MatrixSquareRoot"
)
def _cubic(node: Node, sizes: Sizes) -> float:
    shape = sizes.shape(node.inputs[0])
    return sizes.elements(node.inputs[0]) * (max(shape[-2:]) if shape else 1)


@_counted("FFT FFT2D FFT3D IFFT IFFT2D IFFT3D RFFT IRFFT RFFT2D IRFFT2D RFFT3D IRFFT3D")
def _transform(node: Node, sizes: Sizes) -> float:
    count = _per_element(node, sizes)
    return 5 * count * math.log2(count + 1)


@_counted("TopK TopKV2 Unique UniqueV2 UniqueWithCounts NthElement InTopK SparseReorder")
def _sorting(node: Node, sizes: Sizes) -> float:
    count = _per_element(node, sizes)
    return 4 * count * math.log2(count + 1)
