"""Random numbers whose generator is a variable: each draw moves the counter in it on."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, WRITES, OpSpec, attr, not_differentiable, op, types
from penstock.ir.type_sets import INDEX
from penstock.ops.random import drawn_shape
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

_SHAPE = attr("type", dtypes.int64)
_BINOMIAL = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _drawing(name: str, dtype: Any, bounds: str = "") -> OpSpec:
    return op(
        f"{name}(resource: resource, algorithm: int64, shape: shape_dtype{bounds}) "
        "-> output: dtype",
        STATEFUL,
        WRITES,
        dtype=attr("type", dtype),
        shape_dtype=_SHAPE,
    )


StatefulStandardNormalV2 = _drawing("StatefulStandardNormalV2", dtypes.float32)
StatefulStandardNormal = op(
    "StatefulStandardNormal(resource: resource, shape: shape_dtype) -> output: dtype",
    STATEFUL,
    WRITES,
    dtype=attr("type", dtypes.float32),
    shape_dtype=_SHAPE,
)
StatefulTruncatedNormal = _drawing("StatefulTruncatedNormal", dtypes.float32)
StatefulUniform = _drawing("StatefulUniform", dtypes.float32)
StatefulUniformFullInt = _drawing("StatefulUniformFullInt", dtypes.uint64)
StatefulUniformInt = _drawing("StatefulUniformInt", dtypes.int64, ", minval: dtype, maxval: dtype")
StatefulRandomBinomial = op(
    "StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) "
    "-> output: dtype",
    STATEFUL,
    WRITES,
    S=INDEX,
    T=types(_BINOMIAL, default=dtypes.float64),
    dtype=types(_BINOMIAL, default=dtypes.int64),
)
RngSkip = op("RngSkip(resource: resource, algorithm: int64, delta: int64)", STATEFUL, WRITES)
NonDeterministicInts = op(
    "NonDeterministicInts(shape: shape_dtype) -> output: dtype",
    STATEFUL,
    dtype=attr("type", dtypes.int64),
    shape_dtype=_SHAPE,
)
not_differentiable(
    StatefulStandardNormal,
    StatefulStandardNormalV2,
    StatefulTruncatedNormal,
    StatefulUniform,
    StatefulUniformFullInt,
    StatefulUniformInt,
    StatefulRandomBinomial,
    NonDeterministicInts,
)


@StatefulStandardNormalV2.shape
@StatefulTruncatedNormal.shape
@StatefulUniform.shape
@StatefulUniformFullInt.shape
@StatefulUniformInt.shape
def _(op: Operation, resource: Shape, algorithm: Shape, shape: Shape, *bounds: Shape) -> Shape:
    for scalar in (algorithm, *bounds):
        with_rank(scalar, 0)
    return _asked_for(op)


@StatefulStandardNormal.shape
def _(op: Operation, resource: Shape, shape: Shape) -> Shape:
    with_rank(shape, 1)
    return constant_shape(op.inputs[1])


@StatefulRandomBinomial.shape
def _(op: Operation, resource: Shape, algorithm: Shape, shape: Shape, *given: Shape) -> Shape:
    for parameter in given:
        if parameter is not None and len(parameter) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(parameter)}")
    return _asked_for(op)


@RngSkip.shape
def _(op: Operation, resource: Shape, algorithm: Shape, delta: Shape) -> Shape:
    with_rank(algorithm, 0)
    with_rank(delta, 0)
    return None


@NonDeterministicInts.shape
def _(op: Operation, shape: Shape) -> Shape:
    return drawn_shape(op)


def _asked_for(op: Operation) -> Shape:
    with_rank(op.inputs[2]._shape, 1)
    return constant_shape(op.inputs[2])
