"""Numbers that are independent of each other, scaled and shifted as vectors; and skewed ones."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import linalg
from penstock.contrib.distributions.affine import Affine
from penstock.contrib.distributions.scales import checked_diagonal
from penstock.contrib.distributions.shape_bijectors import AffineLinearOperator
from penstock.distributions import plain_bijectors as bijectors
from penstock.distributions.gamma import Exponential
from penstock.distributions.laplace import Laplace
from penstock.distributions.normal import Normal
from penstock.distributions.static_shapes import dimension_size
from penstock.distributions.transformed import TransformedDistribution

__all__ = [
    "SinhArcsinh",
    "VectorExponentialDiag",
    "VectorExponentialLinearOperator",
    "VectorLaplaceDiag",
    "VectorLaplaceLinearOperator",
    "VectorSinhArcsinhDiag",
]


def diagonal_scale(
    loc: Any,
    scale_diag: Any,
    multiplier: Any,
    validate_args: bool = False,
    assert_positive: bool = False,
) -> Any:
    """The linear operator of a diagonal, of a multiple of the identity, or of both."""
    if scale_diag is not None:
        diagonal = tf.convert_to_tensor(scale_diag, name="scale_diag")
        if multiplier is not None:
            factor = tf.convert_to_tensor(multiplier, diagonal.dtype.base_dtype)
            diagonal = diagonal + factor[..., tf.newaxis]
        return linalg.LinearOperatorDiag(
            checked_diagonal(diagonal, assert_positive) if validate_args else diagonal,
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=assert_positive,
        )
    if loc is None:
        raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
    loc = tf.convert_to_tensor(loc, name="loc")
    rows = dimension_size(loc, -1)
    if multiplier is None:
        return linalg.LinearOperatorIdentity(num_rows=rows, dtype=loc.dtype.base_dtype)
    factor = tf.convert_to_tensor(multiplier, loc.dtype.base_dtype)
    return linalg.LinearOperatorScaledIdentity(
        num_rows=rows,
        multiplier=checked_diagonal(factor, assert_positive) if validate_args else factor,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=assert_positive,
    )


def _shapes(loc: Any, scale: Any) -> tuple[Any, Any]:
    """The shapes of a batch and of an event."""
    batch, event = scale.batch_shape, scale.range_dimension.value
    if loc is None:
        known = batch.is_fully_defined()
        outer = batch.as_list() if known else scale.batch_shape_tensor()
    elif batch.is_fully_defined() and loc.shape.is_fully_defined():
        outer = tf.broadcast_static_shape(batch, loc.shape[:-1]).as_list()
    else:
        outer = tf.broadcast_dynamic_shape(scale.batch_shape_tensor(), tf.shape(loc)[:-1])
    size = scale.range_dimension_tensor() if event is None else event
    return outer, [event] if event is not None else tf.reshape(size, [1])


class VectorsOfOperator(TransformedDistribution):
    """`scale @ x + loc` for vectors x of independent numbers of one distribution."""

    #: The variance of these numbers.
    _unit_variance = 1.0

    def __init__(
        self, distribution: Any, loc: Any, scale: Any, validate_args: bool, name: str
    ) -> None:
        loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
        batch, event = _shapes(loc, scale)
        super().__init__(
            distribution,
            AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch,
            event_shape=event,
            validate_args=validate_args,
            name=name,
        )

    @property
    def loc(self) -> Any:
        """What is added; None if nothing is."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _filled(self, value: float) -> Any:
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        known = self.batch_shape.concatenate(self.event_shape)
        return tf.fill(known.as_list() if known.is_fully_defined() else shape,
                       tf.constant(value, self.dtype))  # fmt: skip

    def _at(self, value: float) -> Any:
        """The result for a vector of equal numbers."""
        y = self.scale.matvec(self._filled(value))
        return y if self.loc is None else self.loc + y

    def _covariance(self) -> Any:
        dense = self.scale.to_dense()
        return self._unit_variance * tf.matmul(dense, dense, adjoint_b=True)

    def _variance(self) -> Any:
        dense = self.scale.to_dense()
        return self._unit_variance * tf.reduce_sum(tf.square(dense), axis=-1)

    def _stddev(self) -> Any:
        return tf.sqrt(self._variance())


def checked_scale(scale: Any) -> Any:
    if scale is None:
        raise ValueError("Missing required `scale` parameter.")
    if not scale.dtype.is_floating:
        raise TypeError("`scale` parameter must have floating-point dtype.")
    return scale


class VectorLaplaceLinearOperator(VectorsOfOperator):
    """`scale @ x + loc` for vectors x of independent Laplace numbers.

    Args:
      loc: a vector to add.
      scale: a `linalg.LinearOperator`.
    """

    _unit_variance = 2.0

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceLinearOperator",
    ):
        dtype = checked_scale(scale).dtype
        with tf.name_scope(name):
            base = Laplace(tf.zeros([], dtype), tf.ones([], dtype))
            super().__init__(base, loc, scale, validate_args, name)

    def _mean(self) -> Any:
        return self._at(0.0)

    def _mode(self) -> Any:
        return self._at(0.0)


class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Independent Laplace components.

    Args:
      loc: a vector to add.
      scale_diag: what each component is multiplied by.
      scale_identity_multiplier: is added to `scale_diag`.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ):
        with tf.name_scope(name), tf.name_scope("init"):
            scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class VectorExponentialLinearOperator(VectorsOfOperator):
    """`scale @ x + loc` for vectors x of independent exponential numbers.

    Args:
      loc: a vector to add.
      scale: a `linalg.LinearOperator`.
    """

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialLinearOperator",
    ):
        dtype = checked_scale(scale).dtype
        with tf.name_scope(name) as scope:
            base = Exponential(tf.ones([], dtype), allow_nan_stats=allow_nan_stats)
            super().__init__(base, loc, scale, validate_args, scope)

    def _mean(self) -> Any:
        return self._at(1.0)

    def _mode(self) -> Any:
        return self._at(0.0)


class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Independent exponential components; see `VectorLaplaceDiag` for the arguments."""

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ):
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


# Skewed ------------------------------------------------------------------------------------------


def _base(distribution: Any, dtype: Any, allow_nan_stats: bool) -> Any:
    """A given distribution, which must be of scalars; the standard normal one if there is none."""
    if distribution is None:
        return Normal(tf.zeros([], dtype), tf.ones([], dtype), allow_nan_stats=allow_nan_stats)
    if distribution.dtype != dtype.base_dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not '
            f'"{dtype.base_dtype.name}"'
        )
    for shape, what in ((distribution.event_shape, "event"), (distribution.batch_shape, "batch")):
        if shape.ndims not in (None, 0):
            raise ValueError(
                f"distribution must be scalar; distribution.is_scalar_{what}=False is not True"
            )
    return distribution


def _skewing(skewness: Any, tailweight: Any, dtype: Any) -> tuple[Any, Any, Any, Any]:
    """Both as tensors, the bijector of both, and what it makes of 2 without skewness."""
    tails = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, dtype, "tailweight")
    skew = tf.convert_to_tensor(0.0 if skewness is None else skewness, dtype, "skewness")
    bijector = bijectors.SinhArcsinh(skewness=skew, tailweight=tails)
    straight = bijector
    if skewness is not None:
        zero = tf.zeros([], dtype)
        straight = bijectors.SinhArcsinh(skewness=zero, tailweight=tails)
    return skew, tails, bijector, straight.forward(tf.constant(2, dtype))


class SinhArcsinh(TransformedDistribution):
    """A distribution of which two parameters give skewness and the weight of the tails.

    Args:
      loc: what is added.
      scale: what is multiplied by.
      skewness: positive to lean to the right; zero if None.
      tailweight: more than one for heavier tails; one if None.
      distribution: of scalars; standard normal if None.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ):
        with tf.name_scope(name) as scope:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            dtype = self._loc.dtype.base_dtype
            self._scale = tf.convert_to_tensor(scale, dtype, "scale")
            base = _base(distribution, dtype, allow_nan_stats)
            made = _skewing(skewness, tailweight, dtype)
            self._skewness, self._tailweight, skewing, unit = made
            whole = self._loc + self._scale + self._skewness + self._tailweight
            known = whole.shape.is_fully_defined()
            affine = bijectors.AffineScalar(
                shift=self._loc, scale=2 * self._scale / unit, validate_args=validate_args
            )
            super().__init__(
                base,
                bijectors.Chain([affine, skewing]),
                batch_shape=whole.shape.as_list() if known else tf.shape(whole),
                validate_args=validate_args,
                name=scope,
            )

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    @property
    def tailweight(self) -> Any:
        return self._tailweight

    @property
    def skewness(self) -> Any:
        return self._skewness


class VectorSinhArcsinhDiag(TransformedDistribution):
    """Independent components of `SinhArcsinh`; see `VectorLaplaceDiag` for the scale."""

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ):
        with tf.name_scope(name) as scope:
            self._loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
            self._scale = diagonal_scale(self._loc, scale_diag, scale_identity_multiplier)
            diagonal = self._scale.diag_part()
            dtype = diagonal.dtype.base_dtype
            batch, event = _shapes(self._loc, self._scale)
            base = _base(distribution, dtype, allow_nan_stats)
            made = _skewing(skewness, tailweight, dtype)
            self._skewness, self._tailweight, skewing, unit = made
            affine = Affine(
                shift=self._loc, scale_diag=2 * diagonal / unit, validate_args=validate_args
            )
            super().__init__(
                base,
                bijectors.Chain([affine, skewing]),
                batch_shape=batch,
                event_shape=event,
                validate_args=validate_args,
                name=scope,
            )

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    @property
    def tailweight(self) -> Any:
        return self._tailweight

    @property
    def skewness(self) -> Any:
        return self._skewness
