"""What `pfor` takes into its iterations: op types that TensorFlow does for all of them at once.

The iterations run one after the other here, so that any op could be in them. A program sees the
same error as in TensorFlow where an op type has no converter there, unless the flag
`op_conversion_fallback_to_while_loop` is set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from absl import flags

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

_FLAG = "op_conversion_fallback_to_while_loop"

if _FLAG not in flags.FLAGS:
    flags.DEFINE_bool(_FLAG, False, "Whether pfor takes op types without a converter.")

_CONVERTED = set(
    """
    Abs Acos Acosh Add AddN AddV2 All Angle Any ApproximateEqual Asin Asinh Assert Atan Atan2 Atanh
    AvgPool AvgPoolGrad BatchMatMul BatchMatMulV2 BesselI0e BesselI1e BiasAdd BiasAddGrad
    BitwiseAnd BitwiseOr BitwiseXor BroadcastTo Cast Ceil Cholesky Complex ComplexAbs ConcatV2 Conj
    Conv2D Conv2DBackpropFilter Conv2DBackpropInput Cos Cosh Cross Cumprod Cumsum DecodeCSV Digamma
    Div DivNoNan Elu EluGrad Equal Erf Erfc Exp ExpandDims Expm1 Floor FloorDiv FloorMod
    FusedBatchNormGradV3 FusedBatchNormV3 Gather GatherV2 Greater GreaterEqual Identity IdentityN
    Igamma IgammaGradA Igammac Imag Inv Invert IsFinite IsInf IsNan LeftShift Less LessEqual Lgamma
    Log Log1p LogMatrixDeterminant LogSoftmax LogicalAnd LogicalNot LogicalOr LogicalXor LowerBound
    MatMul MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagV2 MatrixSetDiag
    MatrixSetDiagV2 MatrixTriangularSolve Max MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad
    MaxPoolGrad MaxPoolGradGrad Maximum Mean Min Minimum Mod Mul MulNoNan Multinomial Neg NotEqual
    OneHot Pack Pad ParseSingleExample PartitionedCall Polygamma Pow Print Prod RandomGamma
    RandomPoissonV2 RandomStandardNormal RandomUniform RandomUniformInt Rank Real RealDiv
    Reciprocal ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad Reshape RightShift Rint Round Rsqrt
    RsqrtGrad Select SelectV2 Selu SeluGrad Shape ShapeN Sigmoid SigmoidGrad Sign Sin Sinh Size
    Slice Softmax SoftmaxCrossEntropyWithLogits Softplus SoftplusGrad Softsign SoftsignGrad Split
    SplitV Sqrt SqrtGrad Square SquaredDifference Squeeze StackPopV2 StackPushV2
    StatefulPartitionedCall StopGradient StridedSlice StridedSliceGrad Sub Sum Tan Tanh TanhGrad
    TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3
    TensorArrayV3 TensorArrayWriteV3 Tile Transpose TruncateDiv TruncateMod TruncatedNormal Unpack
    UnsortedSegmentSum UpperBound Xdivy Xlogy ZerosLike Zeta
    """.split()
)
#: Built by our functions where TensorFlow's build one that has a converter.
_CONVERTED |= set(
    """
    BatchMatMulV3 Einsum MatrixDiagPartV3 MatrixDiagV3
    MatrixSetDiagV3 PadV2 ParseExampleV2 StatelessIf StatelessWhile If While
    """.split()
)

#: Their state is not one of the iterations.
_SHARED_STATE = {
    "VariableV2",
    "VarHandleOp",
    "ReadVariableOp",
    "StackV2",
    "TensorArrayWriteV3",
    "TensorArrayReadV3",
    "TensorArraySizeV3",
}

#: The same in all iterations, whatever they are asked about.
_OF_SHAPES = {"Shape", "ShapeN", "Size", "Rank", "TensorArraySizeV3"}


#: The scopes of gradients: that of a whole computation, or of a node's part in it.
_OF_GRADIENTS = re.compile(r"(^|/)(gradients?(_tape)?(_\d+)?|[^/]*_grad(_\d+)?)(/|$)")


class RegisterPFor:
    """A decorator of the function that converts an op type: with it, `pfor` takes the op type."""

    def __init__(self, op_type: str):
        self.op_type = op_type

    def __call__(self, converter: Callable[..., Any]) -> Callable[..., Any]:
        _CONVERTED.add(self.op_type)
        return converter


class RegisterPForWithArgs(RegisterPFor):
    """`RegisterPFor` for a converter with further arguments, which nobody calls here."""

    def __init__(self, op_type: str, *args: Any, **kwargs: Any):
        super().__init__(op_type)


def check_convertible(loop_var: Tensor, made: list[Operation], outputs: Iterable[Any]) -> None:
    """Raises where the outputs of an iteration need an op that TensorFlow can't take into `pfor`.

    Args:
      loop_var: the number of the iteration.
      made: the nodes of the iteration, in their order.
      outputs: tensors and operations.
    """
    needed = _behind(outputs, set(made))
    differing = {loop_var.op}
    for op in made:
        if op not in needed or op is loop_var.op:
            continue
        differs = any(tensor.op in differing for tensor in op.inputs)
        if differs and op.type not in _OF_SHAPES:
            differing.add(op)
        if _has_state(op) or differs:
            _check(op, made)


def _behind(outputs: Iterable[Any], made: set[Operation]) -> set[Operation]:
    needed: set[Operation] = set()
    open_ops = [output if isinstance(output, Operation) else output.op for output in outputs]
    while open_ops:
        op = open_ops.pop()
        if op in made and op not in needed:
            needed.add(op)
            open_ops += [tensor.op for tensor in op.inputs]
            open_ops += op.control_inputs
    return needed


def _has_state(op: Operation) -> bool:
    return op.type not in _SHARED_STATE and bool(op.op_def.is_stateful)


def _check(op: Operation, made: list[Operation]) -> None:
    if op.type == "StackPushV2" and op.inputs[0].op not in made:
        raise ValueError("StackPushV2 not allowed on stacks created outside pfor")
    # Loops are converted as wholes, and gradients are built of other ops here than in TensorFlow.
    exempt = op._get_control_flow_context() is not None or _OF_GRADIENTS.search(op.name)
    if op.type in _CONVERTED or exempt or flags.FLAGS[_FLAG].value:
        return
    raise ValueError(
        f"No converter defined for {op.type}\n{op}\ninputs: {list(op.inputs)}. \nEither add a "
        f"converter or set --{_FLAG}=True, which may run slower"
    )
