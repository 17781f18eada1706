"""Distributions of a function of a random variable."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distributions.distribution import Distribution
from penstock.ir.constants import constant_value
from penstock.ops.tensor_values import constant_value_as_shape
from penstock.shapes import TensorShape

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of `bijector.forward(x)` for draws x of another one.

    Args:
      distribution: the distribution of x.
      bijector: the function; identity if None.
      batch_shape: shape of the batch, instead of that of a scalar `distribution`.
      event_shape: shape of a draw, instead of that of a scalar `distribution`.
    """

    def __init__(
        self,
        distribution: Any,
        bijector: Any = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        from penstock.distributions.plain_bijectors import Identity

        bijector = Identity(validate_args=validate_args) if bijector is None else bijector
        name = name or f"{bijector.name}{distribution.name}"
        self._distribution = distribution
        self._bijector = bijector
        for shape, known in (
            (batch_shape, distribution.batch_shape),
            (event_shape, distribution.event_shape),
        ):
            if shape is not None and known.ndims not in (0, None):
                raise ValueError("base distribution not scalar")
        self._own_batch = None if batch_shape is None else _vector(batch_shape)
        self._own_event = None if event_shape is None else _vector(event_shape)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            graph_parents=[*distribution._graph_parents, *bijector.graph_parents],
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution of the function's argument."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The function."""
        return self._bijector

    # Shapes -----------------------------------------------------------------------------------

    def _event_shape_tensor(self) -> Any:
        own = self._own_event
        shape = self.distribution.event_shape_tensor() if own is None else own
        return self.bijector.forward_event_shape_tensor(shape)

    def _event_shape(self) -> Any:
        shape = _static(self._own_event, self.distribution.event_shape)
        return self.bijector.forward_event_shape(shape)

    def _batch_shape_tensor(self) -> Any:
        own = self._own_batch
        return self.distribution.batch_shape_tensor() if own is None else own

    def _batch_shape(self) -> Any:
        return _static(self._own_batch, self.distribution.batch_shape)

    # Samples and probabilities ----------------------------------------------------------------

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        none = tf.constant([], tf.int32)
        parts = [none if part is None else part for part in (self._own_batch, self._own_event)]
        drawn = self.distribution.sample(tf.concat([[n], *parts], 0), seed=seed)
        return self.bijector.forward(drawn)

    def _own_event_axes(self) -> Any:
        count = tf.size(self._own_event)
        known = constant_value(count)
        return tf.range(-count, 0) if known is None else list(range(-int(known), 0))

    def _event_ndims(self) -> Any:
        known = self.event_shape.ndims
        return tf.size(self.event_shape_tensor()) if known is None else known

    def _log_prob(self, y: Any) -> Any:
        x = self.bijector.inverse(y)
        log_prob = self.distribution.log_prob(x)
        if self._own_event is not None:
            log_prob = tf.reduce_sum(log_prob, self._own_event_axes())
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims())
        return tf.cast(log_det, log_prob.dtype) + log_prob

    def _prob(self, y: Any) -> Any:
        x = self.bijector.inverse(y)
        prob = self.distribution.prob(x)
        if self._own_event is not None:
            prob = tf.reduce_prod(prob, self._own_event_axes())
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims())
        return tf.exp(tf.cast(log_det, prob.dtype)) * prob

    def _monotone(self, what: str) -> None:
        if self._own_event is not None:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")

    def _log_cdf(self, y: Any) -> Any:
        self._monotone("log_cdf")
        return self.distribution.log_cdf(self.bijector.inverse(y))

    def _cdf(self, y: Any) -> Any:
        self._monotone("cdf")
        return self.distribution.cdf(self.bijector.inverse(y))

    def _log_survival_function(self, y: Any) -> Any:
        self._monotone("log_survival_function")
        return self.distribution.log_survival_function(self.bijector.inverse(y))

    def _survival_function(self, y: Any) -> Any:
        self._monotone("survival_function")
        return self.distribution.survival_function(self.bijector.inverse(y))

    def _quantile(self, value: Any) -> Any:
        self._monotone("quantile")
        return self.bijector.forward(self.distribution.quantile(value))

    # Statistics -------------------------------------------------------------------------------

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        entropy = self.distribution.entropy()
        if self._own_event is not None:
            entropy *= tf.cast(tf.reduce_prod(self._own_event), entropy.dtype)
        if self._own_batch is not None:
            entropy = tf.broadcast_to(entropy, self._own_batch)
        dummy = tf.zeros(
            tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype
        )
        log_det = self.bijector.inverse_log_det_jacobian(dummy, event_ndims=self._event_ndims())
        return entropy - tf.cast(log_det, entropy.dtype)


def _vector(shape: Any) -> Any:
    shape = tf.convert_to_tensor(shape, dtype=tf.int32)
    if shape.shape.ndims not in (1, None):
        raise ValueError("shape override must be a vector.")
    return shape


def _static(own: Any, otherwise: TensorShape) -> TensorShape:
    if own is None:
        return otherwise
    return constant_value_as_shape(own)
