"""Statistics of a series, gathered from the batches that a model is trained with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures


class Moments(NamedTuple):
    """Means and variances of features."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """What is known of a series: moments of its start and of all, its first time, its length."""

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """What the statistics are computed from."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


def _kept(name: str, shape: Any, dtype: Any, initializer: Any = None) -> Any:
    """A variable that is not trained; of zeros by default."""
    return tf.get_variable(
        name=name,
        shape=shape,
        dtype=dtype,
        initializer=tf.zeros_initializer() if initializer is None else initializer,
        trainable=False,
    )


class InputStatisticsFromMiniBatch:
    """Keeps statistics in variables, and improves them with each batch.

    Args:
      starting_variance_window_size: how many of the first observations are a series' start.
    """

    def __init__(self, num_features: int, dtype: Any, starting_variance_window_size: int = 16):
        self._starting_variance_window_size = starting_variance_window_size
        self._num_features = num_features
        self._dtype = dtype

    def initialize_graph(
        self, features: Mapping[str, Any], update_statistics: bool = True
    ) -> InputStatistics:
        """The statistics, after this batch if they are updated by it."""
        times = features.get(TrainEvalFeatures.TIMES)
        values = features.get(TrainEvalFeatures.VALUES)
        with tf.variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with tf.variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        updated = self._updated(statistics, sums, times, tf.cast(values, self._dtype))
        with tf.control_dependencies([updated]):
            read: InputStatistics = tf.nest.map_structure(tf.identity, statistics)
            return read._replace(start_time=tf.minimum(read.start_time, tf.reduce_min(times)))

    def _statistics(self) -> InputStatistics:
        shape, dtype, ones = [self._num_features], self._dtype, tf.ones_initializer()
        return InputStatistics(
            series_start_moments=Moments(
                _kept("series_start_mean", shape, dtype),
                _kept("series_start_variance", shape, dtype, ones),
            ),
            overall_feature_moments=Moments(
                _kept("overall_feature_mean", shape, dtype),
                _kept("overall_feature_var", shape, dtype, ones),
            ),
            start_time=_kept("start_time", None, tf.int64, tf.int64.max),
            total_observation_count=_kept("total_observation_count", [], tf.int64, ones),
        )

    def _sums(self) -> _Sums:
        shape, dtype = [self._num_features], self._dtype
        return _Sums(
            max_time_seen=_kept("max_time_seen", None, tf.int64, tf.int64.min),
            chunk_count=_kept("chunk_count", [], tf.int64),
            inter_observation_duration_sum=_kept("inter_observation_duration_sum", [], dtype),
            example_count=_kept("example_count", [], tf.int64),
            overall_feature_sum=_kept("overall_feature_sum", shape, dtype),
            overall_feature_sum_of_squares=_kept("overall_feature_sum_of_squares", shape, dtype),
        )

    def _updated(
        self, statistics: InputStatistics, sums: _Sums, times: tf.Tensor, values: tf.Tensor
    ) -> tf.Operation:
        last_seen, summed = self._sums_updated(sums, times, values)
        with tf.control_dependencies([summed]):
            count = tf.cast(sums.example_count, self._dtype)
            mean = sums.overall_feature_sum / count
            variance = sums.overall_feature_sum_of_squares / count - mean**2
            moments = statistics.overall_feature_moments
            updates = [
                tf.assign(moments.mean, mean),
                tf.assign(moments.variance, count / (count - 1.0) * variance),
            ]
            start_updated = self._start_updated(statistics, times, values)
            with tf.control_dependencies([start_updated]):
                start_time = tf.assign(
                    statistics.start_time,
                    tf.minimum(statistics.start_time, tf.reduce_min(times)),
                )
            interval = sums.inter_observation_duration_sum / tf.cast(sums.chunk_count, self._dtype)
            length = tf.cast(last_seen - start_time + 1, self._dtype) / interval
            updates.append(
                tf.assign(statistics.total_observation_count, tf.cast(tf.round(length), tf.int64))
            )
            return tf.group(start_updated, start_time, *updates)

    def _sums_updated(
        self, sums: _Sums, times: tf.Tensor, values: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Operation]:
        """The last time that has been seen, and the update of all sums."""
        steps = tf.cast(tf.shape(times)[1] - 1, self._dtype)
        spans = tf.reduce_max(times, axis=1) - tf.reduce_min(times, axis=1)
        intervals = tf.cast(spans, self._dtype) / steps
        last_seen = tf.assign(
            sums.max_time_seen, tf.maximum(sums.max_time_seen, tf.reduce_max(times))
        )
        added = [
            (sums.chunk_count, tf.shape(times, out_type=tf.int64)[0]),
            (sums.inter_observation_duration_sum, tf.reduce_sum(intervals)),
            (sums.example_count, tf.size(times, out_type=tf.int64)),
            (sums.overall_feature_sum, tf.reduce_sum(values, axis=[0, 1])),
            (sums.overall_feature_sum_of_squares, tf.reduce_sum(values**2, axis=[0, 1])),
        ]
        updates = [tf.assign_add(variable, addend) for variable, addend in added]
        return last_seen, tf.group(last_seen, *updates)

    def _start_updated(
        self, statistics: InputStatistics, times: tf.Tensor, values: tf.Tensor
    ) -> Any:
        """The moments of the series' start, if the batch has an earlier one."""
        earliest = tf.cast(tf.argmin(times[:, 0]), tf.int32)

        def from_batch() -> tf.Operation:
            start = values[earliest, : self._starting_variance_window_size]
            mean, variance = tf.nn.moments(start, axes=[0])
            kept = statistics.series_start_moments
            return tf.group(tf.assign(kept.mean, mean), tf.assign(kept.variance, variance))

        is_earlier = tf.less_equal(times[earliest, 0], statistics.start_time)
        return tf.cond(is_earlier, from_batch, tf.no_op)
