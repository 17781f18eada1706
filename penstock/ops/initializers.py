"""Initializers: what gives a new variable its first value, from a shape and a type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.diagonals import eye
from penstock.ops.filling import ones, zeros
from penstock.ops.random import random_normal, random_uniform, truncated_normal
from penstock.ops.slicing import slice as slice_of

__all__ = [
    "constant_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
    "ones_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "truncated_normal_initializer",
    "uniform_unit_scaling_initializer",
    "variance_scaling_initializer",
    "zeros_initializer",
]


class Initializer:
    """What makes an initial value: called with a shape, it returns a tensor of that shape.

    `partition_info` tells the initializer of a part where the part lies in the whole.
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, in the words of JSON."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """The initializer that `get_config` described."""
        return cls(**config)


def floating(dtype: Any) -> DType:
    """`dtype`, refused if it is not a floating point type."""
    found = dtypes.as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found}.")
    return found


def sizes_of(shape: Any) -> list[int]:
    """A fully known shape as a list."""
    sizes = shapes.raw(shape)
    if sizes is None or None in sizes:
        raise ValueError(f"an initializer needs a fully known shape, got {shapes.text(sizes)}")
    return list(sizes)  # type: ignore[arg-type]


# Constants ------------------------------------------------------------------------------------


class Zeros(Initializer):
    """Zeros; False for booleans, empty for strings."""

    def __init__(self, dtype: Any = dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return zeros(shape, dtype or self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


class Ones(Initializer):
    """Ones; True for booleans."""

    def __init__(self, dtype: Any = dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return ones(shape, dtype or self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {"dtype": self.dtype.name}


class Constant(Initializer):
    """A given value; a shorter one is repeated at the end to fill the shape.

    Args:
      value: a Python number, a list of them, or a NumPy array.
      dtype: type where the call gives none.
      verify_shape: whether a value of another shape is an error.
    """

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or "
                "tuple of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: Any,
        dtype: Any = None,
        partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        strict = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, dtype or self.dtype, shape, verify_shape=strict)

    def get_config(self) -> dict[str, Any]:
        # `verify_shape` is left out, as TensorFlow does: it is no part of the value.
        return {"value": self.value, "dtype": self.dtype.name}


# Distributions --------------------------------------------------------------------------------


class RandomUniform(Initializer):
    """Uniform numbers from `minval` to `maxval` (excluded).

    Args:
      maxval: 1 for floating point types if None.
      seed: seed of the random numbers; see `tf.set_random_seed`.
    """

    def __init__(
        self,
        minval: Any = 0.0,
        maxval: Any = None,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {
            "minval": self.minval,
            "maxval": self.maxval,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class RandomNormal(Initializer):
    """Normally distributed numbers."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)

    def get_config(self) -> dict[str, Any]:
        return {
            "mean": self.mean,
            "stddev": self.stddev,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class TruncatedNormal(RandomNormal):
    """Normally distributed numbers, drawn again where further than two deviations from the mean."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


# Scaled distributions -------------------------------------------------------------------------

# The standard deviation of a standard normal distribution cut off at two.
_TRUNCATED_DEVIATION = 0.87962566103423978
_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    """The numbers of inputs and outputs of a unit whose weights have this shape."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    """Random numbers whose variance is `scale` divided by the number of inputs or outputs.

    Args:
      scale: a positive number.
      mode: "fan_in", "fan_out", or "fan_avg" for their mean.
      distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ):
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float. Received: {scale}")
        if mode not in _MODES:
            raise ValueError("Invalid `mode` argument:", mode)
        kind = distribution.lower()
        if kind not in _DISTRIBUTIONS:
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = kind
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        wanted = dtype or self.dtype
        whole = shape if partition_info is None else partition_info.full_shape
        variance = self._variance(sizes_of(whole))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return random_uniform(shape, -limit, limit, wanted, seed=self.seed)
        deviation = math.sqrt(variance)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, deviation, wanted, seed=self.seed)
        deviation /= _TRUNCATED_DEVIATION
        return truncated_normal(shape, 0.0, deviation, wanted, seed=self.seed)

    def _variance(self, shape: Sequence[int]) -> float:
        fan_in, fan_out = _fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        return self.scale / max(1.0, fan)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


class GlorotUniform(VarianceScaling):
    """Uniform numbers scaled by the mean of the numbers of inputs and outputs (Glorot, 2010)."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """Normal numbers scaled by the mean of the numbers of inputs and outputs (Glorot, 2010)."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Normal numbers whose variance is one divided by the number of inputs (LeCun, 1998)."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform numbers whose variance is one divided by the number of inputs (LeCun, 1998)."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Normal numbers whose variance is two divided by the number of inputs (He, 2015)."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform numbers whose variance is two divided by the number of inputs (He, 2015)."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of a layer's inputs, whatever their number.

    Args:
      factor: what to multiply them by, for the non-linearity that follows (1.43 for relu).
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.factor = factor
        self.seed = seed
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = sizes_of(shape if partition_info is None else partition_info.full_shape)
        inputs = max(math.prod(whole[:-1]), 1)
        limit = math.sqrt(3.0 / inputs) * self.factor
        return random_uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


# Matrices -------------------------------------------------------------------------------------


class Identity(Initializer):
    """The identity matrix times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32):
        self.gain = gain
        self.dtype = floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = sizes_of(shape if partition_info is None else partition_info.full_shape)
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        matrix: Any = eye(whole[0], whole[1], dtype=dtype or self.dtype)
        if partition_info is not None:
            matrix = slice_of(matrix, partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
