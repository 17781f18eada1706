"""Random numbers drawn anew in each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX, REAL, SINGLE_DOUBLE
from penstock.ops.binary import Add, AddV2, Mul, Sub
from penstock.ops.seeds import get_seed
from penstock.ops.shape_checks import asked_shape, with_rank
from penstock.shapes import Shape

__all__ = [
    "multinomial",
    "random_crop",
    "random_gamma",
    "random_normal",
    "random_poisson",
    "random_shuffle",
    "random_uniform",
    "truncated_normal",
]

_GAMMA = (dtypes.float16, dtypes.float32, dtypes.float64)
_POISSON = (*_GAMMA, *INDEX)

RandomUniform = op(
    "RandomUniform(shape: T) -> output: dtype", STATEFUL, seed=0, seed2=0, dtype=FLOATING, T=INDEX
)
RandomUniformInt = op(
    "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> output: Tout",
    STATEFUL,
    seed=0,
    seed2=0,
    Tout=INDEX,
    T=INDEX,
)
RandomStandardNormal = op(
    "RandomStandardNormal(shape: T) -> output: dtype",
    STATEFUL,
    seed=0,
    seed2=0,
    dtype=FLOATING,
    T=INDEX,
)
TruncatedNormal = op(
    "TruncatedNormal(shape: T) -> output: dtype", STATEFUL, seed=0, seed2=0, dtype=FLOATING, T=INDEX
)
ParameterizedTruncatedNormal = op(
    "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, "
    "maxvals: dtype) -> output: dtype",
    STATEFUL,
    seed=0,
    seed2=0,
    dtype=FLOATING,
    T=INDEX,
)
RandomShuffle = op("RandomShuffle(value: T) -> output: T", STATEFUL, seed=0, seed2=0)
Multinomial = op(
    "Multinomial(logits: T, num_samples: int32) -> output: output_dtype",
    STATEFUL,
    seed=0,
    seed2=0,
    T=REAL,
    output_dtype=types(INDEX, default=dtypes.int64),
)
RandomGamma = op(
    "RandomGamma(shape: S, alpha: T) -> output: T", STATEFUL, seed=0, seed2=0, S=INDEX, T=_GAMMA
)
RandomGammaGrad = op("RandomGammaGrad(alpha: T, sample: T) -> output: T", T=SINGLE_DOUBLE)
RandomPoisson = op(
    "RandomPoisson(shape: S, rate: dtype) -> output: dtype",
    STATEFUL,
    seed=0,
    seed2=0,
    S=INDEX,
    dtype=_GAMMA,
)
RandomPoissonV2 = op(
    "RandomPoissonV2(shape: S, rate: R) -> output: dtype",
    STATEFUL,
    seed=0,
    seed2=0,
    S=INDEX,
    R=types(_POISSON, default=dtypes.float64),
    dtype=types(_POISSON, default=dtypes.int64),
)
not_differentiable(
    RandomUniform,
    RandomStandardNormal,
    TruncatedNormal,
    ParameterizedTruncatedNormal,
    RandomShuffle,
    Multinomial,
)


# Shapes ---------------------------------------------------------------------------------------


def drawn_shape(op: Operation) -> Shape:
    """The shape that the first input asks for."""
    with_rank(op.inputs[0]._shape, 1)
    return asked_shape(op.inputs[0])


def check_bounds(minval: Shape, maxval: Shape) -> None:
    """ValueError where a bound of integers is not a scalar."""
    for name, bound in (("minval", minval), ("maxval", maxval)):
        if bound:
            raise ValueError(
                f"Shape must be rank 0 but is rank {len(bound)}: {name} must be a scalar; got a "
                f"tensor of shape {shapes.text(bound)}"
            )


@RandomUniform.shape
@RandomStandardNormal.shape
@TruncatedNormal.shape
def _(op: Operation, shape: Shape) -> Shape:
    return drawn_shape(op)


@RandomUniformInt.shape
def _(op: Operation, shape: Shape, minval: Shape, maxval: Shape) -> Shape:
    check_bounds(minval, maxval)
    return drawn_shape(op)


@ParameterizedTruncatedNormal.shape
def _(op: Operation, shape: Shape, *parameters: Shape) -> Shape:
    for parameter in parameters:
        if parameter is not None and len(parameter) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(parameter)}")
    return drawn_shape(op)


@RandomShuffle.shape
def _(op: Operation, value: Shape) -> Shape:
    return value


@Multinomial.shape
def _(op: Operation, logits: Shape, num_samples: Shape) -> Shape:
    return samples_shape(op, logits, num_samples)


def samples_shape(op: Operation, logits: Shape, num_samples: Shape) -> Shape:
    """The shape of samples of categories: a row of them per row of logits."""
    with_rank(num_samples, 0)
    count = constant_value(op.inputs[1])
    if count is not None and count < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {count}"
        )
    return with_rank(logits, 2)[0], None if count is None else int(count)


@RandomGamma.shape
@RandomPoisson.shape
@RandomPoissonV2.shape
def _(op: Operation, shape: Shape, parameter: Shape) -> Shape:
    drawn = drawn_shape(op)
    return None if drawn is None or parameter is None else drawn + parameter


@RandomGammaGrad.shape
def _(op: Operation, alpha: Shape, sample: Shape) -> Shape:
    return shapes.broadcast(alpha, sample)


@RandomGamma.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.filling import ones
    from penstock.ops.filling import range as range_
    from penstock.ops.joining import concat
    from penstock.ops.reductions import reduce_sum
    from penstock.ops.shaping import reshape
    from penstock.ops.shaping import shape as shape_of

    shape, alpha = op.inputs
    with get_default_graph().control_dependencies([grad]):
        count = shape_of(shape)[0]
        leading = ones([count], dtypes.int32)
        spread = reshape(alpha, concat([leading, shape_of(alpha)], 0))
        slope = RandomGammaGrad(spread, op.outputs[0])
        return [None, reduce_sum(Mul(grad, slope, name="mul"), axis=range_(count))]


# Functions ------------------------------------------------------------------------------------


def shape_tensor(shape: Any) -> Tensor:
    """A shape as a tensor; a list of numbers is of type int32."""
    plain = isinstance(shape, (list, tuple)) and all(
        isinstance(size, (int, np.integer, shapes.Dimension)) for size in shape
    )
    if plain:
        shape = [int(size) for size in shape]
    return convert_to_tensor(shape, dtypes.int32 if plain else None, "shape")


def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Numbers evenly distributed in [minval, maxval); for integers `maxval` has no default."""
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (*FLOATING, *INDEX):
        raise ValueError(f"Invalid dtype {wanted!r}; it must be one of {(*FLOATING, *INDEX)}")
    if maxval is None:
        if wanted.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {wanted!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        sizes = shape_tensor(shape)
        minval = convert_to_tensor(minval, wanted, "min")
        maxval = convert_to_tensor(maxval, wanted, "max")
        seed1, seed2 = get_seed(seed)
        if wanted.is_integer:
            return RandomUniformInt(sizes, minval, maxval, seed=seed1, seed2=seed2, name=scope)
        drawn: Tensor = RandomUniform(sizes, dtype=wanted, seed=seed1, seed2=seed2)
        return stretched(drawn, minval, maxval, scope)


def stretched(drawn: Tensor, minval: Tensor, maxval: Tensor, scope: str) -> Tensor:
    """Numbers of [0, 1) as numbers of [minval, maxval)."""
    width = Sub(maxval, minval, name="sub")
    return Add(Mul(drawn, width, name="mul"), minval, name=scope)


def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers."""
    with name_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        return _normal(RandomStandardNormal, shape, mean, stddev, dtype, seed, scope)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers, those further than 2 `stddev` from the mean drawn again."""
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        return _normal(TruncatedNormal, shape, mean, stddev, dtype, seed, scope)


def _normal(
    spec: Any, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any, scope: str
) -> Tensor:
    sizes = shape_tensor(shape)
    center = convert_to_tensor(mean, dtype, "mean")
    spread = convert_to_tensor(stddev, dtype, "stddev")
    seed1, seed2 = get_seed(seed)
    drawn = spec(sizes, dtype=dtypes.as_dtype(dtype), seed=seed1, seed2=seed2)
    return scaled(drawn, center, spread, scope)


def scaled(drawn: Tensor, mean: Tensor, stddev: Tensor, scope: str) -> Tensor:
    """Standard normal numbers with another mean and deviation."""
    return Add(Mul(drawn, stddev, name="mul"), mean, name=scope)


def random_shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """The rows of `value` in random order."""
    seed1, seed2 = get_seed(seed)
    return RandomShuffle(value, seed=seed1, seed2=seed2, name=name)


def multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Draws categories: in each row `num_samples` of them, by that row's unnormalised logs of
    probabilities.
    """
    with name_scope(name, "multinomial", [logits]):
        return _categories(logits, num_samples, output_dtype, seed)


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """Draws categories; see `tf.multinomial`."""
    with name_scope(name, "categorical", [logits]):
        return _categories(logits, num_samples, dtype, seed)


def _categories(logits: Any, num_samples: Any, dtype: Any, seed: Any) -> Tensor:
    scores = convert_to_tensor(logits, name="logits")
    seed1, seed2 = get_seed(seed)
    wanted: DType = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return Multinomial(scores, num_samples, seed=seed1, seed2=seed2, output_dtype=wanted)


def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """For each of the gamma distributions `alpha`, `beta` a tensor of samples of shape `shape`.

    The result has shape `shape` + the shape that `alpha` and `beta` broadcast to. `beta` is the
    inverse scale.
    """
    from penstock.ops.binary import maximum, truediv
    from penstock.ops.filling import zeros_like

    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        sizes = convert_to_tensor(shape, dtypes.int32, "shape")
        alphas = convert_to_tensor(alpha, dtype, "alpha")
        betas = convert_to_tensor(1 if beta is None else beta, alphas.dtype.base_dtype, "beta")
        repeated: Any = alphas + zeros_like(betas)
        seed1, seed2 = get_seed(seed)
        drawn = RandomGamma(sizes, repeated, seed=seed1, seed2=seed2)
        smallest = np.finfo(alphas.dtype.base_dtype.as_numpy_dtype).tiny
        return maximum(smallest, truediv(drawn, betas))


def random_poisson(
    lam: Any,
    shape: Any,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """For each rate of `lam` a tensor of samples of shape `shape` of that Poisson distribution."""
    with name_scope(name, "random_poisson", [lam, shape]):
        sizes = convert_to_tensor(shape, dtypes.int32, "shape")
        seed1, seed2 = get_seed(seed)
        return RandomPoissonV2(
            sizes, lam, dtype=dtypes.as_dtype_or(dtype, dtypes.int64), seed=seed1, seed2=seed2
        )


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A slice of `value` of shape `size` at a random position.

    >>> patch = tf.random_crop(image, [24, 24, 3])
    """
    from penstock.ops.binary import FloorMod
    from penstock.ops.comparison import GreaterEqual
    from penstock.ops.control import with_dependencies
    from penstock.ops.debugging import Assert
    from penstock.ops.reductions import reduce_all
    from penstock.ops.shaping import shape as shape_of
    from penstock.ops.slicing import slice as slice_

    with name_scope(name, "random_crop", [value, size]) as scope:
        whole = convert_to_tensor(value, name="value")
        part = convert_to_tensor(size, dtypes.int32, "size")
        available = shape_of(whole)
        fits = reduce_all(GreaterEqual(available, part))
        check = Assert(fits, ["Need value.shape >= size, got ", available, part], summarize=1000)
        available = with_dependencies([check], available)
        choices = AddV2(Sub(available, part, name="sub"), 1, name="add")
        drawn = random_uniform(
            shape_of(choices), dtype=part.dtype, maxval=part.dtype.max, seed=seed
        )
        return slice_(whole, FloorMod(drawn, choices, name="mod"), part, name=scope)
