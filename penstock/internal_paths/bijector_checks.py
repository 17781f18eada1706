"""`tensorflow.python.ops.distributions.bijector_test_util`: checks for tests of bijectors."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions import Uniform

__all__ = [
    "assert_bijective_and_finite",
    "assert_finite",
    "assert_scalar_congruency",
    "assert_strictly_decreasing",
    "assert_strictly_increasing",
    "assert_strictly_monotonic",
]


def assert_finite(array: Any) -> None:
    """Fails if a number is infinite or not a number."""
    if not np.isfinite(array).all():
        raise AssertionError(f"array was not all finite. {array[:15]}")


def assert_strictly_increasing(array: Any) -> None:
    np.testing.assert_array_less(0.0, np.diff(array))


def assert_strictly_decreasing(array: Any) -> None:
    np.testing.assert_array_less(np.diff(array), 0.0)


def assert_strictly_monotonic(array: Any) -> None:
    rises = array[0] < array[-1]
    (assert_strictly_increasing if rises else assert_strictly_decreasing)(array)


def assert_scalar_congruency(
    bijector: Any,
    lower_x: float,
    upper_x: float,
    n: int = 10_000,
    rtol: float = 0.01,
    sess: Any = None,
) -> None:
    """Fails unless a function of numbers is monotonic, undone by its inverse, and has its slopes.

    Args:
      lower_x: where the interval of the checks begins.
      upper_x: where it ends.
      n: how many random numbers are drawn.
      rtol: how near the mean slope comes to what it must be.
    """
    sess = sess or tf.get_default_session()
    few = np.linspace(lower_x, upper_x, num=10).astype(np.float32)
    if bijector.dtype is not None:
        few = few.astype(bijector.dtype.as_numpy_dtype)
    assert_strictly_monotonic(sess.run(bijector.forward(few)))

    ends = sess.run([bijector.forward(lower_x), bijector.forward(upper_x)])
    lower_y, upper_y = min(ends), max(ends)
    x = Uniform(low=lower_x, high=upper_x).sample(n, seed=0)
    y = Uniform(low=lower_y, high=upper_y).sample(n, seed=1)
    there_and_back = [x, bijector.inverse(bijector.forward(x))]
    back_and_there = [y, bijector.forward(bijector.inverse(y))]
    slope_at_y = tf.exp(bijector.inverse_log_det_jacobian(y, event_ndims=0))
    slope_at_x = tf.exp(bijector.forward_log_det_jacobian(bijector.inverse(y), event_ndims=0))
    xs, ys, inverse_slopes, slopes, mean = sess.run(
        [there_and_back, back_and_there, slope_at_y, slope_at_x, tf.reduce_mean(slope_at_y)]
    )
    for given, found in (xs, ys):
        np.testing.assert_allclose(found, given, atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(upper_x - lower_x, (upper_y - lower_y) * mean, atol=0, rtol=rtol)
    np.testing.assert_allclose(inverse_slopes, np.divide(1.0, slopes), atol=1e-5, rtol=1e-3)


def assert_bijective_and_finite(
    bijector: Any,
    x: Any,
    y: Any,
    event_ndims: int,
    atol: float = 0,
    rtol: float = 1e-5,
    sess: Any = None,
) -> None:
    """Fails unless both directions undo each other at x and y, with finite determinants."""
    sess = sess or tf.get_default_session()
    f_x, g_y = bijector.forward(x), bijector.inverse(y)
    at_x = [
        bijector.inverse(f_x),
        bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
        -bijector.inverse_log_det_jacobian(f_x, event_ndims=event_ndims),
    ]
    at_y = [
        bijector.forward(g_y),
        -bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims),
        bijector.forward_log_det_jacobian(g_y, event_ndims=event_ndims),
    ]
    found_x, found_y, results = sess.run([at_x, at_y, [f_x, g_y]])
    for array in (x, y, *found_x, *found_y, *results):
        assert_finite(array)
    for given, (back, log_det, undone) in ((x, found_x), (y, found_y)):
        np.testing.assert_allclose(back, given, atol=atol, rtol=rtol)
        np.testing.assert_allclose(undone, log_det, atol=atol, rtol=rtol)
