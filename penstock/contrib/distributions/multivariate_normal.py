"""Normal distributions of vectors: `scale @ z + loc` for standard normal z and a linear operator.

The operator knows its form, so that a diagonal of k numbers is never a matrix of k * k.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import linalg
from penstock.contrib.distributions.scales import optional_tensor
from penstock.contrib.distributions.transformed_vectors import (
    VectorsOfOperator,
    checked_scale,
    diagonal_scale,
)
from penstock.distributions.kullback_leibler import RegisterKL
from penstock.distributions.normal import Normal
from penstock.distributions.static_shapes import dimension_size

__all__ = [
    "MultivariateNormalDiag",
    "MultivariateNormalDiagPlusLowRank",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalLinearOperator",
    "MultivariateNormalTriL",
]

_DIAGONAL = (
    linalg.LinearOperatorDiag,
    linalg.LinearOperatorIdentity,
    linalg.LinearOperatorScaledIdentity,
)


class MultivariateNormalLinearOperator(VectorsOfOperator):
    """`scale @ z + loc` for a vector z of standard normal numbers.

    Args:
      loc: The mean, `[…, k]`; zero if None.
      scale: A `linalg.LinearOperator` of shape `[…, k, k]`.
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ):
        dtype = checked_scale(scale).dtype
        with tf.name_scope(name) as scope:
            standard = Normal(tf.zeros([], dtype), tf.ones([], dtype))
            super().__init__(standard, loc, scale, validate_args, scope)

    @property
    def _is_diagonal(self) -> bool:
        return isinstance(self.scale, _DIAGONAL)

    def _mean(self) -> Any:
        zeros = self._filled(0.0)
        if self.loc is None:
            return zeros
        if zeros.shape.is_fully_defined() and zeros.shape == self.loc.shape:
            return tf.identity(self.loc)
        return tf.identity(self.loc) + zeros

    def _mode(self) -> Any:
        return self._mean()

    def _covariance(self) -> Any:
        if self._is_diagonal:
            return tf.matrix_diag(tf.square(self.scale.diag_part()))
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self) -> Any:
        if self._is_diagonal:
            return tf.square(self.scale.diag_part())
        return super()._variance()

    def _stddev(self) -> Any:
        if self._is_diagonal:
            return tf.abs(self.scale.diag_part())
        return super()._stddev()


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """`scale_tril @ z + loc` for a vector z of standard normal numbers.

    Args:
      loc: The mean, `[…, k]`; zero if None.
      scale_tril: A lower triangular matrix, `[…, k, k]`; the identity if None.
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
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            loc = optional_tensor(loc, "loc")
            scale_tril = optional_tensor(scale_tril, "scale_tril")
            scale: Any
            if scale_tril is None:
                scale = linalg.LinearOperatorIdentity(dimension_size(loc, -1), dtype=loc.dtype)
            else:
                scale = linalg.LinearOperatorLowerTriangular(
                    scale_tril,
                    is_non_singular=True,
                    is_self_adjoint=False,
                    is_positive_definite=False,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


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
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            covariance = optional_tensor(covariance_matrix, "covariance_matrix")
            if covariance is not None and validate_args:
                symmetric = tf.assert_near(
                    covariance, tf.matrix_transpose(covariance), message="Matrix was not symmetric"
                )
                with tf.control_dependencies([symmetric]):
                    covariance = tf.identity(covariance)
            tril = None if covariance is None else tf.cholesky(covariance)
        super().__init__(loc, tril, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """`(D + U V Uᵀ) @ z + loc` for a vector z of standard normal numbers.

    Args:
      loc: The mean, `[…, k]`; zero if None.
      scale_diag: The diagonal of D, `[…, k]`.
      scale_identity_multiplier: A number that is added to the diagonal of D, `[…]`.
      scale_perturb_factor: U, `[…, k, r]`.
      scale_perturb_diag: The diagonal of V, `[…, r]`; ones if None.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ):
        perturbed = scale_perturb_factor is not None or scale_perturb_diag is not None
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            scale = diagonal_scale(
                loc, scale_diag, scale_identity_multiplier, validate_args, assert_positive=perturbed
            )
            if perturbed:
                scale = linalg.LinearOperatorLowRankUpdate(
                    scale,
                    u=optional_tensor(scale_perturb_factor, "scale_perturb_factor"),
                    diag_update=optional_tensor(scale_perturb_diag, "scale_perturb_diag"),
                    is_diag_update_positive=scale_perturb_diag is None,
                    is_non_singular=True,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    is_square=True,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
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
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


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


def _sum_of_squares(matrix: Any) -> Any:
    return tf.reduce_sum(tf.square(matrix), [-2, -1])


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl(a: Any, b: Any, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_mvn"):
        if a._is_diagonal and b._is_diagonal:
            ratio = (a.stddev() / b.stddev())[..., tf.newaxis]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        moved = b.scale.solve((b.mean() - a.mean())[..., tf.newaxis])
        size = tf.cast(a.scale.domain_dimension_tensor(), a.dtype)
        logs = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        divergence = logs + 0.5 * (_sum_of_squares(ratio) + _sum_of_squares(moved) - size)
        divergence.set_shape(tf.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return divergence
