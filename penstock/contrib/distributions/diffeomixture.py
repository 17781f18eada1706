"""Vectors that two affine functions give, mixed by a weight that is random itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock import linalg
from penstock.contrib.distributions.quadratures import (
    concat_vectors,
    maybe_check_quadrature_param,
    quadrature_scheme_softmaxnormal_quantiles,
)
from penstock.contrib.distributions.scales import maybe_check_scalar_distribution
from penstock.contrib.distributions.shape_bijectors import AffineLinearOperator
from penstock.distributions.argument_checks import gen_new_seed
from penstock.distributions.categorical import Categorical
from penstock.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from penstock.distributions.static_shapes import pick_vector
from penstock.linear_operators.addition import add_operators
from penstock.shapes import TensorShape, dimension_value

__all__ = ["VectorDiffeomixture", "maybe_check_quadrature_param"]


def _check_two(count: int) -> None:
    if count != 2:
        raise NotImplementedError(
            f"Currently only bimixtures are supported; len(scale)={count} is not 2."
        )


class VectorDiffeomixture(Distribution):
    """`w * (scale[0] @ x + loc[0]) + (1 - w) * (scale[1] @ x + loc[1])` for random w and x.

    Args:
      mix_loc, temperature: of the normal whose softmax are the weights.
      distribution: that of the numbers of x.
      loc, scale: vectors and linear operators, two of each; vectors may be None.
      quadrature_fn: gives weights and their probabilities, from mean, deviation, their number and
        `validate_args`.
    """

    def __init__(
        self,
        mix_loc: Any,
        temperature: Any,
        distribution: Any,
        loc: Any = None,
        scale: Any = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ):
        with tf.name_scope(name, values=[mix_loc, temperature]) as scope:
            loc, dtype = _checked_endpoints(loc, scale, validate_args)
            self._endpoint_affine = _affines("endpoint_affine", loc, scale, validate_args)
            _check_two(len(scale))
            mix_loc = tf.convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = tf.convert_to_tensor(temperature, dtype=dtype, name="temperature")
            self._grid, probs = quadrature_fn(
                mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args
            )
            self._mixture_distribution = Categorical(
                logits=tf.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
            checks = maybe_check_scalar_distribution(distribution, dtype, validate_args)
            if checks:
                with tf.control_dependencies(checks):
                    self._grid = tf.identity(self._grid)
            self._distribution = distribution
            self._interpolated_affine = _affines(
                "interpolated_affine",
                interpolate_loc(self._grid, loc),
                interpolate_scale(self._grid, scale),
                validate_args,
            )
            self._shapes = determine_batch_event_shapes(self._grid, self._endpoint_affine)
        parents = [each for each in loc if each is not None]
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[
                *distribution._graph_parents,
                *parents,
                *(each for operator in scale for each in operator.graph_parents),
            ],
            name=scope,
        )

    @property
    def mixture_distribution(self) -> Any:
        """What chooses a point of the quadrature."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Any:
        """The distribution of the numbers that are scaled and shifted."""
        return self._distribution

    @property
    def grid(self) -> Any:
        """The weights at the points of the quadrature."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[Any]:
        """The two affine functions."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list[Any]:
        """The affine function at each point of the quadrature."""
        return self._interpolated_affine

    def _batch_shape(self) -> Any:
        return self._shapes[0]

    def _batch_shape_tensor(self) -> Any:
        return self._shapes[1]

    def _event_shape(self) -> Any:
        return self._shapes[2]

    def _event_shape_tensor(self) -> Any:
        return self._shapes[3]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = concat_vectors([n], self.batch_shape_tensor(), self.event_shape_tensor())
        drawn = self.distribution.sample(sample_shape=shape, seed=seed)
        first, second = (affine.forward(drawn) for affine in self.endpoint_affine)
        return self._sampled_weights(n, seed) * (first - second) + second

    def _sampled_weights(self, n: Any, seed: Any) -> Any:
        size, mix_size = _batch_size(self), _batch_size(self.mixture_distribution)
        none = np.array([], np.int32)
        outer = pick_vector(self.is_scalar_batch(), none, [size // mix_size])
        chosen = self.mixture_distribution.sample(
            sample_shape=concat_vectors([n], outer), seed=gen_new_seed(seed, "vector_diffeomixture")
        )
        flat = pick_vector(self.is_scalar_batch(), none, np.array([-1], np.int32))
        chosen = tf.reshape(chosen, concat_vectors([n], flat))
        stride = self.grid.shape.with_rank_at_least(2)[-2:].num_elements()
        if stride is None:
            stride = tf.reduce_prod(tf.shape(self.grid)[-2:])
        offset = tf.range(start=0, limit=size * stride, delta=stride, dtype=chosen.dtype)
        weights = tf.gather(tf.reshape(self.grid, [-1]), chosen + offset)
        return tf.reshape(weights, concat_vectors([-1], self.batch_shape_tensor(), [1]))

    def _log_prob(self, x: Any) -> Any:
        affines = self.interpolated_affine
        inverted = tf.stack([affine.inverse(x) for affine in affines], axis=-1)
        log_probs = tf.reduce_sum(self.distribution.log_prob(inverted), axis=-2)
        ndims = tf.rank(self.event_shape_tensor())
        log_dets = tf.stack(
            [affine.forward_log_det_jacobian(x, event_ndims=ndims) for affine in affines], axis=-1
        )
        weights = self.mixture_distribution.logits
        return tf.reduce_logsumexp(weights - log_dets + log_probs, axis=-1)

    # Moments --------------------------------------------------------------------------------------

    def _mean(self) -> Any:
        probs, mean = self._expanded_probs(), self._expanded_mean()
        parts = [
            probs[..., k] * affine.forward(mean)
            for k, affine in enumerate(self.interpolated_affine)
        ]
        return sum(parts[1:], parts[0])

    def _covariance(self) -> Any:
        return self._mean_of_covariances() + self._covariance_of_means(diag_only=False)

    def _variance(self) -> Any:
        return tf.matrix_diag_part(self._mean_of_covariances()) + self._covariance_of_means(
            diag_only=True
        )

    def _mean_of_covariances(self) -> Any:
        probs = self.mixture_distribution.probs
        parts = []
        for k, affine in enumerate(self.interpolated_affine):
            product = affine.scale.matmul(affine.scale.to_dense(), adjoint_arg=True)
            parts.append(probs[..., k, tf.newaxis, tf.newaxis] * product)
        return sum(parts[1:], parts[0]) * self.distribution.variance()

    def _covariance_of_means(self, diag_only: bool) -> Any:
        probs, base, mean = self._expanded_probs(), self._expanded_mean(), self._mean()
        if not diag_only:
            probs = probs[..., tf.newaxis, :]
        parts = []
        for k, affine in enumerate(self.interpolated_affine):
            distance = affine.forward(base) - mean
            squared = (
                tf.square(distance)
                if diag_only
                else distance[..., :, tf.newaxis] * distance[..., tf.newaxis, :]
            )
            parts.append(probs[..., k] * squared)
        return sum(parts[1:], parts[0])

    def _expanded_mean(self) -> Any:
        shape = concat_vectors(self.batch_shape_tensor(), self.event_shape_tensor())
        mean = tf.reshape(self.distribution.mean(), tf.ones_like(shape, dtype=tf.int32))
        tiled = tf.tile(mean, multiples=shape)
        tiled.set_shape(self.batch_shape.concatenate(self.event_shape))
        return tiled

    def _expanded_probs(self) -> Any:
        probs = self.mixture_distribution.probs
        count = dimension_value(probs.shape.with_rank_at_least(1)[-1])
        parts = [
            self.mixture_distribution.batch_shape_tensor(),
            [1],  # an event is a vector
            [tf.shape(probs)[-1] if count is None else count],
        ]
        return tf.reshape(probs, tf.concat(parts, axis=0))


def _batch_size(distribution: Any) -> Any:
    known = distribution.batch_shape.num_elements()
    return tf.reduce_prod(distribution.batch_shape_tensor()) if known is None else known


def _checked_endpoints(loc: Any, scale: Any, validate_args: bool) -> tuple[list[Any], Any]:
    """The vectors, with None for those that are missing, and the type of all."""
    if not scale or len(scale) < 2:
        raise ValueError(
            "Must specify list (or list-like object) of scale LinearOperators, one for each "
            "component with num_component >= 2."
        )
    given = [None] * len(scale) if loc is None else loc
    if len(given) != len(scale):
        raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
    dtype = scale[0].dtype.base_dtype
    for k, operator in enumerate(scale):
        if validate_args and not operator.is_positive_definite:
            raise ValueError(
                f"scale[{k}].is_positive_definite = {operator.is_positive_definite} != True"
            )
        if operator.dtype.base_dtype != dtype:
            raise TypeError(
                f'dtype mismatch; scale[{k}].base_dtype="{operator.dtype.base_dtype.name}" != '
                f'"{dtype.name}"'
            )
    vectors = [
        None if each is None else tf.convert_to_tensor(each, dtype=dtype, name=f"loc{k}")
        for k, each in enumerate(given)
    ]
    return vectors, dtype


def _affines(name: str, loc: Sequence[Any], scale: Sequence[Any], validate_args: bool) -> list[Any]:
    return [
        AffineLinearOperator(
            shift=shift, scale=operator, validate_args=validate_args, name=f"{name}_{k}"
        )
        for k, (shift, operator) in enumerate(zip(loc, scale, strict=True))
    ]


def determine_batch_event_shapes(grid: Any, endpoint_affine: Sequence[Any]) -> tuple[Any, ...]:
    """The shapes of a batch and of an event, each as far as known and as a tensor."""
    with tf.name_scope("determine_batch_event_shapes"):
        batches = [(grid.shape[:-2], tf.shape(grid)[:-2])]
        events = []
        for affine in endpoint_affine:
            if affine.shift is not None:
                shape = tf.shape(affine.shift)
                batches.append((affine.shift.shape[:-1], shape[:-1]))
                events.append((affine.shift.shape[-1:], shape[-1:]))
            operator = affine.scale
            batches.append((operator.batch_shape, operator.batch_shape_tensor()))
            size = operator.range_dimension_tensor()[tf.newaxis]
            events.append((TensorShape([operator.range_dimension]), size))
        return (*_broadcast(batches), *_broadcast(events))


def _broadcast(shapes: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    static, dynamic = shapes[0]
    for known, tensor in shapes[1:]:
        static = tf.broadcast_static_shape(static, known)
        dynamic = tf.broadcast_dynamic_shape(dynamic, tensor)
    return static, dynamic


def _points(grid: Any) -> int:
    count = dimension_value(grid.shape.with_rank_at_least(1)[-1])
    if count is None:
        raise ValueError("Num quadrature grid points must be known prior to graph execution.")
    return int(count)


def interpolate_loc(grid: Any, loc: Sequence[Any]) -> list[Any]:
    """The mixture of two vectors at each point of a quadrature."""
    _check_two(len(loc))
    count = _points(grid)
    with tf.name_scope("interpolate_loc", values=[grid, *loc]):
        if all(each is None for each in loc):
            return [None] * count
        weights = grid[..., tf.newaxis, :, :]
        parts = [
            weights[..., k, :] * each[..., tf.newaxis]
            for k, each in enumerate(loc)
            if each is not None
        ]
        mixed = sum(parts[1:], parts[0])
        return [mixed[..., k] for k in range(count)]


def interpolate_scale(grid: Any, scale: Sequence[Any]) -> list[Any]:
    """The mixture of two operators at each point of a quadrature."""
    _check_two(len(scale))
    with tf.name_scope("interpolate_scale", values=[grid]):
        return [
            add_operators([linop_scale(grid[..., k, q], each) for k, each in enumerate(scale)])[0]
            for q in range(_points(grid))
        ]


def linop_scale(w: Any, op: Any) -> Any:
    """An operator times a number, of the same kind if it can be."""
    hints = {
        "is_non_singular": op.is_non_singular,
        "is_self_adjoint": op.is_self_adjoint,
        "is_positive_definite": op.is_positive_definite,
    }
    with tf.name_scope("linop_scale", values=[w]):
        if isinstance(op, linalg.LinearOperatorIdentity):
            rows = op.range_dimension_tensor()
            return linalg.LinearOperatorScaledIdentity(rows, multiplier=w, **hints)
        if isinstance(op, linalg.LinearOperatorScaledIdentity):
            rows = op.range_dimension_tensor()
            return linalg.LinearOperatorScaledIdentity(rows, multiplier=w * op.multiplier, **hints)
        if isinstance(op, linalg.LinearOperatorDiag):
            return linalg.LinearOperatorDiag(w[..., tf.newaxis] * op.diag_part(), **hints)
        if isinstance(op, linalg.LinearOperatorLowerTriangular):
            factor = w[..., tf.newaxis, tf.newaxis]
            return linalg.LinearOperatorLowerTriangular(factor * op.to_dense(), **hints)
        raise NotImplementedError(f"Unsupported Linop type ({type(op).__name__})")
