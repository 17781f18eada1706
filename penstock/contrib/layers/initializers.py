"""Initializers that keep the variance of activations or gradients constant over layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf

__all__ = [
    "variance_scaling_initializer",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]

#: The number that variance is divided by, for each mode, from the numbers of inputs and outputs.
_MODES: dict[str, Callable[[float, float], float]] = {
    "FAN_IN": lambda fan_in, fan_out: fan_in,
    "FAN_OUT": lambda fan_in, fan_out: fan_out,
    "FAN_AVG": lambda fan_in, fan_out: (fan_in + fan_out) / 2.0,
}


def xavier_initializer(uniform: bool = True, seed: Any = None, dtype: Any = tf.float32) -> Any:
    """The initializer of Glorot and Bengio (2010).

    Args:
      uniform: whether to draw from a uniform distribution, else from a truncated normal one.
    """
    return variance_scaling_initializer(
        factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype
    )


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: Any = None,
    dtype: Any = tf.float32,
) -> Any:
    """An initializer with variance `factor / n`; the defaults are those of He et al. (2015).

    Args:
      mode: whether `n` is the number of inputs `FAN_IN`, of outputs `FAN_OUT`, or their average
        `FAN_AVG`.
      uniform: whether to draw from a uniform distribution, else from a truncated normal one.
    """
    _require_floating(dtype)
    if mode not in _MODES:
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        _require_floating(dtype)
        n = _MODES[mode](*_fans([float(size) for size in shape]))
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return tf.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # Cutting at two deviations takes variance away: 1.3 makes up for it.
        deviation = math.sqrt(1.3 * factor / n)
        return tf.truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initializer


def _require_floating(dtype: Any) -> None:
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


def _fans(shape: Sequence[float]) -> tuple[float, float]:
    """How many inputs and outputs a weight of this shape connects."""
    if not shape:
        return 1.0, 1.0
    window = math.prod(shape[:-2])
    return window * (shape[-2] if len(shape) > 1 else shape[-1]), window * shape[-1]
