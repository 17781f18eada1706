"""Input functions of time series estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.continuations import canonicalize_times_or_steps_from_output
from penstock.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    TrainEvalFeatures,
)
from penstock.contrib.timeseries.readers import TimeSeriesReader
from penstock.train.batching import maybe_shuffle_batch

_TIMES = TrainEvalFeatures.TIMES

Features = dict[str, Any]


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], tuple[Features, None]]:
    """The input of predictions that go on where an evaluation ended.

    Args:
      evaluation: what `evaluate` gave.
      steps: how many times after it; or
      times: these times.
      exogenous_features: other features at these times.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: canonicalize_times_or_steps_from_output(
            times=times, steps=steps, previous_model_output=evaluation
        ),
        **(exogenous_features or {}),
    }

    def once(value: Any) -> Any:
        return tf.train.limit_epochs(value, num_epochs=1)

    def input_fn() -> tuple[Features, None]:
        return {key: tf.nest.map_structure(once, value) for key, value in features.items()}, None

    return input_fn


class TimeSeriesInputFn:
    """An input function that is an object."""

    @abstractmethod
    def create_batch(self) -> tuple[Features, None]:
        """Features of shape (batch, time, …), and no labels."""

    def __call__(self) -> tuple[Features, None]:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """A whole series as the only one of a batch."""

    def __init__(self, time_series_reader: TimeSeriesReader):
        self._reader = time_series_reader

    def create_batch(self) -> tuple[Features, None]:
        features = self._reader.read_full()
        return {name: value[None, ...] for name, value in features.items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Batches of windows of a series, shuffled.

    Args:
      window_size: how many successive records a window has.
      queue_capacity_multiplier: times batch size, how many windows may wait.
      shuffle_min_after_dequeue_multiplier: times batch size, how many are there to choose from.
      discard_out_of_order: whether windows over the end of the series, which then begins again,
        are left out; else they are sorted.
      discard_consecutive_batches_limit: after how many batches without a window it ends.
      jitter: whether windows begin at other records each time the series is read.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ):
        self._reader = time_series_reader
        self._window_size = window_size
        self._reader.check_dataset_size(minimum_dataset_size=self._window_size)
        self._batch_size = batch_size
        self._capacity = queue_capacity_multiplier * batch_size
        self._minimum_waiting = shuffle_min_after_dequeue_multiplier * batch_size
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> tuple[Features, None]:
        windows = self._windows()
        in_order: Any = True
        if self._discard_out_of_order:
            in_order = self._in_order(windows[_TIMES])
        else:
            windows = self._sorted(windows)
        batch = maybe_shuffle_batch(
            windows,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            batch_size=self._batch_size,
            capacity=self._capacity,
            min_after_dequeue=self._minimum_waiting,
            keep_input=in_order,
            enqueue_many=True,
        )
        return batch, None

    def _windows(self) -> Features:
        """As many windows as a batch has, of successive records."""
        jitter: Any = 0
        if self._jitter:
            jitter = tf.random_uniform(shape=[], maxval=2, dtype=tf.int32)
        records = tf.train.batch(
            self._reader.read(),
            batch_size=self._window_size * self._batch_size + jitter,
            enqueue_many=True,
            capacity=self._capacity * self._window_size,
            num_threads=self._num_threads,
        )
        windows = {}
        for key, value in records.items():
            used = value[jitter:] if self._jitter else value
            sizes = tf.concat([[self._batch_size, self._window_size], tf.shape(used)[1:]], axis=0)
            windows[key] = tf.reshape(used, sizes)
            windows[key].set_shape([self._batch_size, self._window_size, *value.shape[1:]])
        return windows

    def _in_order(self, times: tf.Tensor) -> tf.Tensor:
        """Which windows' times increase; ends after too many batches without any."""
        in_order = tf.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        limiter = tf.Variable(
            tf.constant(0, dtype=tf.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
        )

        def counted() -> Any:
            return tf.cond(
                tf.reduce_any(in_order),
                lambda: tf.assign(limiter, 0),
                lambda: limiter.count_up_to(self._discard_limit),
            )

        checked = tf.cond(
            tf.is_variable_initialized(limiter), counted, lambda: tf.constant(0, dtype=tf.int64)
        )
        with tf.control_dependencies([checked]):
            return tf.identity(in_order)

    def _sorted(self, windows: Features) -> Features:
        order = tf.argsort(windows[_TIMES], axis=-1, stable=True)
        return {key: tf.batch_gather(value, order) for key, value in windows.items()}
