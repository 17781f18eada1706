"""Solvers of differential equations whose steps are known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.integrate.arguments import check_sizes, check_types, increasing

__all__ = ["odeint_fixed"]

#: The derivative of the state at a time: f(y, t).
Derivative = Callable[[Any, Any], Any]


def _midpoint(func: Derivative, t: Any, dt: Any, y: Any) -> Any:
    step = tf.cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _runge_kutta_4(func: Derivative, t: Any, dt: Any, y: Any) -> Any:
    step, halfway = tf.cast(dt, y.dtype), t + dt / 2
    k1 = func(y, t)
    k2 = func(y + step * k1 / 2, halfway)
    k3 = func(y + step * k2 / 2, halfway)
    k4 = func(y + step * k3, t + dt)
    return tf.add_n([k1, 2 * k2, 2 * k3, k4]) * (step / 6)


#: How much the state changes in one step.
_METHODS = {"midpoint": _midpoint, "rk4": _runge_kutta_4}


def odeint_fixed(
    func: Derivative, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: str | None = None
) -> Any:
    """The solution of dy/dt = func(y, t) at the times `t`, by steps of given sizes.

    Args:
      func: The derivative.
      y0: The state at the first time.
      t: The times, each later than the one before.
      dt: The size of a step, or one for each interval; made smaller so that a whole number of them
        fits. By default a step is an interval.
      method: "midpoint" or "rk4".

    Returns:
      The states, one for each time along the first dimension.
    """
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        y0 = tf.convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        wanted = intervals if dt is None else dt
        wanted = tf.convert_to_tensor(wanted, preferred_dtype=tf.float64, name="dt")
        counts = tf.ceil(intervals / wanted)
        steps = intervals / counts
        check_types(y0, t, steps)
        check_sizes(t, steps)
        with increasing(t), tf.name_scope(method):
            if method not in _METHODS:
                raise ValueError(f"method not supported: {method}")
            return _integrated(_METHODS[method], func, y0, t, steps, tf.cast(counts, tf.int32))


def _integrated(
    change: Callable[..., Any], func: Derivative, y0: Any, t: Any, steps: Any, counts: Any
) -> Any:
    num_times = tf.size(t)

    def interval(states: Any, y: Any, time: Any, i: Any) -> Any:
        def step(y: Any, time: Any, done: Any) -> Any:
            dt = steps[i - 1]
            return y + tf.cast(change(func, time, dt, y), y.dtype), time + dt, done + 1

        y, time, _ = tf.while_loop(lambda _, __, done: done < counts[i - 1], step, (y, time, 0))
        return states.write(i, y), y, time, i + 1

    states = tf.TensorArray(y0.dtype, num_times).write(0, y0)
    states, _, _, _ = tf.while_loop(
        lambda _, __, ___, i: i < num_times, interval, (states, y0, t[0], 1)
    )
    solution = states.stack()
    solution.set_shape(t.shape.concatenate(y0.shape))
    return solution
