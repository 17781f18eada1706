"""Random numbers that a seed tensor alone determines: the same seed gives the same numbers."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX, REAL
from penstock.ops.random import (
    check_bounds,
    drawn_shape,
    samples_shape,
    scaled,
    shape_tensor,
    stretched,
)
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = [
    "stateless_categorical",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
]

_PHILOX, _AUTOMATIC = 1, 3  # numbers of algorithms; the automatic choice is Philox here
_SHAPE = types(INDEX, default=dtypes.int32)
_SEED = types(INDEX, default=dtypes.int64)
_FLOAT = types(FLOATING, default=dtypes.float32)
_INTEGER = types(dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_ANY_INTEGER = types(
    dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64, default=dtypes.uint64
)


def _seeded(name: str) -> OpSpec:
    return op(
        f"{name}(shape: T, seed: Tseed) -> output: dtype", dtype=_FLOAT, T=_SHAPE, Tseed=_SEED
    )


def _keyed(name: str, dtype: Any, bounds: str = "") -> OpSpec:
    return op(
        f"{name}(shape: Tshape, key: uint64, counter: uint64, alg: int32{bounds}) -> output: dtype",
        dtype=dtype,
        Tshape=_SHAPE,
    )


StatelessRandomUniform = _seeded("StatelessRandomUniform")
StatelessRandomNormal = _seeded("StatelessRandomNormal")
StatelessTruncatedNormal = _seeded("StatelessTruncatedNormal")
StatelessRandomUniformInt = op(
    "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) "
    "-> output: dtype",
    dtype=INDEX,
    T=INDEX,
    Tseed=_SEED,
)
StatelessRandomUniformFullInt = op(
    "StatelessRandomUniformFullInt(shape: T, seed: Tseed) -> output: dtype",
    dtype=_ANY_INTEGER,
    T=_SHAPE,
    Tseed=types(dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64, default=dtypes.int64),
)
StatelessMultinomial = op(
    "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> output: output_dtype",
    T=REAL,
    Tseed=_SEED,
    output_dtype=types(INDEX, default=dtypes.int64),
)
StatelessRandomGetKeyCounter = op(
    "StatelessRandomGetKeyCounter(seed: Tseed) -> key: uint64, counter: uint64", Tseed=_SEED
)
StatelessRandomUniformV2 = _keyed("StatelessRandomUniformV2", _FLOAT)
StatelessRandomNormalV2 = _keyed("StatelessRandomNormalV2", _FLOAT)
StatelessTruncatedNormalV2 = _keyed("StatelessTruncatedNormalV2", _FLOAT)
StatelessRandomUniformFullIntV2 = _keyed("StatelessRandomUniformFullIntV2", _ANY_INTEGER)
StatelessRandomUniformIntV2 = _keyed(
    "StatelessRandomUniformIntV2", _INTEGER, ", minval: dtype, maxval: dtype"
)
not_differentiable(
    StatelessRandomUniform,
    StatelessRandomNormal,
    StatelessTruncatedNormal,
    StatelessRandomUniformInt,
    StatelessRandomUniformFullInt,
    StatelessMultinomial,
    StatelessRandomUniformV2,
    StatelessRandomNormalV2,
    StatelessTruncatedNormalV2,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformFullIntV2,
)


# Shapes ---------------------------------------------------------------------------------------


def _check_size(shape: Shape, wanted: int) -> None:
    size = with_rank(shape, 1)[0]
    if size is not None and size != wanted:
        raise ValueError(f"Dimension must be {wanted} but is {size}")


@StatelessRandomUniform.shape
@StatelessRandomNormal.shape
@StatelessTruncatedNormal.shape
@StatelessRandomUniformFullInt.shape
def _(op: Operation, shape: Shape, seed: Shape) -> Shape:
    _check_size(seed, 2)
    return drawn_shape(op)


@StatelessRandomUniformInt.shape
def _(op: Operation, shape: Shape, seed: Shape, minval: Shape, maxval: Shape) -> Shape:
    _check_size(seed, 2)
    check_bounds(minval, maxval)
    return drawn_shape(op)


@StatelessMultinomial.shape
def _(op: Operation, logits: Shape, num_samples: Shape, seed: Shape) -> Shape:
    _check_size(seed, 2)
    return samples_shape(op, logits, num_samples)


@StatelessRandomGetKeyCounter.shape
def _(op: Operation, seed: Shape) -> list[Shape]:
    _check_size(seed, 2)
    return [(1,), (2,)]


@StatelessRandomUniformV2.shape
@StatelessRandomNormalV2.shape
@StatelessTruncatedNormalV2.shape
@StatelessRandomUniformFullIntV2.shape
@StatelessRandomUniformIntV2.shape
def _(op: Operation, shape: Shape, key: Shape, counter: Shape, alg: Shape, *bounds: Shape) -> Shape:
    _check_size(key, 1)
    with_rank(counter, 1)
    with_rank(alg, 0)
    if bounds:
        check_bounds(*bounds)
    return drawn_shape(op)


# Functions ------------------------------------------------------------------------------------


def _algorithm(alg: Any) -> int:
    numbers = {
        "philox": _PHILOX,
        "auto_select": _AUTOMATIC,
        _PHILOX: _PHILOX,
        _AUTOMATIC: _AUTOMATIC,
    }
    if alg not in numbers:
        raise ValueError(f"Argument `alg` got unsupported value {alg!r}: use 'auto_select'")
    return numbers[alg]


_KEYED = {
    StatelessRandomUniform: StatelessRandomUniformV2,
    StatelessRandomNormal: StatelessRandomNormalV2,
    StatelessTruncatedNormal: StatelessTruncatedNormalV2,
    StatelessRandomUniformInt: StatelessRandomUniformIntV2,
    StatelessRandomUniformFullInt: StatelessRandomUniformFullIntV2,
}


def _drawn(spec: OpSpec, sizes: Tensor, seed: Any, alg: Any, *bounds: Any, **attrs: Any) -> Tensor:
    """The older op, for older readers of the graph, unless the call is beyond it."""
    algorithm = _algorithm(alg)
    if algorithm == _AUTOMATIC and all(bound.dtype in INDEX for bound in bounds):
        return spec(sizes, seed, *bounds, **attrs)
    key, counter = StatelessRandomGetKeyCounter(seed)
    return _KEYED[spec](sizes, key, counter, algorithm, *bounds, **attrs)


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Numbers evenly distributed in [minval, maxval), which `seed` (two integers) determines.

    For integers both bounds may be None: every number of the type is then equally likely.
    """
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (*FLOATING, *INDEX, dtypes.uint32, dtypes.uint64):
        raise ValueError(f"Invalid dtype {wanted!r}")
    if wanted.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"Must specify maxval for integer dtype {wanted!r}, or neither minval nor maxval. Got "
            f"minval={minval} and maxval={maxval}."
        )
    if maxval is None and not wanted.is_integer:
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        if wanted.is_integer and minval is None:
            spec = StatelessRandomUniformFullInt
            return _drawn(spec, sizes, seed, alg, dtype=wanted, name=scope)
        low = convert_to_tensor(minval, wanted, "min")
        high = convert_to_tensor(maxval, wanted, "max")
        if wanted.is_integer:
            return _drawn(StatelessRandomUniformInt, sizes, seed, alg, low, high, name=scope)
        drawn = _drawn(StatelessRandomUniform, sizes, seed, alg, dtype=wanted)
        return stretched(drawn, low, high, scope)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Normally distributed numbers, which `seed` (two integers) determines."""
    with name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as scope:
        return _normal(StatelessRandomNormal, shape, seed, mean, stddev, dtype, alg, scope)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """As `stateless_normal`, with numbers further than 2 `stddev` from the mean drawn again."""
    with name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as scope:
        return _normal(StatelessTruncatedNormal, shape, seed, mean, stddev, dtype, alg, scope)


def _normal(
    spec: OpSpec, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, alg: Any, scope: str
) -> Tensor:
    sizes = shape_tensor(shape)
    center = convert_to_tensor(mean, dtype, "mean")
    spread = convert_to_tensor(stddev, dtype, "stddev")
    drawn = _drawn(spec, sizes, seed, alg, dtype=dtypes.as_dtype(dtype))
    return scaled(drawn, center, spread, scope)


def stateless_multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any,
    output_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Draws categories as `tf.multinomial` does; `seed` (two integers) determines them."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _categories(logits, num_samples, seed, output_dtype)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Draws categories; see `stateless_multinomial`."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _categories(logits, num_samples, seed, dtype)


def _categories(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    scores = convert_to_tensor(logits, name="logits")
    wanted = dtypes.as_dtype(dtype)
    return StatelessMultinomial(scores, num_samples, seed, output_dtype=wanted)
