"""Distributions of covariance matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import penstock as tf
from penstock import linalg
from penstock.distributions.argument_checks import gen_new_seed
from penstock.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from penstock.distributions.triangular import assert_symmetric
from penstock.ir.constants import constant_value
from penstock.shapes import TensorShape, dimension_value

__all__ = ["WishartCholesky", "WishartFull"]


class _Wishart(Distribution):
    """The scatter matrix of `df` normal vectors with the covariance `factor @ factorᵀ`.

    Args:
      factor: lower triangular matrices.
      cholesky_input_output_matrices: whether draws, arguments and statistics are Cholesky factors
        of matrices, and not the matrices themselves.
    """

    def __init__(
        self,
        df: Any,
        factor: Any,
        cholesky_input_output_matrices: bool,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
    ):
        self._of_factors = cholesky_input_output_matrices
        with tf.name_scope(name) as scope, tf.name_scope("init", values=[df]):
            if not factor.dtype.is_floating:
                raise TypeError(f"scale_operator.dtype={factor.dtype} is not a floating-point type")
            self._scale_operator = linalg.LinearOperatorLowerTriangular(
                tril=factor, is_non_singular=True, is_positive_definite=True, is_square=True
            )
            dtype = factor.dtype.base_dtype
            self._df = tf.convert_to_tensor(df, dtype=dtype, name="df")
            size = dimension_value(factor.shape[-1]) if factor.shape.ndims is not None else None
            self._dimension = (
                tf.cast(tf.shape(factor)[-1], dtype, name="dimension")
                if size is None
                else tf.convert_to_tensor(size, dtype=dtype, name="dimension")
            )
            self._check_degrees(validate_args)
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[self._df, self._dimension, factor],
            name=scope,
        )

    def _check_degrees(self, validate_args: bool) -> None:
        df, dimension = constant_value(self._df), constant_value(self._dimension)
        if df is not None and dimension is not None:
            if np.any(df < dimension):
                raise ValueError(
                    f"Degrees of freedom (df = {np.atleast_1d(df)}) cannot be less than dimension "
                    f"of scale matrix (scale.dimension = {dimension})"
                )
        elif validate_args:
            enough = tf.assert_less_equal(
                self._dimension,
                self._df,
                message=f"Degrees of freedom (df = {self._dimension}) cannot be less than "
                f"dimension of scale matrix (scale.dimension = {self._df})",
            )
            with tf.control_dependencies([enough]):
                self._df = tf.identity(self._df)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    @property
    def scale_operator(self) -> Any:
        """The Cholesky factor of the scale, as a linear operator."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether Cholesky factors stand for matrices."""
        return self._of_factors

    @property
    def dimension(self) -> Any:
        """The number of rows of a matrix."""
        return self._dimension

    def scale(self) -> Any:
        """The scale matrix, or its Cholesky factor."""
        return self._scale_operator.to_dense() if self._of_factors else self._square_scale()

    def _square_scale(self) -> Any:
        factor = self._scale_operator.to_dense()
        return tf.matmul(factor, factor, adjoint_b=True)

    def _event_shape_tensor(self) -> Any:
        size = self._scale_operator.domain_dimension_tensor()
        return tf.stack([size, size])

    def _event_shape(self) -> Any:
        size = self._scale_operator.domain_dimension
        return TensorShape([size, size])

    def _batch_shape_tensor(self) -> Any:
        return self._scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._scale_operator.batch_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """By Bartlett's decomposition: normal numbers below a diagonal of chi ones."""
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        normal = tf.random_normal(tf.concat([[n], batch, event], 0), dtype=self.dtype, seed=seed)
        degrees = self._df * tf.ones(batch, self.dtype)
        squares = tf.random_gamma(
            [n],
            self._multi_gamma_sequence(0.5 * degrees),
            beta=0.5,
            dtype=self.dtype,
            seed=gen_new_seed(seed, "wishart"),
        )
        lower = tf.matrix_set_diag(tf.matrix_band_part(normal, -1, 0), tf.sqrt(squares))
        drawn = self._scale_operator.matmul(lower)
        return drawn if self._of_factors else tf.matmul(drawn, drawn, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        factor = x if self._of_factors else tf.cholesky(x)
        solved = self._scale_operator.solve(factor)
        trace = tf.reduce_sum(tf.square(solved), axis=[-2, -1])
        half_log_det = tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)), axis=-1)
        return (
            (self._df - self._dimension - 1.0) * half_log_det
            - 0.5 * trace
            - self.log_normalization()
        )

    def _entropy(self) -> Any:
        half_more, half_df = 0.5 * self._dimension + 0.5, 0.5 * self._df
        return (
            self._dimension * (half_df + half_more * math.log(2.0))
            + 2 * half_more * self._scale_operator.log_abs_determinant()
            + self._multi_lgamma(half_df)
            + (half_more - half_df) * self._multi_digamma(half_df)
        )

    def _times(self, factor: Any, matrix: Any) -> Any:
        """Matrices of a batch times a number for each."""
        return factor[..., tf.newaxis, tf.newaxis] * matrix

    def _mean(self) -> Any:
        if self._of_factors:
            return self._times(tf.sqrt(self._df), self._scale_operator.to_dense())
        return self._times(self._df, self._square_scale())

    def _variance(self) -> Any:
        scaled = self._times(tf.sqrt(self._df), self._square_scale())
        diagonal = tf.matrix_diag_part(scaled)[..., tf.newaxis]
        variance = tf.square(scaled) + tf.matmul(diagonal, diagonal, adjoint_b=True)
        return tf.cholesky(variance) if self._of_factors else variance

    def _stddev(self) -> Any:
        if self._of_factors:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make "
                "sense."
            )
        return tf.cholesky(self.variance())

    def _mode(self) -> Any:
        more = self._df - self._dimension - 1.0
        more = tf.where(more < 0, tf.fill(tf.shape(more), tf.constant(np.nan, self.dtype)), more)
        if self._of_factors:
            return self._times(tf.sqrt(more), self._scale_operator.to_dense())
        return self._times(more, self._square_scale())

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """The mean of the logarithm of draws' determinants."""
        with self._name_scope(name):
            return (
                self._multi_digamma(0.5 * self._df)
                + self._dimension * math.log(2.0)
                + 2 * self._scale_operator.log_abs_determinant()
            )

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            return (
                self._df * self._scale_operator.log_abs_determinant()
                + 0.5 * self._df * self._dimension * math.log(2.0)
                + self._multi_lgamma(0.5 * self._df)
            )

    def _multi_gamma_sequence(self, a: Any) -> Any:
        """The arguments of the factors of the gamma function of matrices."""
        steps = tf.range(tf.cast(self._dimension, tf.int32))
        return a[..., tf.newaxis] - 0.5 * tf.cast(steps, self.dtype)

    def _multi_lgamma(self, a: Any) -> Any:
        p = self._dimension
        logs = tf.reduce_sum(tf.lgamma(self._multi_gamma_sequence(a)), axis=-1)
        return 0.25 * p * (p - 1.0) * math.log(math.pi) + logs

    def _multi_digamma(self, a: Any) -> Any:
        return tf.reduce_sum(tf.digamma(self._multi_gamma_sequence(a)), axis=-1)


class WishartCholesky(_Wishart):
    """The Wishart distribution, of the Cholesky factor of its scale.

    Args:
      df: degrees of freedom, not less than the dimension.
      scale: lower triangular matrices.
      cholesky_input_output_matrices: whether draws, arguments and statistics are Cholesky factors
        of matrices.
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ):
        with tf.name_scope(name, values=[scale]) as scope:
            scale = tf.convert_to_tensor(scale, name="scale")
            if validate_args:
                sizes = tf.shape(scale)
                checks = [
                    tf.assert_positive(
                        tf.matrix_diag_part(scale), message="scale must be positive definite"
                    ),
                    tf.assert_equal(sizes[-1], sizes[-2], message="scale must be square"),
                ]
                with tf.control_dependencies(checks):
                    scale = tf.identity(scale)
            super().__init__(
                df, scale, cholesky_input_output_matrices, validate_args, allow_nan_stats, scope
            )


class WishartFull(_Wishart):
    """The Wishart distribution, of its scale; see `WishartCholesky` for the arguments."""

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ):
        with tf.name_scope(name, values=[scale]) as scope:
            scale = tf.convert_to_tensor(scale, name="scale")
            factor = tf.cholesky(assert_symmetric(scale) if validate_args else scale)
            if validate_args:
                with tf.control_dependencies([tf.assert_positive(tf.matrix_diag_part(factor))]):
                    factor = tf.identity(factor)
        super().__init__(
            df, factor, cholesky_input_output_matrices, validate_args, allow_nan_stats, scope
        )
