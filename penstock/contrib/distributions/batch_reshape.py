"""A distribution whose batch has another shape of the same size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.distribution import Distribution
from penstock.ops.tensor_values import constant_value_as_shape
from penstock.shapes import TensorShape

__all__ = ["BatchReshape"]


class BatchReshape(Distribution):
    """Another distribution with its batch reshaped.

    Args:
      batch_shape: the new shape; one of its dimensions may be -1.
    """

    def __init__(
        self,
        distribution: Any,
        batch_shape: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ):
        name = name or f"BatchReshape{distribution.name}"
        with tf.name_scope(name, values=[batch_shape]) as scope:
            given = tf.convert_to_tensor(batch_shape, dtype=tf.int32, name="batch_shape")
            validate_init_args_statically(distribution, given)
            expanded, static, checks = calculate_reshape(
                distribution.batch_shape_tensor(), given, validate_args
            )
        self._batch_shape_unexpanded = given
        self._distribution = distribution
        self._batch_shape_ = expanded
        self._batch_shape_static = static
        self._runtime_assertions = checks
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            graph_parents=[given, *distribution._graph_parents],
            name=scope,
        )

    @property
    def distribution(self) -> Any:
        """The distribution with its own batch."""
        return self._distribution

    def _batch_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._runtime_assertions):
            return tf.identity(self._batch_shape_)

    def _batch_shape(self) -> Any:
        return self._batch_shape_static

    def _event_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._runtime_assertions):
            return tf.identity(self.distribution.event_shape_tensor())

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._runtime_assertions):
            drawn = self.distribution.sample(sample_shape=n, seed=seed)
            parts = [[n], self._batch_shape_unexpanded, self.event_shape_tensor()]
            return tf.reshape(drawn, tf.concat(parts, axis=0))

    def _log_prob(self, x: Any) -> Any:
        return self._of_value_in_old_shape(self.distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of_value_in_old_shape(self.distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of_value_in_old_shape(self.distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of_value_in_old_shape(self.distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of_value_in_old_shape(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of_value_in_old_shape(self.distribution.survival_function, x)

    def _entropy(self) -> Any:
        return self._in_new_shape(self.distribution.entropy, 0)

    def _mean(self) -> Any:
        return self._in_new_shape(self.distribution.mean, 1)

    def _mode(self) -> Any:
        return self._in_new_shape(self.distribution.mode, 1)

    def _stddev(self) -> Any:
        return self._in_new_shape(self.distribution.stddev, 1)

    def _variance(self) -> Any:
        return self._in_new_shape(self.distribution.variance, 1)

    def _covariance(self) -> Any:
        return self._in_new_shape(self.distribution.covariance, 2)

    # Between the shapes ---------------------------------------------------------------------------

    def _in_new_shape(self, statistic: Callable[[], Any], events: int) -> Any:
        """A statistic whose dimensions after the batch are those of `events` events."""
        with tf.control_dependencies(self._runtime_assertions):
            parts = [self._batch_shape_unexpanded, *[self.event_shape_tensor()] * events]
            result = tf.reshape(statistic(), tf.concat(parts, axis=0))
            if self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                known = self.batch_shape
                for _ in range(events):
                    known = known.concatenate(self.event_shape)
                result.set_shape(known)
            return result

    def _of_value_in_old_shape(self, function: Callable[[Any], Any], x: Any) -> Any:
        checks = self._runtime_assertions + self._validate_sample_arg(x)
        with tf.control_dependencies(checks):
            sample, known = self._sample_shape(x)
            old = [sample, self.distribution.batch_shape_tensor(), self.event_shape_tensor()]
            result = function(tf.reshape(x, tf.concat(old, axis=0)))
            new = [sample, self._batch_shape_unexpanded]
            result = tf.reshape(result, tf.concat(new, axis=0))
            if known.ndims is not None and self.batch_shape.ndims is not None:
                result.set_shape(known.concatenate(self.batch_shape))
            return result

    def _inner_ndims(self) -> Any:
        """The number of dimensions of a batch of events."""
        batch: Any = self.batch_shape.ndims
        if batch is None:
            batch = tf.size(self._batch_shape_unexpanded)
        event: Any = self.event_shape.ndims
        if event is None:
            event = tf.size(self.event_shape_tensor())
        return batch + event

    def _sample_shape(self, x: Any) -> tuple[Any, TensorShape]:
        ndims = (tf.rank(x) if x.shape.ndims is None else x.shape.ndims) - self._inner_ndims()
        known = x.shape[:ndims] if isinstance(ndims, int) else TensorShape(None)
        if known.is_fully_defined():
            return np.array(known.as_list(), np.int32), known
        return tf.shape(x)[:ndims], known

    def _validate_sample_arg(self, x: Any) -> list[Any]:
        """Refuses values that would have to be broadcast: here, or else in the step."""
        with tf.name_scope("validate_sample_arg", values=[x]):
            ndims = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
            expected_ndims = self._inner_ndims()
            checks = []
            if isinstance(ndims, int) and isinstance(expected_ndims, int):
                if ndims < expected_ndims:
                    raise NotImplementedError(
                        "Broadcasting is not supported; too few batch and event dims (expected at "
                        f"least {expected_ndims}, saw {ndims})."
                    )
            elif self.validate_args:
                checks.append(
                    tf.assert_greater_equal(
                        ndims,
                        expected_ndims,
                        message="Broadcasting is not supported; too few batch and event dims.",
                        name="assert_batch_and_event_ndims_large_enough",
                    )
                )
            return self._check_inner_shape(x, ndims - expected_ndims, checks)

    def _check_inner_shape(self, x: Any, sample_ndims: Any, checks: list[Any]) -> list[Any]:
        whole = self.batch_shape.concatenate(self.event_shape)
        known = x.shape[sample_ndims:] if isinstance(sample_ndims, int) else TensorShape(None)
        if whole.is_fully_defined() and known.is_fully_defined():
            if whole.as_list() != known.as_list():
                expected, seen = (np.array(each.as_list(), np.int32) for each in (whole, known))
                raise NotImplementedError(
                    "Broadcasting is not supported; unexpected batch and event shape (expected "
                    f"{expected}, saw {seen})."
                )
            return checks
        if not self.validate_args:
            return []
        inner = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
        with tf.control_dependencies(checks):
            return [
                tf.assert_equal(
                    inner,
                    tf.shape(x)[tf.maximum(sample_ndims, 0) :],
                    message="Broadcasting is not supported; unexpected batch and event shape.",
                    name="assert_batch_and_event_shape_same",
                )
            ]


def calculate_reshape(
    original_shape: Any, new_shape: Any, validate: bool = False, name: str | None = None
) -> tuple[Any, TensorShape, list[Any]]:
    """A shape without -1: as a tensor, as far as it is known, and what to check in the step."""
    static = constant_value_as_shape(new_shape)
    if static.is_fully_defined():
        return np.array(static.as_list(), np.int32), static, []
    with tf.name_scope(name, "calculate_reshape", [original_shape, new_shape]):
        size = tf.reduce_prod(original_shape)
        is_implicit = tf.equal(new_shape, -1)
        rest = size // tf.maximum(1, -tf.reduce_prod(new_shape))
        expanded = tf.where(is_implicit, tf.fill(tf.shape(new_shape), rest), new_shape)
        if not validate:
            return expanded, static, []
        unknown = tf.count_nonzero(is_implicit, dtype=tf.int32)
        checks = [
            tf.assert_rank(original_shape, 1, message="Original shape must be a vector."),
            tf.assert_rank(new_shape, 1, message="New shape must be a vector."),
            tf.assert_less_equal(unknown, 1, message="At most one dimension can be unknown."),
            tf.assert_positive(expanded, message="Shape elements must be >=-1."),
            tf.assert_equal(tf.reduce_prod(expanded), size, message="Shape sizes do not match."),
        ]
        return expanded, static, checks


def validate_init_args_statically(distribution: Any, batch_shape: Any) -> None:
    """Refuses a shape that is known not to fit."""
    ndims = batch_shape.shape.ndims
    if ndims not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {ndims}).")
    static = constant_value_as_shape(batch_shape)
    size, old_size = static.num_elements(), distribution.batch_shape.num_elements()
    if None not in (size, old_size) and size != old_size:
        raise ValueError(
            f"`batch_shape` size ({size}) must match `distribution.batch_shape` size ({old_size})."
        )
    if static.ndims is not None and any(each is not None and each < 1 for each in static.as_list()):
        raise ValueError("`batch_shape` elements must be >=-1.")
