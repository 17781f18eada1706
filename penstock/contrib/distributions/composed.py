"""Distributions made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.distributions.kullback_leibler import RegisterKL, kl_divergence
from penstock.shapes import dimension_value

__all__ = ["Independent", "Mixture"]


class Independent(Distribution):
    """The last dimensions of a batch taken as components of one draw.

    Args:
      distribution: The batch of distributions.
      reinterpreted_batch_ndims: How many dimensions; all but the first if None.
    """

    def __init__(
        self,
        distribution: Any,
        reinterpreted_batch_ndims: int | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        self._distribution = distribution
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = max(0, distribution.batch_shape.ndims - 1)
        self._ndims = reinterpreted_batch_ndims
        batch_ndims = distribution.batch_shape.ndims
        if batch_ndims is not None and self._ndims > batch_ndims:
            raise ValueError(
                f"reinterpreted_batch_ndims({self._ndims}) cannot exceed "
                f"distribution.batch_ndims({batch_ndims})"
            )
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            graph_parents=distribution._graph_parents,
            name=name or f"Independent{distribution.name.rstrip('/').rsplit('/', 1)[-1]}",
        )

    @property
    def distribution(self) -> Any:
        """The batch of distributions."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """How many dimensions of the batch are those of a draw."""
        return self._ndims

    def _batch_shape(self) -> Any:
        shape = self._distribution.batch_shape
        return shape if shape.ndims is None else shape[: shape.ndims - self._ndims]

    def _event_shape(self) -> Any:
        shape = self._distribution.batch_shape
        if shape.ndims is None:
            return shape
        return shape[shape.ndims - self._ndims :].concatenate(self._distribution.event_shape)

    def _batch_shape_tensor(self) -> Any:
        shape = self._distribution.batch_shape_tensor()
        return shape[: tf.size(shape) - self._ndims]

    def _event_shape_tensor(self) -> Any:
        shape = self._distribution.batch_shape_tensor()
        own = shape[tf.size(shape) - self._ndims :]
        return tf.concat([own, self._distribution.event_shape_tensor()], 0)

    def _summed(self, value: Any) -> Any:
        return tf.reduce_sum(value, axis=list(range(-self._ndims, 0))) if self._ndims else value

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self._distribution.sample(sample_shape=n, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        return self._summed(self._distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._summed(self._distribution.entropy())

    def _mean(self) -> Any:
        return self._distribution.mean()

    def _variance(self) -> Any:
        return self._distribution.variance()

    def _stddev(self) -> Any:
        return self._distribution.stddev()

    def _mode(self) -> Any:
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_independent(a: Independent, b: Independent, name: str | None = None) -> Any:
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise ValueError("Event shapes do not match.")
    return a._summed(kl_divergence(a.distribution, b.distribution, name=name))


class Mixture(Distribution):
    """A draw of one of several distributions, chosen by a Categorical of the same batch.

    Args:
      cat: The Categorical.
      components: The distributions, as many as it has classes.
    """

    def __init__(
        self,
        cat: Any,
        components: Sequence[Any],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ):
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        for each in components:
            if not isinstance(each, Distribution):
                raise TypeError(f"all components must be Distribution instances, but saw: {each}")
            if each.dtype != components[0].dtype:
                raise TypeError("All components must have the same dtype")
        classes = dimension_value(cat.logits.shape[-1])
        if classes is not None and classes != len(components):
            raise ValueError(f"cat.num_classes != len(components): {classes} vs. {len(components)}")
        self._cat = cat
        self._components = list(components)
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[cat.logits, *(p for each in components for p in each._graph_parents)],
            name=name,
        )

    @property
    def cat(self) -> Any:
        """What chooses."""
        return self._cat

    @property
    def components(self) -> list[Any]:
        """What is chosen from."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many there are."""
        return len(self._components)

    def _batch_shape(self) -> Any:
        return self._cat.batch_shape

    def _event_shape(self) -> Any:
        return self._components[0].event_shape

    def _batch_shape_tensor(self) -> Any:
        return self._cat.batch_shape_tensor()

    def _event_shape_tensor(self) -> Any:
        return self._components[0].event_shape_tensor()

    def _weighted(self, values: Sequence[Any]) -> Any:
        """The sum of a statistic of the components by their probabilities."""
        probs = tf.unstack(self._cat.probs, num=self.num_components, axis=-1)
        ones = tf.ones([self.event_shape.ndims], dtype=tf.int32)
        shape = tf.concat([tf.shape(probs[0]), ones], 0)
        pairs = zip(probs, values, strict=True)
        return tf.add_n([tf.reshape(p, shape) * value for p, value in pairs])

    def _mean(self) -> Any:
        return self._weighted([each.mean() for each in self._components])

    def _variance(self) -> Any:
        means = [each.mean() for each in self._components]
        squares = [
            each.variance() + tf.square(mean)
            for each, mean in zip(self._components, means, strict=True)
        ]
        return self._weighted(squares) - tf.square(self._weighted(means))

    def _log_prob(self, x: Any) -> Any:
        logs = tf.stack([each.log_prob(x) for each in self._components], axis=-1)
        return tf.reduce_logsumexp(logs + tf.nn.log_softmax(self._cat.logits), axis=-1)

    def _cdf(self, x: Any) -> Any:
        each = tf.stack([component.cdf(x) for component in self._components], axis=-1)
        return tf.reduce_sum(each * self._cat.probs, axis=-1)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        chosen = self._cat.sample(n, seed=seed)
        mask = tf.one_hot(chosen, self.num_components, dtype=self.dtype)
        total: Any = 0
        for i, component in enumerate(self._components):
            drawn = component.sample(n, seed=None if seed is None else seed + i + 1)
            ones = tf.ones([self.event_shape.ndims], dtype=tf.int32)
            weight = tf.reshape(mask[..., i], tf.concat([tf.shape(chosen), ones], 0))
            total = total + weight * drawn
        return total

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """The mean entropy of the components: a mixture has at least as much."""
        with self._name_scope(name):
            entropies = [component.entropy() for component in self._components]
            probs = tf.unstack(self._cat.probs, num=self.num_components, axis=-1)
            return tf.add_n([p * e for p, e in zip(probs, entropies, strict=True)])
