"""Learning rates that change with the global step, as tensors."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.convert import convert_n_to_tensor, convert_to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.binary import add, divide, minimum, multiply, pow
from penstock.ops.casts import cast
from penstock.ops.comparison import equal
from penstock.ops.conditionals import case, cond
from penstock.ops.constants import constant
from penstock.ops.elementwise import ceil, exp, floor, log, negative, sqrt
from penstock.ops.random import random_normal
from penstock.ops.trigonometry import cos

__all__ = [
    "cosine_decay",
    "cosine_decay_restarts",
    "exponential_decay",
    "inverse_time_decay",
    "linear_cosine_decay",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "piecewise_constant",
    "piecewise_constant_decay",
    "polynomial_decay",
]

Decay = Callable[..., Any]


def _computed_when_asked(decay: Decay) -> Decay:
    """Makes a rate of eager mode a function without arguments: the global step changes."""

    @functools.wraps(decay)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        if executing_eagerly() and not getattr(_asked, "inside", False):
            return functools.partial(_ask, decay, *args, **kwargs)
        return decay(*args, **kwargs)

    return chosen


_asked = threading.local()


def _ask(decay: Decay, *args: Any, **kwargs: Any) -> Any:
    _asked.inside = True  # a decay may be written with the help of another one
    try:
        return decay(*args, **kwargs)
    finally:
        _asked.inside = False


@_computed_when_asked
def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ^ (global_step / decay_steps).

    With `staircase` the rate falls at whole multiples of `decay_steps` only.
    """
    values = [learning_rate, global_step, decay_steps, decay_rate]
    with name_scope(name, "ExponentialDecay", values) as scope:
        rate = _initial_rate(learning_rate)
        steps, factor, step = _cast(rate.dtype, decay_steps, decay_rate, global_step)
        progress = _progress(step, steps, staircase)
        return multiply(rate, pow(factor, progress), name=scope)


@_computed_when_asked
def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    factor = exp(negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


@_computed_when_asked
def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    values = [learning_rate, global_step, decay_rate]
    with name_scope(name, "InverseTimeDecay", values) as scope:
        rate = _initial_rate(learning_rate)
        steps, factor, step = _cast(rate.dtype, decay_steps, decay_rate, global_step)
        progress = _progress(step, steps, staircase)
        (one,) = _cast(rate.dtype, constant(1))
        return divide(rate, add(one, multiply(factor, progress)), name=scope)


@_computed_when_asked
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From learning_rate to end_learning_rate over decay_steps, by a polynomial of degree `power`.

    With `cycle`, `decay_steps` grows to the next multiple of itself whenever it is passed, so that
    the rate jumps up and decays again; without it the rate stays at `end_learning_rate`.
    """
    values = [learning_rate, global_step, decay_steps, end_learning_rate, power]
    with name_scope(name, "PolynomialDecay", values) as scope:
        rate = _initial_rate(learning_rate)
        end, exponent, step, steps = _cast(
            rate.dtype, end_learning_rate, power, global_step, decay_steps
        )
        if cycle:
            at_start = equal(step, 0)
            periods = cond(at_start, lambda: 1.0, lambda: ceil(step / decay_steps))
            steps = multiply(steps, periods)
        else:
            step = minimum(step, decay_steps)
        progress = divide(step, steps)
        remaining = multiply(rate - end, pow(1 - progress, exponent))
        return add(remaining, end, name=scope)


@_computed_when_asked
def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """values[0] up to and including boundaries[0], then values[1] up to boundaries[1], and so on.

    >>> rate = tf.train.piecewise_constant(global_step, [100000, 110000], [1.0, 0.5, 0.1])
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    x = convert_to_tensor(x)
    limits = convert_n_to_tensor(boundaries)
    rates = convert_n_to_tensor(values)
    limits = [_boundary_like(limit, x) for limit in limits]
    for rate in rates[1:]:
        if rate.dtype.base_dtype is not rates[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({rates[0].dtype.base_dtype.name} vs {rate.dtype.base_dtype.name})."
            )
    with name_scope(name, "PiecewiseConstant", [x, limits, rates]):
        pieces = [(x <= limits[0], rates[0]), (x > limits[-1], rates[-1])]
        for low, high, rate in zip(limits, limits[1:], rates[1:], strict=False):
            pieces.append(((x > low) & (x <= high), rate))
        # The pieces cover every step; the default is only there because a case needs one.
        return case(
            [(within, partial(_same, rate)) for within, rate in pieces],
            default=partial(_same, rates[0]),
            exclusive=True,
        )


def _same(rate: Tensor) -> Tensor:
    return rate


def _boundary_like(limit: Tensor, x: Tensor) -> Tensor:
    """A boundary in the type of `x`: only a step count is widened."""
    given, wanted = limit.dtype.base_dtype, x.dtype.base_dtype
    if given is wanted:
        return limit
    if given is dtypes.int32 and wanted is dtypes.int64:
        return cast(limit, wanted)
    raise ValueError(f"Boundaries ({given.name}) must have the same dtype as x ({wanted.name}).")


piecewise_constant_decay = piecewise_constant


@_computed_when_asked
def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine from learning_rate down to alpha * learning_rate over decay_steps."""
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = _initial_rate(learning_rate)
        steps, step = _cast(rate.dtype, decay_steps, global_step)
        completed = minimum(step, steps) / steps
        fraction = 0.5 * (1.0 + cos(constant(math.pi, rate.dtype) * completed))
        return multiply(rate, (1 - alpha) * fraction + alpha)


@_computed_when_asked
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decays one after the other.

    Period i lasts t_mul^i times as long as the first and starts at m_mul^i times its rate.
    """
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as scope:
        rate = _initial_rate(learning_rate)
        dtype = rate.dtype
        steps, low, longer, lower, step = _cast(
            dtype, first_decay_steps, alpha, t_mul, m_mul, global_step
        )
        restart, completed = _restarts(step / steps, longer)
        height = 0.5 * lower**restart
        fraction = height * (1.0 + cos(constant(math.pi, dtype) * completed))
        return multiply(rate, (1 - low) * fraction + low, name=scope)


@_computed_when_asked
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """A cosine under a line that falls to 0: (alpha + linear) * cosine + beta."""
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as scope:
        rate = _initial_rate(learning_rate)
        steps, periods, low, offset, step = _cast(
            rate.dtype, decay_steps, num_periods, alpha, beta, global_step
        )
        step = minimum(step, steps)
        linear = (steps - step) / steps
        cosine = _periodic_cosine(step / steps, periods)
        return multiply(rate, (low + linear) * cosine + offset, name=scope)


@_computed_when_asked
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """As `linear_cosine_decay`, with noise on the line.

    The variance of the noise is initial_variance / (1 + global_step)^variance_decay.
    """
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as scope:
        rate = _initial_rate(learning_rate)
        steps, variance, decay, periods, low, offset, step = _cast(
            rate.dtype,
            decay_steps,
            initial_variance,
            variance_decay,
            num_periods,
            alpha,
            beta,
            global_step,
        )
        step = minimum(step, steps)
        linear = (steps - step) / steps
        deviation = sqrt(variance / pow(1.0 + step, decay))
        noisy = linear + random_normal(linear.get_shape(), stddev=deviation)
        cosine = _periodic_cosine(step / steps, periods)
        return multiply(rate, (low + noisy) * cosine + offset, name=scope)


def _initial_rate(learning_rate: Any) -> Tensor:
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def _cast(dtype: DType, *values: Any) -> list[Tensor]:
    return [cast(value, dtype) for value in values]


def _progress(step: Tensor, steps: Tensor, staircase: bool) -> Tensor:
    """How many times `steps` have passed, whole times only for a staircase."""
    progress = step / steps
    return floor(progress) if staircase else progress


def _restarts(completed: Tensor, longer: Tensor) -> list[Tensor]:
    """Which period `completed` (in lengths of the first period) lies in, and how far into it."""

    def of_equal_length() -> list[Tensor]:
        period = floor(completed)
        return [period, completed - period]

    def of_growing_length() -> list[Tensor]:
        # The first n periods last 1 + longer + … + longer^(n-1), a geometric series.
        period = floor(log(1.0 - completed * (1.0 - longer)) / log(longer))
        before = (1.0 - longer**period) / (1.0 - longer)
        return [period, (completed - before) / longer**period]

    return cond(equal(longer, 1.0), of_equal_length, of_growing_length)


def _periodic_cosine(completed: Tensor, periods: Tensor) -> Tensor:
    """From 1 to 0 and back, in `periods` whole waves over `completed` from 0 to 1."""
    waves = 2.0 * periods * completed
    return 0.5 * (1.0 + cos(constant(math.pi, completed.dtype) * waves))
