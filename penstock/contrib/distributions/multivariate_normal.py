"""Normal distributions of vectors."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock import linalg
from penstock.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from penstock.distributions.kullback_leibler import RegisterKL

__all__ = [
    "MultivariateNormalDiag",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
]


class MultivariateNormalTriL(Distribution):
    """`loc + scale_tril @ z` for a vector z of standard normal numbers.

    Args:
      loc: The mean, `[…, k]`; zero if None.
      scale_tril: A lower triangular matrix, `[…, k, k]`.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ):
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with tf.name_scope(name, values=[v for v in (loc, scale_tril) if v is not None]) as scope:
            if scale_tril is None:
                loc = tf.convert_to_tensor(loc, name="loc")
                scale_tril = tf.matrix_diag(tf.ones_like(loc))
            tril = tf.matrix_band_part(tf.convert_to_tensor(scale_tril), -1, 0)
            if validate_args:
                diagonal = tf.matrix_diag_part(tril)
                message = "`scale_tril` must have a positive diagonal."
                with tf.control_dependencies([tf.assert_positive(diagonal, message=message)]):
                    tril = tf.identity(tril)
            self._tril = tril
            zero = tf.zeros_like(tril[..., 0])
            self._loc = zero + (0.0 if loc is None else tf.convert_to_tensor(loc, name="loc"))
        super().__init__(
            dtype=self._tril.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._loc, self._tril],
            name=scope,
        )

    @property
    def loc(self) -> Any:
        """The mean."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The matrix that standard normal vectors are multiplied by, as a linear operator."""
        return linalg.LinearOperatorLowerTriangular(self._tril, is_non_singular=True)

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.get_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[-1:]

    def _event_shape(self) -> Any:
        return self.loc.get_shape()[-1:]

    def _full_tril(self) -> Any:
        """The matrix in the shape of the batch."""
        return self._tril + tf.zeros_like(self.loc)[..., tf.newaxis]

    def _log_abs_determinant(self) -> Any:
        return tf.reduce_sum(tf.log(tf.abs(tf.matrix_diag_part(self._full_tril()))), -1)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], tf.shape(self.loc)], 0)
        drawn = tf.random_normal(shape, dtype=self.dtype, seed=seed)
        return self.loc + tf.reduce_sum(self._tril * drawn[..., tf.newaxis, :], -1)

    def _log_prob(self, x: Any) -> Any:
        centred = (x - self.loc)[..., tf.newaxis]
        tril = self._tril + tf.zeros_like(centred)
        z = tf.matrix_triangular_solve(tril, centred)[..., 0]
        size = tf.cast(tf.shape(self.loc)[-1], self.dtype)
        normalization = 0.5 * math.log(2 * math.pi) * size + self._log_abs_determinant()
        return -0.5 * tf.reduce_sum(tf.square(z), -1) - normalization

    def _entropy(self) -> Any:
        size = tf.cast(tf.shape(self.loc)[-1], self.dtype)
        return 0.5 * math.log(2 * math.pi * math.e) * size + self._log_abs_determinant()

    def _mean(self) -> Any:
        return tf.identity(self.loc)

    def _mode(self) -> Any:
        return tf.identity(self.loc)

    def _covariance(self) -> Any:
        tril = self._full_tril()
        return tf.matmul(tril, tril, transpose_b=True)

    def _variance(self) -> Any:
        return tf.reduce_sum(tf.square(self._full_tril()), -1)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution with mean `loc` and covariance `covariance_matrix`."""

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ):
        values = [v for v in (loc, covariance_matrix) if v is not None]
        with tf.name_scope(name, values=values) as scope:
            tril = None if covariance_matrix is None else tf.cholesky(covariance_matrix)
            super().__init__(loc, tril, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiag(MultivariateNormalTriL):
    """Independent normal components.

    Args:
      loc: The means, `[…, k]`; zero if None.
      scale_diag: Their standard deviations, `[…, k]`.
      scale_identity_multiplier: A standard deviation of all, `[…]`, added to the others.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ):
        given = (loc, scale_diag, scale_identity_multiplier)
        with tf.name_scope(name, values=[v for v in given if v is not None]) as scope:
            diagonal = None if scale_diag is None else tf.convert_to_tensor(scale_diag)
            if scale_identity_multiplier is not None:
                factor = tf.convert_to_tensor(scale_identity_multiplier)[..., tf.newaxis]
                start = diagonal if diagonal is not None else tf.zeros_like(loc)
                diagonal = start + factor
            tril = None if diagonal is None else tf.matrix_diag(diagonal)
            super().__init__(loc, tril, validate_args, allow_nan_stats, scope)

    @property
    def scale(self) -> Any:
        """The standard deviations, as a linear operator."""
        return linalg.LinearOperatorDiag(tf.matrix_diag_part(self._tril), is_non_singular=True)

    def _stddev(self) -> Any:
        return tf.abs(tf.matrix_diag_part(self._full_tril()))


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """Independent normal components with the standard deviations softplus(scale_diag)."""

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ):
        with tf.name_scope(name, values=[scale_diag]) as scope:
            positive = tf.nn.softplus(scale_diag)
            super().__init__(loc, positive, None, validate_args, allow_nan_stats, scope)


@RegisterKL(MultivariateNormalTriL, MultivariateNormalTriL)
def _kl(a: MultivariateNormalTriL, b: MultivariateNormalTriL, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_mvn", values=[a.loc, b.loc, a._tril, b._tril]):
        of_b = b._full_tril() + tf.zeros_like(a._full_tril())
        of_a = a._full_tril() + tf.zeros_like(of_b)
        both = tf.matrix_triangular_solve(of_b, of_a)
        moved = tf.matrix_triangular_solve(of_b, (b.loc - a.loc)[..., tf.newaxis])
        size = tf.cast(tf.shape(a.loc)[-1], a.dtype)
        squares = tf.reduce_sum(tf.square(both), [-2, -1]) + tf.reduce_sum(
            tf.square(moved), [-2, -1]
        )
        return b._log_abs_determinant() - a._log_abs_determinant() + 0.5 * (squares - size)
