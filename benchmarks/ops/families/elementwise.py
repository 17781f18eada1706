"""Ops that compute each element by itself."""

import numpy as np

from benchmarks.ops.trial import Family, alike, takes
from tests.ops.case import array, bools, c64, f32, i32, ints, u8

# Within (0.1, 0.9) every function of a number is defined, but Acosh.
_UNARY = """
    Abs Ceil Exp Expm1 Floor Inv IsFinite IsInf IsNan Log Log1p Neg Reciprocal Rint Round Rsqrt
    Sigmoid Sign Sqrt Square Tanh Acos Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan
    BesselI0 BesselI0e BesselI1 BesselI1e Digamma Erf Erfc Erfinv Lgamma Ndtri
    Elu LeakyRelu Relu Relu6 Selu Softplus Softsign
"""
_BINARY = """
    Add AddV2 Div DivNoNan FloorDiv FloorMod Maximum Minimum Mod Mul MulNoNan Pow RealDiv
    SquaredDifference Sub Atan2 NextAfter Xdivy Xlog1py Xlogy Igamma IgammaGradA Igammac
    ApproximateEqual Equal Greater GreaterEqual Less LessEqual NotEqual
    InvGrad ReciprocalGrad RsqrtGrad SigmoidGrad SqrtGrad TanhGrad
    EluGrad LeakyReluGrad Relu6Grad ReluGrad SeluGrad SoftplusGrad SoftsignGrad
"""


def _ends(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the range of quantized numbers."""
    return np.full(shape, -2, "float32"), np.full(shape, 2, "float32")


FAMILY: Family = {
    **alike(_UNARY, lambda n: takes(f32(n, lo=0.1, hi=0.9))),
    "Acosh": lambda n: takes(f32(n, lo=1.1, hi=9)),
    **alike(_BINARY, lambda n: takes(f32(n, lo=0.1, hi=0.9), f32(n, lo=0.1, hi=0.9))),
    "TruncateDiv": lambda n: takes(i32(1, 99, n), i32(1, 9, n)),
    "TruncateMod": lambda n: takes(i32(1, 99, n), i32(1, 9, n)),
    "Polygamma": lambda n: takes(f32(n, lo=1, hi=3).round(), f32(n, lo=0.1, hi=9)),
    "Zeta": lambda n: takes(f32(n, lo=1.5, hi=9), f32(n, lo=0.1, hi=9)),
    "Betainc": lambda n: takes(*(f32(n, lo=0.1, hi=0.9) for _ in range(3))),
    "AddN": lambda n: takes([f32(n) for _ in range(3)]),
    "AccumulateNV2": lambda n: takes([f32(n) for _ in range(3)], shape=[n]),
    "ClipByValue": lambda n: takes(f32(n), f32(lo=-1, hi=-0.5), f32(lo=0.5, hi=1)),
    "L2Loss": lambda n: takes(f32(n)),
    **alike("LogicalAnd LogicalOr", lambda n: takes(bools(n), bools(n))),
    "LogicalNot": lambda n: takes(bools(n)),
    **alike("BitwiseAnd BitwiseOr BitwiseXor", lambda n: takes(i32(0, 99, n), i32(0, 99, n))),
    **alike("LeftShift RightShift", lambda n: takes(i32(0, 99, n), i32(0, 9, n))),
    **alike("Invert PopulationCount", lambda n: takes(i32(0, 99, n))),
    **alike("Angle ComplexAbs Conj Imag Real", lambda n: takes(c64(n))),
    "Complex": lambda n: takes(f32(n), f32(n)),
    "Cast": lambda n: takes(f32(n), DstT="int32"),
    "Bitcast": lambda n: takes(f32(n), type="int32"),
    "Select": lambda n: takes(bools(n), f32(n), f32(n)),
    "SelectV2": lambda n: takes(bools(n), f32(n), f32(n)),
    "BiasAdd": lambda n: takes(f32(n // 50, 50), f32(50)),
    "BiasAddV1": lambda n: takes(f32(n // 50, 50), f32(50)),
    "BiasAddGrad": lambda n: takes(f32(n // 50, 50)),
    "Bucketize": lambda n: takes(f32(n), boundaries=[-2.0, -1.0, 0.0, 1.0, 2.0]),
    "Cross": lambda n: takes(f32(n // 3, 3), f32(n // 3, 3)),
    **alike("CheckNumerics CheckNumericsV2", lambda n: takes(f32(n), message="bad")),
    "RandomGammaGrad": lambda n: takes(f32(n, lo=0.5, hi=4), f32(n, lo=0.5, hi=4)),
    **alike("DebugGradientIdentity DeepCopy", lambda n: takes(f32(n))),
    "Dequantize": lambda n: takes(u8(0, 255, n).astype([("quint8", "u1")]), *_ends()),
    "FakeQuantWithMinMaxArgs": lambda n: takes(f32(n)),
    "FakeQuantWithMinMaxArgsGradient": lambda n: takes(f32(n), f32(n)),
    "FakeQuantWithMinMaxVars": lambda n: takes(f32(n), *_ends()),
    "FakeQuantWithMinMaxVarsGradient": lambda n: takes(f32(n), f32(n), *_ends()),
    "FakeQuantWithMinMaxVarsPerChannel": lambda n: takes(f32(n // 50, 50), *_ends(50)),
    "FakeQuantWithMinMaxVarsPerChannelGradient": lambda n: takes(
        f32(n // 50, 50), f32(n // 50, 50), *_ends(50)
    ),
    "QuantizeAndDequantizeV2": lambda n: takes(f32(n), *_ends()),
    "QuantizeAndDequantizeV3": lambda n: takes(f32(n), *_ends(), array(8, "int32")),
    "QuantizeV2": lambda n: takes(f32(n), *_ends(), T="quint8"),
    "UnravelIndex": lambda n: takes(ints("int64", 0, 999, n), ints("int64", 40, 41, 2)),
}
