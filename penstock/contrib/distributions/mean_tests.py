"""Tests of means from samples, by the Dvoretzky-Kiefer-Wolfowitz-Massart inequality.

The inequality bounds how far the cumulative distribution of samples is from the true one, for any
distribution; with bounds of the values that bounds the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf

__all__ = [
    "assert_true_mean_equal_by_dkwm",
    "assert_true_mean_equal_by_dkwm_two_sample",
    "assert_true_mean_in_interval_by_dkwm",
    "min_discrepancy_of_true_means_detectable_by_dkwm",
    "min_discrepancy_of_true_means_detectable_by_dkwm_two_sample",
    "min_num_samples_for_dkwm_mean_test",
    "min_num_samples_for_dkwm_mean_two_sample_test",
    "true_mean_confidence_interval_by_dkwm",
]


def _tensors(**values: Any) -> list[Any]:
    return [tf.convert_to_tensor(value, name=name) for name, value in values.items()]


def _batch_sort_vector(x: Any, ascending: bool = True, name: str | None = None) -> Any:
    """Vectors along the last dimension, sorted."""
    with tf.name_scope(name, "_batch_sort_vector", [x]):
        x = tf.convert_to_tensor(x, name="x")
        sign = -1 if ascending else 1
        largest, _ = tf.nn.top_k(sign * x, k=tf.shape(x)[-1], sorted=True)
        result = sign * largest
        result.set_shape(x.shape)
        return result


def _do_maximum_mean(samples: Any, envelope: Any, high: Any, name: str | None = None) -> Any:
    """The largest mean of a distribution within an envelope around that of samples."""
    with tf.name_scope(name, "do_maximum_mean", [samples, envelope, high]):
        order = tf.concat([tf.range(1, tf.rank(samples)), [0]], axis=0)
        ordered = _batch_sort_vector(tf.transpose(samples, order))
        dtype = ordered.dtype.base_dtype
        count = tf.cast(tf.shape(ordered)[-1], dtype)
        step = 1.0 / count
        steps = step * tf.range(1, count + 1, dtype=dtype)
        # The smallest samples give up the envelope's probability, which moves to `high`.
        weights = tf.clip_by_value(steps - envelope[..., tf.newaxis], 0.0, step)
        return tf.reduce_sum(ordered * weights, axis=-1) + envelope * high


def _maximum_mean(samples: Any, envelope: Any, high: Any, name: str | None = None) -> Any:
    with tf.name_scope(name, "maximum_mean", [samples, envelope, high]):
        samples, envelope, high = _tensors(samples=samples, envelope=envelope, high=high)
        message = "Given sample maximum value exceeds expectations"
        check = tf.assert_less_equal(tf.reduce_max(samples, axis=[0]), high, message=message)
        with tf.control_dependencies([check]):
            return tf.identity(_do_maximum_mean(samples, envelope, high))


def _minimum_mean(samples: Any, envelope: Any, low: Any, name: str | None = None) -> Any:
    with tf.name_scope(name, "minimum_mean", [samples, envelope, low]):
        samples, envelope, low = _tensors(samples=samples, envelope=envelope, low=low)
        message = "Given sample minimum value falls below expectations"
        check = tf.assert_greater_equal(tf.reduce_min(samples, axis=[0]), low, message=message)
        with tf.control_dependencies([check]):
            return -_do_maximum_mean(-samples, envelope, -low)


def _dkwm_cdf_envelope(n: Any, error_rate: Any, name: str | None = None) -> Any:
    """How far a cumulative distribution of n samples is from the true one at most."""
    with tf.name_scope(name, "dkwm_cdf_envelope", [n, error_rate]):
        return tf.sqrt(-tf.log(error_rate / 2.0) / (2.0 * tf.cast(n, error_rate.dtype)))


def _check_shape_dominates(samples: Any, parameters: Sequence[Any]) -> Any:
    """The samples; a step fails where parameters have more dimensions than a batch of them."""
    batch = tf.shape(samples)[1:]
    checks = []
    for each in parameters:
        broadcast = tf.broadcast_dynamic_shape(batch, tf.shape(each))
        checks += [
            tf.assert_greater_equal(tf.size(batch), tf.rank(each)),
            tf.assert_equal(batch, broadcast),
        ]
    with tf.control_dependencies(checks):
        return tf.identity(samples)


def _itemwise_error_rate(
    total_error_rate: Any,
    param_tensors: Sequence[Any],
    sample_tensor: Any = None,
    name: str | None = None,
) -> Any:
    """The rate of each of the tests of a batch, for a rate of all together."""
    with tf.name_scope(
        name, "itemwise_error_rate", [total_error_rate, param_tensors, sample_tensor]
    ):
        shapes = [tf.shape(each) for each in param_tensors]
        if sample_tensor is not None:
            shapes.append(tf.shape(sample_tensor)[1:])
        whole: Any = [1]
        for each in shapes:
            whole = tf.broadcast_dynamic_shape(each, whole)
        return total_error_rate / tf.cast(tf.reduce_prod(whole), total_error_rate.dtype)


def true_mean_confidence_interval_by_dkwm(
    samples: Any, low: Any, high: Any, error_rate: Any = 1e-6, name: str | None = None
) -> tuple[Any, Any]:
    """The interval that the true mean is in, but for an error rate.

    Args:
      samples: independent samples along the first dimension.
      low, high: bounds of the values.
    """
    with tf.name_scope(
        name, "true_mean_confidence_interval_by_dkwm", [samples, low, high, error_rate]
    ):
        samples, low, high, rate = _tensors(
            samples=samples, low=low, high=high, error_rate=error_rate
        )
        samples = _check_shape_dominates(samples, [low, high])
        tf.assert_scalar(rate)
        rate = _itemwise_error_rate(rate, [low, high], samples)
        envelope = _dkwm_cdf_envelope(tf.shape(samples)[0], rate)
        return _minimum_mean(samples, envelope, low), _maximum_mean(samples, envelope, high)


def assert_true_mean_equal_by_dkwm(
    samples: Any,
    low: Any,
    high: Any,
    expected: Any,
    false_fail_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """A check that fails where the true mean can't be the expected one."""
    given = [samples, low, high, expected, false_fail_rate]
    with tf.name_scope(name, "assert_true_mean_equal_by_dkwm", given):
        return assert_true_mean_in_interval_by_dkwm(
            samples, low, high, expected, expected, false_fail_rate
        )


def min_discrepancy_of_true_means_detectable_by_dkwm(
    n: Any,
    low: Any,
    high: Any,
    false_fail_rate: Any,
    false_pass_rate: Any,
    name: str | None = None,
) -> Any:
    """How far a mean has to be off to be found out by n samples."""
    given = [n, low, high, false_fail_rate, false_pass_rate]
    with tf.name_scope(name, "min_discrepancy_of_true_means_detectable_by_dkwm", given):
        n, low, high, fail, passing = _tensors(
            n=n,
            low=low,
            high=high,
            false_fail_rate=false_fail_rate,
            false_pass_rate=false_pass_rate,
        )
        sampling = _dkwm_cdf_envelope(n, passing)
        analysis = _dkwm_cdf_envelope(n, _itemwise_error_rate(fail, [n, low, high]))
        return (high - low) * (sampling + analysis)


def min_num_samples_for_dkwm_mean_test(
    discrepancy: Any,
    low: Any,
    high: Any,
    false_fail_rate: Any = 1e-6,
    false_pass_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """How many samples it takes to find out that a mean is off by `discrepancy`."""
    given = [low, high, false_fail_rate, false_pass_rate, discrepancy]
    with tf.name_scope(name, "min_num_samples_for_dkwm_mean_test", given):
        discrepancy, low, high, fail, passing = _tensors(
            discrepancy=discrepancy,
            low=low,
            high=high,
            false_fail_rate=false_fail_rate,
            false_pass_rate=false_pass_rate,
        )
        envelope = discrepancy / (2.0 * (high - low))
        fail = _itemwise_error_rate(fail, [low, high, discrepancy])
        counts = [-tf.log(rate / 2.0) / (2.0 * envelope**2) for rate in (fail, passing)]
        return tf.maximum(*counts)


def assert_true_mean_in_interval_by_dkwm(
    samples: Any,
    low: Any,
    high: Any,
    expected_low: Any,
    expected_high: Any,
    false_fail_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """A check that fails where the true mean can't be in an interval."""
    given = [samples, low, high, expected_low, expected_high, false_fail_rate]
    with tf.name_scope(name, "assert_true_mean_in_interval_by_dkwm", given):
        samples, low, high, expected_low, expected_high, rate = _tensors(
            samples=samples,
            low=low,
            high=high,
            expected_low=expected_low,
            expected_high=expected_high,
            false_fail_rate=false_fail_rate,
        )
        samples = _check_shape_dominates(samples, [low, high, expected_low, expected_high])
        least, most = true_mean_confidence_interval_by_dkwm(samples, low, high, rate)
        message = "Confidence interval does not intersect: true mean "
        is_large = tf.assert_greater_equal(
            most, expected_low, message=message + "smaller than expected"
        )
        with tf.control_dependencies([is_large]):
            return tf.assert_less_equal(
                least, expected_high, message=message + "greater than expected"
            )


def assert_true_mean_equal_by_dkwm_two_sample(
    samples1: Any,
    low1: Any,
    high1: Any,
    samples2: Any,
    low2: Any,
    high2: Any,
    false_fail_rate: Any = 1e-6,
    name: str | None = None,
) -> Any:
    """A check that fails where two distributions can't have the same mean."""
    given = [samples1, low1, high1, samples2, low2, high2, false_fail_rate]
    with tf.name_scope(name, "assert_true_mean_equal_by_dkwm_two_sample", given):
        samples1, low1, high1, samples2, low2, high2, rate = _tensors(
            samples1=samples1,
            low1=low1,
            high1=high1,
            samples2=samples2,
            low2=low2,
            high2=high2,
            false_fail_rate=false_fail_rate,
        )
        samples1 = _check_shape_dominates(samples1, [low1, high1])
        samples2 = _check_shape_dominates(samples2, [low2, high2])
        same = tf.assert_equal(tf.shape(samples1)[1:], tf.shape(samples2)[1:])
        with tf.control_dependencies([same]):
            interval = true_mean_confidence_interval_by_dkwm(samples2, low2, high2, rate / 2.0)
            return assert_true_mean_in_interval_by_dkwm(
                samples1, low1, high1, *interval, rate / 2.0
            )


def min_discrepancy_of_true_means_detectable_by_dkwm_two_sample(
    n1: Any,
    low1: Any,
    high1: Any,
    n2: Any,
    low2: Any,
    high2: Any,
    false_fail_rate: Any,
    false_pass_rate: Any,
    name: str | None = None,
) -> Any:
    """How far two means have to be apart to be found out by n1 and n2 samples."""
    given = [n1, low1, high1, n2, low2, high2, false_fail_rate, false_pass_rate]
    scope = "min_discrepancy_of_true_means_detectable_by_dkwm_two_sample"
    with tf.name_scope(name, scope, given):
        fail, passing = _tensors(false_fail_rate=false_fail_rate, false_pass_rate=false_pass_rate)
        first, second = (
            min_discrepancy_of_true_means_detectable_by_dkwm(*each, fail / 2.0, passing / 2.0)
            for each in ((n1, low1, high1), (n2, low2, high2))
        )
        return first + second


def min_num_samples_for_dkwm_mean_two_sample_test(
    discrepancy: Any,
    low1: Any,
    high1: Any,
    low2: Any,
    high2: Any,
    false_fail_rate: Any = 1e-6,
    false_pass_rate: Any = 1e-6,
    name: str | None = None,
) -> tuple[Any, Any]:
    """How many samples of each it takes to find out that two means are apart."""
    given = [low1, high1, low2, high2, false_fail_rate, false_pass_rate, discrepancy]
    with tf.name_scope(name, "min_num_samples_for_dkwm_mean_two_sample_test", given):
        distance, fail, passing = _tensors(
            discrepancy=discrepancy,
            false_fail_rate=false_fail_rate,
            false_pass_rate=false_pass_rate,
        )
        first, second = (
            min_num_samples_for_dkwm_mean_test(distance / 2.0, *each, fail / 2.0, passing / 2.0)
            for each in ((low1, high1), (low2, high2))
        )
        return first, second
