"""Distributions of what others give: chosen among a batch, rounded, or step by step."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.shapes import dimension_value

__all__ = ["Autoregressive", "MixtureSameFamily", "QuantizedDistribution"]


class MixtureSameFamily(Distribution):
    """A draw of one of the distributions along the last dimension of a batch.

    Args:
      mixture_distribution: the Categorical that chooses.
      components_distribution: the batch; its last dimension has as many as there are classes.
    """

    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ):
        self._mixture_distribution = mixture_distribution
        self._components_distribution = components_distribution
        with tf.name_scope(name) as scope:
            self._checks = self._checked_shapes(validate_args)
            known = dimension_value(mixture_distribution.logits.shape.with_rank_at_least(1)[-1])
            self._count = tf.shape(mixture_distribution.logits)[-1] if known is None else known
            event = components_distribution.event_shape
            self._event_ndims: Any = event.ndims
            if event.ndims is None:
                self._event_ndims = tf.size(components_distribution.event_shape_tensor())
        super().__init__(
            dtype=components_distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[
                *mixture_distribution._graph_parents,
                *components_distribution._graph_parents,
            ],
            name=scope,
        )

    def _checked_shapes(self, validate_args: bool) -> list[Any]:
        """Refuses shapes that don't fit; checks for the step where they are not known."""
        mixture, components = self._mixture_distribution, self._components_distribution
        if not mixture.dtype.is_integer:
            raise ValueError(
                f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers"
            )
        if mixture.event_shape.ndims not in (None, 0):
            raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
        checks = []
        outer = components.batch_shape.with_rank_at_least(1)[:-1]
        own = mixture.batch_shape
        if own.is_fully_defined() and outer.is_fully_defined():
            if own.ndims != 0 and own != outer:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` (`{own.as_list()}`) is not compatible "
                    f"with `components_distribution.batch_shape` (`{outer.as_list()}`)"
                )
        elif validate_args:
            checks.append(_compatible_batches(mixture, components))
        classes = dimension_value(mixture.logits.shape.with_rank_at_least(1)[-1])
        count = dimension_value(components.batch_shape.with_rank_at_least(1)[-1])
        if classes is not None and count is not None and classes != count:
            raise ValueError(
                f"`mixture_distribution components` ({classes}) does not equal "
                f"`components_distribution.batch_shape[-1]` ({count})"
            )
        if validate_args and (classes is None or count is None):
            checks.append(
                tf.assert_equal(
                    tf.shape(mixture.logits)[-1],
                    components.batch_shape_tensor()[-1],
                    message="`mixture_distribution components` does not equal "
                    "`components_distribution.batch_shape[-1:]`",
                )
            )
        return checks

    @property
    def mixture_distribution(self) -> Any:
        """What chooses."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Any:
        """What is chosen from."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._checks):
            return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._checks):
            return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.components_distribution.event_shape

    def _for_events(self, weights: Any, more: int = 0) -> Any:
        """Weights [..., k] with a dimension of one for each of an event."""
        ones = tf.ones(tf.reshape(self._event_ndims + more, [1]), tf.int32)
        return tf.reshape(weights, tf.concat([tf.shape(weights), ones], 0))

    def _for_components(self, x: Any) -> Any:
        """Events with a dimension of one before them: that of components."""
        place = tf.rank(x) - self._event_ndims
        if x.shape.ndims is not None and isinstance(self._event_ndims, int):
            place = x.shape.ndims - self._event_ndims
        return tf.expand_dims(x, place)

    def _weighted(self, value: Any) -> Any:
        probs = self._for_events(self.mixture_distribution.probs)
        return tf.reduce_sum(probs * value, axis=-1 - self._event_ndims)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._checks):
            drawn = self.components_distribution.sample(n, seed=seed)
            chosen = self.mixture_distribution.sample(n, seed=None if seed is None else seed + 1)
            mask = tf.one_hot(chosen, self._count, dtype=drawn.dtype)
            if self.mixture_distribution.batch_shape.ndims == 0:
                mask = self._for_batch(mask)
            return tf.reduce_sum(drawn * self._for_events(mask), axis=-1 - self._event_ndims)

    def _for_batch(self, mask: Any) -> Any:
        """A mask [n, k] of a single chooser, for each of a batch."""
        outer = self.components_distribution.batch_shape_tensor()[:-1]
        sizes = tf.shape(mask)
        shape = tf.concat([sizes[:1], tf.ones_like(outer), sizes[1:]], 0)
        return tf.reshape(mask, shape)

    def _log_prob(self, x: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return self._mixed(self.components_distribution.log_prob(self._for_components(x)))

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed(self.components_distribution.log_cdf(self._for_components(x)))

    def _mixed(self, logs: Any) -> Any:
        weights = tf.nn.log_softmax(self.mixture_distribution.logits, axis=-1)
        return tf.reduce_logsumexp(logs + weights, axis=-1)

    def _mean(self) -> Any:
        with tf.control_dependencies(self._checks):
            return self._weighted(self.components_distribution.mean())

    def _variance(self) -> Any:
        with tf.control_dependencies(self._checks):
            components = self.components_distribution
            distance = components.mean() - self._for_components(self._mean())
            return self._weighted(components.variance() + tf.square(distance))

    def _covariance(self) -> Any:
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        with tf.control_dependencies(self._checks):
            components = self.components_distribution
            distance = components.mean() - self._for_components(self._mean())
            outer = distance[..., tf.newaxis, :] * distance[..., tf.newaxis]
            probs = self._for_events(self.mixture_distribution.probs, more=1)
            return tf.reduce_sum(probs * (components.covariance() + outer), axis=-3)


def _compatible_batches(mixture: Any, components: Any) -> Any:
    outer = components.batch_shape_tensor()[:-1]
    own = mixture.batch_shape_tensor()
    wanted = tf.cond(tf.equal(tf.size(own), 0), lambda: outer, lambda: own)
    message = (
        "`mixture_distribution.batch_shape` is not compatible with "
        "`components_distribution.batch_shape`"
    )
    return tf.assert_equal(wanted, outer, message=message)


class QuantizedDistribution(Distribution):
    """The next integer above a draw, within bounds.

    Args:
      distribution: of numbers.
      low: what is below counts as this integer.
      high: what is above counts as this integer.
    """

    def __init__(
        self,
        distribution: Any,
        low: Any = None,
        high: Any = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ):
        self._dist = distribution
        self._validate_args = validate_args
        with tf.name_scope(name, values=[v for v in (low, high) if v is not None]) as scope:
            bounds = [
                None if bound is None else tf.convert_to_tensor(bound, name=key)
                for key, bound in (("low", low), ("high", high))
            ]
            for bound in bounds:
                if bound is not None and bound.dtype.base_dtype != distribution.dtype.base_dtype:
                    raise ValueError(
                        f"Tensor type mismatch: {bound.dtype} and {distribution.dtype}."
                    )
            checks = []
            if validate_args and bounds[0] is not None and bounds[1] is not None:
                message = "low must be strictly less than high."
                checks.append(tf.assert_less(bounds[0], bounds[1], message=message))
            with tf.control_dependencies(checks):
                self._low, self._high = (
                    None if bound is None else self._check_integer(bound) for bound in bounds
                )
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            graph_parents=[
                *distribution._graph_parents,
                *(bound for bound in (self._low, self._high) if bound is not None),
            ],
            name=scope,
        )

    @property
    def distribution(self) -> Any:
        """The distribution of what is rounded."""
        return self._dist

    @property
    def low(self) -> Any:
        """The least integer; None if there is none."""
        return self._low

    @property
    def high(self) -> Any:
        """The greatest integer; None if there is none."""
        return self._high

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _check_integer(self, value: Any) -> Any:
        with tf.name_scope("check_integer", values=[value]):
            value = tf.convert_to_tensor(value, name="value")
            if not self._validate_args:
                return value
            message = "value has non-integer components."
            whole = tf.assert_equal(value, tf.floor(value), message=message)
            with tf.control_dependencies([whole]):
                return tf.identity(value)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.name_scope("transform"):
            rounded = tf.ceil(self.distribution.sample(n, seed=seed))
            if self._low is not None:
                rounded = tf.maximum(rounded, self._low)
            return rounded if self._high is None else tf.minimum(rounded, self._high)

    def _within(self, j: Any, value: Any, below: float, above: float) -> Any:
        """A value at j, or those that it has where j is below or above the bounds."""
        j = j + tf.zeros_like(value)
        ones = tf.ones_like(value)
        if self._low is not None:
            value = tf.where(j < self._low, below * ones, value)
        if self._high is not None:
            value = tf.where(j >= self._high, above * ones, value)
        return value

    def _cdf(self, y: Any) -> Any:
        j = tf.floor(y)
        return self._within(j, self.distribution.cdf(j), 0.0, 1.0)

    def _log_cdf(self, y: Any) -> Any:
        j = tf.floor(y)
        return self._within(j, self.distribution.log_cdf(j), -np.inf, 0.0)

    def _survival_function(self, y: Any) -> Any:
        j = tf.ceil(y)
        return self._within(j, self.distribution.survival_function(j), 1.0, 0.0)

    def _log_survival_function(self, y: Any) -> Any:
        j = tf.ceil(y)
        return self._within(j, self.distribution.log_survival_function(j), 0.0, -np.inf)

    def _prob(self, y: Any) -> Any:
        """On the right of the median the survival function is the more precise one."""
        y = self._check_integer(y)
        cdf, before = self.cdf(y), self.cdf(y - 1)
        try:
            survival, earlier = self.survival_function(y), self.survival_function(y - 1)
        except NotImplementedError:
            return cdf - before
        return tf.where(survival < cdf, earlier - survival, cdf - before)

    def _log_prob(self, y: Any) -> Any:
        y = self._check_integer(y)
        cdf, before = self.log_cdf(y), self.log_cdf(y - 1)
        try:
            survival, earlier = self.log_survival_function(y), self.log_survival_function(y - 1)
        except NotImplementedError:
            return _log_difference(cdf, before)
        is_right = survival < cdf
        return _log_difference(
            tf.where(is_right, earlier, cdf), tf.where(is_right, survival, before)
        )


def _log_difference(big: Any, small: Any) -> Any:
    """The logarithm of the difference of two numbers, given theirs."""
    with tf.name_scope("logsum_expbig_minus_expsmall", values=[small, big]):
        return tf.log(1.0 - tf.exp(small - big)) + big


class Autoregressive(Distribution):
    """Draws whose entries depend on those before them.

    Args:
      distribution_fn: a function from draws to the distribution of their entries, each of which
        may depend on earlier entries alone.
      sample0: what it starts from; without, it is first called without an argument.
      num_steps: how often entries are drawn anew; as often as there are, if None.
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Any],
        sample0: Any = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ):
        with tf.name_scope(name) as scope:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
            if num_steps is None:
                raise ValueError(
                    "distribution_fn must generate a distribution with fully known `event_shape`."
                )
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        super().__init__(
            dtype=first.dtype,
            reparameterization_type=first.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=first._graph_parents,
            name=scope,
        )

    @property
    def distribution_fn(self) -> Callable[..., Any]:
        """The function from draws to distributions."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """What drawing starts from."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How often entries are drawn."""
        return self._num_steps

    @property
    def distribution0(self) -> Any:
        """The distribution that the first draws are of."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        """With one seed in all steps, entries that are right stay as they are."""
        if seed is None:
            seed = secrets.randbelow(2**31)
        samples = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            samples = self.distribution_fn(samples).sample(seed=seed)
        return samples

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)
