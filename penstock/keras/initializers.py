"""`tf.keras.initializers`: the graph's initializers with Keras' defaults."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.keras.utils.serialization import serialize_keras_object
from penstock.layers import identifiers
from penstock.ops import initializers as _ops
from penstock.ops.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Ones,
    VarianceScaling,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)
from penstock.ops.orthogonal_initializers import Orthogonal

__all__ = [
    "Constant",
    "Identity",
    "Initializer",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Zeros",
    "constant",
    "deserialize",
    "get",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "serialize",
    "truncated_normal",
    "uniform",
    "zeros",
]


class RandomNormal(_ops.RandomNormal):
    """Normally distributed numbers."""

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ):
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(_ops.RandomUniform):
    """Uniformly distributed numbers."""

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ):
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(_ops.TruncatedNormal):
    """Normally distributed numbers, none further than two deviations from the mean."""

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ):
        super().__init__(mean, stddev, seed, dtype)


constant = Constant
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform
identity = Identity
ones = one = Ones
orthogonal = Orthogonal
normal = random_normal = RandomNormal
uniform = random_uniform = RandomUniform
truncated_normal = TruncatedNormal
zeros = zero = Zeros


def serialize(initializer: Any) -> Any:
    """Class name and configuration of an initializer."""
    return serialize_keras_object(initializer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The initializer that `serialize` described."""
    from penstock.keras.utils.serialization import scope_of

    with scope_of(custom_objects):
        return identifiers.initializer(config)


def get(identifier: Any) -> Any:
    """The initializer that a name, configuration, class or function stands for."""
    return identifiers.initializer(identifier)
