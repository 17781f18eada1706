"""Distributions and bijectors whose methods take further arguments: what they depend on."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.bijector import Bijector, _has
from penstock.distributions.distribution import Distribution
from penstock.distributions.transformed import TransformedDistribution

__all__ = ["ConditionalBijector", "ConditionalDistribution", "ConditionalTransformedDistribution"]


class ConditionalDistribution(Distribution):
    """A distribution that hands named arguments on to the methods of a subclass."""

    def sample(
        self, sample_shape: Any = (), seed: Any = None, name: str = "sample", **kwargs: Any
    ) -> Any:
        """Draws of shape `sample_shape + batch_shape + event_shape`."""
        return self._call_sample_n(sample_shape, seed, name, **kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **kwargs: Any) -> Any:
        """The logarithm of the density."""
        return self._call_log_prob(value, name, **kwargs)

    def prob(self, value: Any, name: str = "prob", **kwargs: Any) -> Any:
        """The density."""
        return self._call_prob(value, name, **kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **kwargs: Any) -> Any:
        """The logarithm of the probability of at most `value`."""
        return self._call_log_cdf(value, name, **kwargs)

    def cdf(self, value: Any, name: str = "cdf", **kwargs: Any) -> Any:
        """The probability of at most `value`."""
        return self._call_cdf(value, name, **kwargs)

    def log_survival_function(
        self, value: Any, name: str = "log_survival_function", **kwargs: Any
    ) -> Any:
        """The logarithm of the probability of more than `value`."""
        return self._call_log_survival_function(value, name, **kwargs)

    def survival_function(self, value: Any, name: str = "survival_function", **kwargs: Any) -> Any:
        """The probability of more than `value`."""
        return self._call_survival_function(value, name, **kwargs)


class ConditionalBijector(Bijector):
    """A bijector that hands named arguments on; its results are not kept for later."""

    def forward(self, x: Any, name: str = "forward", **kwargs: Any) -> Any:
        """The result for an argument."""
        with self._name_scope(name, [x]):
            given = self._argument(x, "x")
            return self._forward(given, **kwargs) if kwargs else super().forward(given)

    def inverse(self, y: Any, name: str = "inverse", **kwargs: Any) -> Any:
        """The argument for a result."""
        with self._name_scope(name, [y]):
            given = self._argument(y, "y")
            return self._inverse(given, **kwargs) if kwargs else super().inverse(given)

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **kwargs: Any
    ) -> Any:
        """The logarithm of the determinant at an argument, summed over an event's dimensions."""
        if not kwargs:
            return super().forward_log_det_jacobian(x, event_ndims, name)
        with self._name_scope(name, [x]):
            given, least = self._argument(x, "x"), self.forward_min_event_ndims
            with self._checking_ndims(event_ndims, least):
                if _has(self, "_forward_log_det_jacobian"):
                    value = self._forward_log_det_jacobian(given, **kwargs)
                else:
                    given = self._forward(given, **kwargs)
                    value = -self._inverse_log_det_jacobian(given, **kwargs)
                return self._over_event(given, value, least, event_ndims)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **kwargs: Any
    ) -> Any:
        """The logarithm of the inverse's determinant at a result."""
        if not kwargs:
            return super().inverse_log_det_jacobian(y, event_ndims, name)
        with self._name_scope(name, [y]):
            given, least = self._argument(y, "y"), self.inverse_min_event_ndims
            with self._checking_ndims(event_ndims, least):
                if _has(self, "_inverse_log_det_jacobian"):
                    value = self._inverse_log_det_jacobian(given, **kwargs)
                else:
                    given = self._inverse(given, **kwargs)
                    value = -self._forward_log_det_jacobian(given, **kwargs)
                return self._over_event(given, value, least, event_ndims)


Arguments = dict[str, Any] | None


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution; its methods take `bijector_kwargs` and `distribution_kwargs`."""

    def _sample_n(
        self,
        n: Any,
        seed: Any = None,
        bijector_kwargs: Arguments = None,
        distribution_kwargs: Arguments = None,
    ) -> Any:
        none = tf.constant([], tf.int32)
        parts = [none if part is None else part for part in (self._own_batch, self._own_event)]
        shape = tf.concat([[n], *parts], 0)
        drawn = self.distribution.sample(shape, seed=seed, **(distribution_kwargs or {}))
        return self.bijector.forward(drawn, **(bijector_kwargs or {}))

    def _inverted(self, y: Any, kwargs: Arguments) -> list[tuple[Any, Any]]:
        """The arguments that have a result, each with its log determinant."""
        given = kwargs or {}
        x = self.bijector.inverse(y, **given)
        log_det = self.bijector.inverse_log_det_jacobian(
            y, event_ndims=self._event_ndims(), **given
        )
        if self.bijector._is_injective:
            return [(x, log_det)]
        return list(zip(x, log_det, strict=True))

    def _log_prob(
        self, y: Any, bijector_kwargs: Arguments = None, distribution_kwargs: Arguments = None
    ) -> Any:
        found = []
        for x, log_det in self._inverted(y, bijector_kwargs):
            value = self.distribution.log_prob(x, **(distribution_kwargs or {}))
            if self._own_event is not None:
                value = tf.reduce_sum(value, self._own_event_axes())
            found.append(tf.cast(log_det, value.dtype) + value)
        return found[0] if len(found) == 1 else tf.reduce_logsumexp(tf.stack(found), axis=0)

    def _prob(
        self, y: Any, bijector_kwargs: Arguments = None, distribution_kwargs: Arguments = None
    ) -> Any:
        found = []
        for x, log_det in self._inverted(y, bijector_kwargs):
            value = self.distribution.prob(x, **(distribution_kwargs or {}))
            if self._own_event is not None:
                value = tf.reduce_prod(value, self._own_event_axes())
            found.append(tf.exp(tf.cast(log_det, value.dtype)) * value)
        return sum(found[1:], found[0])

    def _of_argument(
        self, method: str, y: Any, bijector_kwargs: Arguments, distribution_kwargs: Arguments
    ) -> Any:
        self._monotone(method)
        if not self.bijector._is_injective:
            raise NotImplementedError(
                f"{method} is not implemented when bijector is not injective."
            )
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, method)(x, **(distribution_kwargs or {}))

    def _log_cdf(
        self, y: Any, bijector_kwargs: Arguments = None, distribution_kwargs: Arguments = None
    ) -> Any:
        return self._of_argument("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(
        self, y: Any, bijector_kwargs: Arguments = None, distribution_kwargs: Arguments = None
    ) -> Any:
        return self._of_argument("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(
        self, y: Any, bijector_kwargs: Arguments = None, distribution_kwargs: Arguments = None
    ) -> Any:
        return self._of_argument("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(
        self, y: Any, bijector_kwargs: Arguments = None, distribution_kwargs: Arguments = None
    ) -> Any:
        return self._of_argument("survival_function", y, bijector_kwargs, distribution_kwargs)
