"""A solver of differential equations that chooses its steps: Dormand and Prince's, of order 5.

L. F. Shampine, Some practical Runge-Kutta formulas (1986), has the interpolation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.integrate.arguments import check_types, increasing

__all__ = ["odeint"]

#: The derivative of the state at a time: f(y, t).
Derivative = Callable[[Any, Any], Any]

# Of each stage: where in the step it is, and the weights of the stages before.
_STAGES = (
    (1 / 5, [1 / 5]),
    (3 / 10, [3 / 40, 9 / 40]),
    (4 / 5, [44 / 45, -56 / 15, 32 / 9]),
    (8 / 9, [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    (1.0, [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    # The last stage is at the solution itself: its derivative is the next step's first.
    (1.0, [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
)
# The weights of all stages for the state in the middle of the step, and for the error at its end.
_MIDDLE = [
    6025192743 / 30085553152 / 2,
    0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
]
_ERROR = [
    1951 / 21600 - 35 / 384,
    0,
    22642 / 50085 - 500 / 1113,
    451 / 720 - 125 / 192,
    -12231 / 42400 + 2187 / 6784,
    649 / 6300 - 11 / 84,
    1 / 60,
]
_ORDER = 5


class _State(NamedTuple):
    """The end of the last accepted step, and the polynomial through that step.

    1. `y` and `f` are the state and its derivative at `end`.
    2. The step went from `start` to `end`; after a rejected one they are equal.
    3. `dt` is the size of the next step.
    """

    y: Any
    f: Any
    start: Any
    end: Any
    dt: Any
    polynomial: list[Any]


class _History(NamedTuple):
    """Where steps ended, and the ratio of their errors to the tolerance."""

    integrate_points: Any
    error_ratio: Any


class _Control(NamedTuple):
    """Tolerances, and how the size of a step may change."""

    rtol: Any
    atol: Any
    safety: Any
    ifactor: Any
    dfactor: Any
    max_num_steps: Any


def odeint(
    func: Derivative,
    y0: Any,
    t: Any,
    rtol: Any = 1e-6,
    atol: Any = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """The solution of dy/dt = func(y, t) at the times `t`, by steps that keep errors small.

    Args:
      func: The derivative.
      y0: The state at the first time.
      t: The times, each later than the one before.
      rtol: The bound of an entry's error relative to it.
      atol: The bound of an entry's error.
      method: "dopri5", the only one.
      options: Of the method: first_step, safety, ifactor, dfactor, max_num_steps.
      full_output: Whether a dictionary about the integration is given, too.

    Returns:
      The states, one for each time along the first dimension.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with tf.name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        check_types(y0, t)
        error_type = tf.abs(y0).dtype
        rtol = tf.convert_to_tensor(rtol, dtype=error_type, name="rtol")
        atol = tf.convert_to_tensor(atol, dtype=error_type, name="atol")
        return _dopri5(func, y0, t, rtol, atol, full_output, name=scope, **(options or {}))


def _dopri5(
    func: Derivative,
    y0: Any,
    t: Any,
    rtol: Any,
    atol: Any,
    full_output: bool = False,
    first_step: Any = None,
    safety: Any = 0.9,
    ifactor: Any = 10.0,
    dfactor: Any = 0.2,
    max_num_steps: Any = 1000,
    name: str | None = None,
) -> Any:
    with tf.name_scope(name, "dopri5", [y0, t, rtol, atol]) as scope:
        first_step = 1.0 if first_step is None else first_step
        first_step = tf.convert_to_tensor(first_step, dtype=t.dtype, name="first_step")
        control = _Control(
            rtol,
            atol,
            tf.convert_to_tensor(safety, dtype=t.dtype, name="safety"),
            tf.convert_to_tensor(ifactor, dtype=t.dtype, name="ifactor"),
            tf.convert_to_tensor(dfactor, dtype=t.dtype, name="dfactor"),
            tf.convert_to_tensor(max_num_steps, dtype=tf.int32, name="max_num_steps"),
        )
        with increasing(t):
            num_times = tf.size(t)
        states = tf.TensorArray(y0.dtype, size=num_times).write(0, y0)
        history = _History(
            tf.TensorArray(t.dtype, size=0, dynamic_size=True),
            tf.TensorArray(rtol.dtype, size=0, dynamic_size=True),
        )
        state = _State(y0, func(y0, t[0]), t[0], t[0], first_step, [y0] * 5)

        def interpolate(states: Any, history: Any, state: Any, i: Any) -> Any:
            with tf.name_scope("interpolate"):
                state, history, _ = tf.while_loop(
                    lambda state, *_: t[i] > state.end,
                    lambda state, history, steps: _step(func, control, state, history, steps),
                    (state, history, 0),
                    name="integrate_loop",
                )
                return (
                    states.write(
                        i, _interp_evaluate(state.polynomial, state.start, state.end, t[i])
                    ),
                    history,
                    state,
                    i + 1,
                )

        states, history, _, _ = tf.while_loop(
            lambda _, __, ___, i: i < num_times,
            interpolate,
            (states, history, state, 1),
            name="interpolate_loop",
        )
        solution = states.stack(name=scope)
        solution.set_shape(t.shape.concatenate(y0.shape))
        return (solution, _information(history)) if full_output else solution


def _information(history: _History) -> dict[str, Any]:
    points = history.integrate_points.stack()
    return {
        "num_func_evals": 6 * tf.size(points) + 1,
        "integrate_points": points,
        "error_ratio": history.error_ratio.stack(),
    }


def _step(
    func: Derivative, control: _Control, state: _State, history: _History, steps: Any
) -> tuple[_State, _History, Any]:
    """One step, which counts only if its error is within the tolerance."""
    y0, dt, end = state.y, state.dt, state.end
    with tf.control_dependencies(_assertions(state, steps, control)):
        y1, stages = _runge_kutta(func, state)
    with tf.name_scope("error_ratio"):
        error = _weighted(tf.cast(dt, y0.dtype), _ERROR, stages)
        tolerance = control.atol + control.rtol * tf.maximum(tf.abs(y0), tf.abs(y1))
        ratio = tf.sqrt(tf.reduce_mean(_abs_square(error) / _abs_square(tolerance)))
        accepted = ratio <= 1
    with tf.name_scope("update/rk_state"):
        y, f, now, *polynomial = tf.cond(
            accepted,
            lambda: [y1, stages[-1], end + dt, *_fitted(y0, y1, stages, dt)],
            lambda: [y0, state.f, end, *state.polynomial],
        )
        new = _State(
            y,
            f,
            end,
            now,
            _optimal_step_size(dt, ratio, control.safety, control.ifactor, control.dfactor),
            polynomial,
        )
    with tf.name_scope("update/history"):
        points = _ta_append(history.integrate_points, end + dt)
        return new, _History(points, _ta_append(history.error_ratio, ratio)), steps + 1


def _assertions(state: _State, steps: Any, control: _Control) -> list[Any]:
    with tf.name_scope("assertions"):
        finite = tf.reduce_all(tf.is_finite(tf.abs(state.y)))
        return [
            tf.Assert(state.end + state.dt > state.end, ["underflow in dt", state.dt]),
            tf.Assert(steps < control.max_num_steps, ["max_num_steps exceeded"]),
            tf.Assert(finite, ["non-finite values in state `y`", state.y]),
        ]


def _runge_kutta(func: Derivative, state: _State) -> tuple[Any, list[Any]]:
    """The state after the step, and the derivatives of all stages."""
    with tf.name_scope("runge_kutta_step"):
        dt = tf.cast(state.dt, state.y.dtype)
        stages, y = [state.f], state.y
        for place, weights in _STAGES:
            y = state.y + _weighted(dt, weights, stages)
            stages.append(func(y, state.end + place * state.dt))
        return tf.identity(y), stages


def _weighted(scale: Any, weights: Sequence[float], values: Sequence[Any]) -> Any:
    pairs = zip(weights, values, strict=True)
    return tf.add_n([(scale * weight) * value for weight, value in pairs if weight != 0])


def _abs_square(x: Any) -> Any:
    if x.dtype.is_complex:
        return tf.square(tf.real(x)) + tf.square(tf.imag(x))
    return tf.square(x)


def _optimal_step_size(
    last_step: Any,
    error_ratio: Any,
    safety: Any = 0.9,
    ifactor: Any = 10.0,
    dfactor: Any = 0.2,
    order: int = _ORDER,
    name: str | None = None,
) -> Any:
    """The size of the next step, after one whose error had a ratio to the tolerance."""
    with tf.name_scope(name, "optimal_step_size", [last_step, error_ratio]) as scope:
        ratio = tf.cast(error_ratio, last_step.dtype)
        # As a divisor: an error of zero makes the greatest step, not a division by zero.
        wanted = ratio ** tf.cast(1 / order, last_step.dtype) / safety
        bounded = tf.maximum(1 / ifactor, tf.minimum(wanted, 1 / dfactor))
        return tf.div(last_step, bounded, name=scope)


def _fitted(y0: Any, y1: Any, stages: list[Any], dt: Any) -> list[Any]:
    """The polynomial through a step, from the derivatives of its stages."""
    with tf.name_scope("interp_fit_rk"):
        dt = tf.cast(dt, y0.dtype)
        middle = y0 + _weighted(dt, _MIDDLE, stages)
        return _interp_fit(y0, y1, middle, stages[0], stages[-1], dt)


def _interp_fit(y0: Any, y1: Any, y_mid: Any, f0: Any, f1: Any, dt: Any) -> list[Any]:
    """The polynomial of degree 4 that has the step's ends, derivatives there, and its middle."""
    rise0, rise1 = dt * f0, dt * f1
    return [
        2 * (rise1 - rise0) - 8 * (y1 + y0) + 16 * y_mid,
        5 * rise0 - 3 * rise1 + 18 * y0 + 14 * y1 - 32 * y_mid,
        rise1 - 4 * rise0 - 11 * y0 - 5 * y1 + 16 * y_mid,
        rise0,
        y0,
    ]


def _interp_evaluate(coefficients: Sequence[Any], t0: Any, t1: Any, t: Any) -> Any:
    """The polynomial of a step from `t0` to `t1`, at a time within it."""
    with tf.name_scope("interp_evaluate"):
        t0, t1, t = (tf.convert_to_tensor(time) for time in (t0, t1, t))
        dtype = tf.convert_to_tensor(coefficients[0]).dtype
        within = tf.Assert(
            tf.logical_and(t0 <= t, t <= t1),
            ["invalid interpolation, fails `t0 <= t <= t1`:", t0, t, t1],
        )
        with tf.control_dependencies([within]):
            x = tf.cast((t - t0) / (t1 - t0), dtype)
        powers = [tf.constant(1, dtype), x]
        for _ in range(3):
            powers.append(powers[-1] * x)
        return tf.add_n([c * p for c, p in zip(coefficients, reversed(powers), strict=True)])


def _ta_append(tensor_array: Any, value: Any) -> Any:
    return tensor_array.write(tensor_array.size(), value)
