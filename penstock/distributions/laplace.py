"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions import special_math
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.scalar import ScalarDistribution

__all__ = ["Laplace", "LaplaceWithSoftplusScale"]


class Laplace(ScalarDistribution):
    """The double exponential distribution around `loc` with the scale `scale`."""

    _named_parameters = ("loc", "scale")

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ):
        with tf.name_scope(name, values=[loc, scale]) as scope:
            checks = [tf.assert_positive(scale)] if validate_args else []
            with tf.control_dependencies(checks):
                self._loc = tf.identity(loc, name="loc")
                self._scale = tf.identity(scale, name="scale")
                tf.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._loc.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._loc, self._scale],
            name=scope,
        )

    @property
    def loc(self) -> Any:
        """The mean."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """By inversion: of uniform numbers in (-1, 1), without -1, whose logarithm is infinite."""
        number = self.dtype.as_numpy_dtype
        uniform = tf.random_uniform(
            self._draws_shape(n),
            minval=np.nextafter(number(-1.0), number(0.0)),
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        return self.loc - self.scale * tf.sign(uniform) * tf.log1p(-tf.abs(uniform))

    def _log_prob(self, x: Any) -> Any:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_cdf(self, x: Any) -> Any:
        return special_math.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return special_math.log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * tf.sign(z) * (1.0 - tf.exp(-tf.abs(z)))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -tf.abs(self._z(x))

    def _log_normalization(self) -> Any:
        return math.log(2.0) + tf.log(self.scale)

    def _entropy(self) -> Any:
        return math.log(2.0) + 1.0 + tf.log(self.scale + tf.zeros_like(self.loc))

    def _mean(self) -> Any:
        return self.loc + tf.zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + tf.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self._mean()

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale


class LaplaceWithSoftplusScale(Laplace):
    """A Laplace distribution with the scale `softplus(scale)`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ):
        with tf.name_scope(name, values=[loc, scale]) as scope:
            positive = tf.nn.softplus(scale, name="softplus_scale")
            super().__init__(loc, positive, validate_args, allow_nan_stats, scope)
