"""Distributions that are mixtures over the points of a quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.distributions.bijectors import SoftmaxCentered
from penstock.contrib.distributions.scalars import Poisson
from penstock.contrib.distributions.scales import batch_ndims, static_value
from penstock.distributions.argument_checks import gen_new_seed
from penstock.distributions.categorical import Categorical
from penstock.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.distributions.normal import Normal
from penstock.distributions.static_shapes import pad, pick_vector
from penstock.shapes import TensorShape, dimension_value

__all__ = [
    "PoissonLogNormalQuadratureCompound",
    "quadrature_scheme_lognormal_gauss_hermite",
    "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite",
    "quadrature_scheme_softmaxnormal_quantiles",
]


def _hermite(dtype: Any, quadrature_size: int) -> tuple[Any, Any]:
    """Points and weights for integrals over a normal density."""
    grid, weights = np.polynomial.hermite.hermgauss(deg=quadrature_size)
    probs = weights.astype(dtype.as_numpy_dtype)
    probs /= np.linalg.norm(probs, ord=1, keepdims=True)
    points = np.sqrt(2.0) * grid
    return points.astype(dtype.as_numpy_dtype), tf.convert_to_tensor(
        probs, name="probs", dtype=dtype
    )


def _edges(batch_ndims: Any, quadrature_size: int, dtype: Any) -> Any:
    """Probabilities of equal distance, before the dimensions of a batch."""
    inner = tf.linspace(tf.zeros([], dtype=dtype), 1.0, quadrature_size + 3)[1:-1]
    ones = tf.ones([batch_ndims], dtype=tf.int32)
    return tf.reshape(inner, tf.concat([[-1], ones], axis=0))


def _first_last(x: Any, ndims: Any) -> Any:
    """The first dimension put last."""
    return tf.transpose(x, tf.concat([tf.range(1, 1 + ndims), [0]], axis=0))


def _equal_probs(quadrature_size: int, dtype: Any) -> Any:
    return tf.fill([quadrature_size], 1.0 / tf.cast(quadrature_size, dtype))


def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Points (logarithms) and probabilities for a log-normal, by Gauss and Hermite."""
    del validate_args
    with tf.name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        points, probs = _hermite(loc.dtype.base_dtype, quadrature_size)
        return loc[..., tf.newaxis] + scale[..., tf.newaxis] * points, probs


def quadrature_scheme_lognormal_quantiles(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Points between quantiles of a log-normal, of equal probabilities."""
    with tf.name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        normal = Normal(loc=loc, scale=scale, validate_args=validate_args)
        ndims = batch_ndims(normal)
        edges = _edges(ndims, quadrature_size, normal.dtype)
        quantiles = _first_last(tf.exp(normal.quantile(edges)), ndims)
        grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
        grid.set_shape(normal.batch_shape.concatenate([quadrature_size]))
        return grid, _equal_probs(quadrature_size, normal.dtype)


def maybe_check_quadrature_param(param: Any, name: str, validate_args: bool) -> Any:
    """A parameter of a mixture of two: (a batch of) vectors of one number."""
    with tf.name_scope(f"check_{name}", values=[param]):
        ndims = param.shape.ndims
        if ndims == 0:
            raise ValueError(
                f"Mixing params must be a (batch of) vector; {name}.rank={ndims} is not at least "
                "one."
            )
        size = None if ndims is None else dimension_value(param.shape[-1])
        if size not in (None, 1):
            raise NotImplementedError(
                f"Currently only bimixtures are supported; {name}.shape[-1]={size} is not 1."
            )
        if not validate_args or size == 1:
            return param
        message = f"Currently only bimixtures are supported; {name}.shape[-1] is not 1."
        with tf.control_dependencies([tf.assert_equal(tf.shape(param)[-1], 1, message=message)]):
            return tf.identity(param)


def _mixing_params(normal_loc: Any, normal_scale: Any, validate_args: bool) -> tuple[Any, Any]:
    loc = tf.convert_to_tensor(normal_loc, name="normal_loc")
    scale = tf.convert_to_tensor(normal_scale, dtype=loc.dtype.base_dtype, name="normal_scale")
    return loc, maybe_check_quadrature_param(scale, "normal_scale", validate_args)


def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: Any,
    normal_scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Points on a simplex and probabilities, for the softmax of a normal, by Gauss and Hermite."""
    scope = "quadrature_scheme_softmaxnormal_gauss_hermite"
    with tf.name_scope(name, scope, [normal_loc, normal_scale]):
        loc, scale = _mixing_params(normal_loc, normal_scale, validate_args)
        points, probs = _hermite(loc.dtype.base_dtype, quadrature_size)
        logits = loc[..., tf.newaxis] + scale[..., tf.newaxis] * points
        return tf.nn.softmax(-pad(logits, axis=-2, front=True), axis=-2), probs


def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: Any,
    normal_scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Points on a simplex between quantiles of the softmax of a normal."""
    with tf.name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc, scale = _mixing_params(normal_loc, normal_scale, validate_args)
        normal = Normal(loc=loc, scale=scale)
        ndims = batch_ndims(normal)
        edges = _edges(ndims, quadrature_size, normal.dtype)
        quantiles = _first_last(SoftmaxCentered().forward(normal.quantile(edges)), ndims)
        grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
        batch = normal.batch_shape.with_rank_at_least(1)
        count = dimension_value(batch[-1])
        parts = TensorShape([None if count is None else count + 1, quadrature_size])
        grid.set_shape(batch[:-1].concatenate(parts))
        return grid, _equal_probs(quadrature_size, normal.dtype)


def concat_vectors(*args: Any) -> Any:
    """Vectors one after the other: a list if all are known, else a tensor."""
    known = [static_value(each) for each in args]
    if any(each is None for each in known):
        return tf.concat(args, axis=0)
    return [value for each in known for value in each]


class PoissonLogNormalQuadratureCompound(Distribution):
    """A Poisson whose rate is log-normal, as a mixture over the points of a quadrature.

    Args:
      loc, scale: of the normal distribution of the rate's logarithm.
      quadrature_fn: gives logarithms of rates and their probabilities, from `loc`, `scale`, the
        number of points and `validate_args`.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ):
        with tf.name_scope(name, values=[loc, scale]) as scope:
            if loc is not None:
                loc = tf.convert_to_tensor(loc, name="loc")
            if scale is not None:
                dtype = None if loc is None else loc.dtype
                scale = tf.convert_to_tensor(scale, dtype=dtype, name="scale")
            grid, probs = quadrature_fn(loc, scale, quadrature_size, validate_args)
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs "
                    f"dtype ({probs.dtype.name})."
                )
            settings: dict[str, Any] = {
                "validate_args": validate_args,
                "allow_nan_stats": allow_nan_stats,
            }
            self._distribution = Poisson(log_rate=grid, **settings)
            self._mixture_distribution = Categorical(logits=tf.log(probs), **settings)
        self._loc = loc
        self._scale = scale
        self._quadrature_size = quadrature_size
        super().__init__(
            dtype=grid.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[loc, scale],
            name=scope,
        )

    @property
    def mixture_distribution(self) -> Any:
        """What chooses a point of the quadrature."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Any:
        """The Poisson of each point."""
        return self._distribution

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    @property
    def quadrature_size(self) -> int:
        return self._quadrature_size

    def _batch_shape_tensor(self) -> Any:
        logits = self.mixture_distribution.logits
        whole = tf.broadcast_dynamic_shape(self.distribution.batch_shape_tensor(), tf.shape(logits))
        return whole[:-1]

    def _batch_shape(self) -> Any:
        logits = self.mixture_distribution.logits
        return tf.broadcast_static_shape(self.distribution.batch_shape, logits.shape)[:-1]

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        known = self.batch_shape.num_elements()
        size = tf.reduce_prod(self.batch_shape_tensor()) if known is None else known
        none = np.array([], np.int32)
        outer = pick_vector(self.mixture_distribution.is_scalar_batch(), [size], none)
        chosen = self.mixture_distribution.sample(
            sample_shape=concat_vectors([n], outer),
            seed=gen_new_seed(seed, "poisson_lognormal_quadrature_compound"),
        )
        flat = pick_vector(self.is_scalar_batch(), none, np.array([-1], np.int32))
        chosen = tf.reshape(chosen, concat_vectors([n], flat))
        # Each member of the batch has its own points.
        count = self._quadrature_size
        chosen += tf.range(start=0, limit=size * count, delta=count, dtype=chosen.dtype)
        rates = tf.gather(tf.reshape(self.distribution.rate, [-1]), chosen)
        rates = tf.reshape(rates, concat_vectors([n], self.batch_shape_tensor()))
        return tf.random_poisson(lam=rates, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        each = self.distribution.log_prob(x[..., tf.newaxis])
        return tf.reduce_logsumexp(self.mixture_distribution.logits + each, axis=-1)

    def _mean(self) -> Any:
        weighted = self.mixture_distribution.logits + self.distribution.log_rate
        return tf.exp(tf.reduce_logsumexp(weighted, axis=-1))

    def _variance(self) -> Any:
        return tf.exp(self._log_variance())

    def _stddev(self) -> Any:
        return tf.exp(0.5 * self._log_variance())

    def _log_variance(self) -> Any:
        """The mean of variances and the variance of means, in logarithms."""
        distance = tf.abs(self.distribution.mean() - self._mean()[..., tf.newaxis])
        both = tf.stack([self.distribution.log_rate, 2.0 * tf.log(distance)], axis=-1)
        weights = self.mixture_distribution.logits[..., tf.newaxis]
        return tf.reduce_logsumexp(weights + both, axis=[-2, -1])
