"""`tensorflow.python.ops.init_ops_v2`: initializers as TensorFlow 2 calls them.

With a seed they give the same numbers each time: they draw from stateless generators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock import linalg
from penstock.internal_paths.constant_functions import constant as constant_of_shape

_STANDARD_DEVIATION_WITHIN_TWO = 0.87962566103423978


class Initializer:
    """Makes a variable's first value."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such an initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The initializer of such arguments."""
        config.pop("dtype", None)
        return cls(**config)


def _floating(dtype: Any) -> Any:
    dtype = tf.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


class _Drawn(Initializer):
    """One that draws numbers."""

    def __init__(self, seed: int | None):
        self.seed = seed

    def _draw(self, kind: str, shape: Any, dtype: Any, **parameters: Any) -> Any:
        if self.seed is None:
            return getattr(tf.random, kind)(shape=shape, dtype=dtype, **parameters)
        stateless = {
            "normal": tf.random.stateless_normal,
            "uniform": tf.random.stateless_uniform,
            "truncated_normal": tf.random.stateless_truncated_normal,
        }
        return stateless[kind](shape=shape, seed=[self.seed, 0], dtype=dtype, **parameters)


class Zeros(Initializer):
    """Zeros."""

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        return tf.zeros(shape, tf.as_dtype(dtype))


class Ones(Initializer):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        dtype = tf.as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype == tf.string:
            raise ValueError(f"Expected numeric or boolean dtype, got {dtype}.")
        return tf.ones(shape, dtype)


class Constant(Initializer):
    """A number, or as many as there are elements."""

    def __init__(self, value: Any = 0):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or "
                "tuple of values, or numpy.ndarray)."
            )
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        if dtype is not None:
            dtype = tf.as_dtype(dtype)
        return constant_of_shape(self.value, dtype=dtype, shape=shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class RandomUniform(_Drawn):
    """Numbers drawn evenly from a range."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None):
        super().__init__(seed)
        self.minval = minval
        self.maxval = maxval

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        dtype = tf.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        return self._draw("uniform", shape, dtype, minval=self.minval, maxval=self.maxval)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class RandomNormal(_Drawn):
    """Normal numbers."""

    _kind = "normal"

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None):
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        return self._draw(self._kind, shape, _floating(dtype), mean=self.mean, stddev=self.stddev)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class TruncatedNormal(RandomNormal):
    """Normal numbers, those beyond two standard deviations drawn again."""

    _kind = "truncated_normal"


class VarianceScaling(_Drawn):
    """Numbers whose variance is a scale divided by the number of connections.

    Args:
      scale: a positive number.
      mode: "fan_in", "fan_out", or "fan_avg" for their mean.
      distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".
      seed: for the same numbers each time.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ):
        super().__init__(seed)
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        dtype = _floating(dtype)
        fan_in, fan_out = _compute_fans(shape)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}
        variance = self.scale / max(1.0, fans[self.mode])
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return self._draw("uniform", shape, dtype, minval=-limit, maxval=limit)
        stddev = math.sqrt(variance)
        if self.distribution == "untruncated_normal":
            return self._draw("normal", shape, dtype, mean=0.0, stddev=stddev)
        stddev /= _STANDARD_DEVIATION_WITHIN_TWO
        return self._draw("truncated_normal", shape, dtype, mean=0.0, stddev=stddev)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
        }


def _compute_fans(shape: Sequence[Any]) -> tuple[int, int]:
    """The numbers of inputs and outputs of a unit whose weights have a shape."""
    sizes = [int(size) for size in shape]
    if len(sizes) < 2:
        size = sizes[0] if sizes else 1
        return size, size
    window = math.prod(sizes[:-2])
    return sizes[-2] * window, sizes[-1] * window


class Orthogonal(_Drawn):
    """A matrix with orthogonal rows or columns, whichever are fewer."""

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        dtype = _floating(dtype)
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(int(size) for size in shape[:-1]), int(shape[-1])
        flat = max(columns, rows), min(columns, rows)
        drawn = self._draw("normal", flat, dtype, mean=0.0, stddev=1)
        q, r = linalg.qr(drawn, full_matrices=False)
        q *= tf.sign(linalg.diag_part(r))  # else not all such matrices would be as likely
        if rows < columns:
            q = linalg.transpose(q)
        return self.gain * tf.reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed}


class Identity(Initializer):
    """The identity matrix, times a number."""

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = tf.float32) -> Any:
        dtype = _floating(dtype)
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        rows, columns = shape
        return self.gain * tf.eye(rows, columns, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain}


class GlorotUniform(VarianceScaling):
    """Even numbers by the mean of inputs and outputs."""

    def __init__(self, seed: int | None = None):
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


class GlorotNormal(VarianceScaling):
    """Truncated normal numbers by the mean of inputs and outputs."""

    def __init__(self, seed: int | None = None):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


zero = zeros = zeros_initializer = Zeros
one = ones = ones_initializer = Ones
constant = constant_initializer = Constant
uniform = random_uniform = random_uniform_initializer = RandomUniform
normal = random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
variance_scaling_initializer = VarianceScaling
identity = identity_initializer = Identity
orthogonal = orthogonal_initializer = Orthogonal
glorot_normal = glorot_normal_initializer = GlorotNormal
glorot_uniform = glorot_uniform_initializer = GlorotUniform
