"""Where series come from: arrays, files of lines, files of examples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures
from penstock.contrib.timeseries.numpy_series import _canonicalize_numpy_data
from penstock.estimator.inputs import numpy_input_fn

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _check_columns(names: Any) -> None:
    for name in (_TIMES, _VALUES):
        if name not in names:
            raise ValueError(f"'{name}' is a required column.")


class TimeSeriesReader:
    """Reads a series, again and again."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError if the series is known to be too short."""

    @abstractmethod
    def read(self) -> dict[str, tf.Tensor]:
        """The next records, a tensor of each feature."""

    @abstractmethod
    def read_full(self) -> dict[str, tf.Tensor]:
        """The whole series, a tensor of each feature."""


class NumpyReader(TimeSeriesReader):
    """A series of arrays.

    Args:
      data: a dict of arrays, `times` and `values` among them.
      read_num_records_hint: how many records are read at once.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096):
        self._features = _canonicalize_numpy_data(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        size = self._features[_TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                "A TimeSeriesInputFn is configured to create windows of size "
                f"{minimum_dataset_size}, but only {size} records were available in the dataset. "
                "Either decrease the window size or provide more records."
            )

    def read(self) -> dict[str, tf.Tensor]:
        records = {key: np.squeeze(value, axis=0) for key, value in self._features.items()}
        made: dict[str, tf.Tensor] = numpy_input_fn(
            x=records, batch_size=self._read_num_records_hint, num_epochs=None, shuffle=False
        )()
        return made

    def read_full(self) -> dict[str, tf.Tensor]:
        features = numpy_input_fn(
            x=self._features, batch_size=1, num_epochs=None, queue_capacity=2, shuffle=False
        )()
        return {name: tf.squeeze(value, axis=0) for name, value in features.items()}


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series of files that one of TensorFlow's readers reads record by record."""

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096):
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    @abstractmethod
    def _get_reader(self) -> Any:
        """The reader, for example `tf.TextLineReader()`."""

    @abstractmethod
    def _process_records(self, lines: tf.Tensor) -> dict[str, tf.Tensor]:
        """Features of records."""

    def _get_filename_queue(self, epoch_limit: int) -> tuple[Any, Any]:
        """The names of the files, and how often they were given since the last record.

        Empty files would be read for ever: after `epoch_limit` times without a record it ends.
        """
        limiter = tf.Variable(
            tf.constant(0, dtype=tf.int64),
            name="epoch_limiter",
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
        )
        counted = tf.cond(
            tf.is_variable_initialized(limiter),
            lambda: limiter.count_up_to(epoch_limit),
            lambda: tf.constant(0, dtype=tf.int64),
        )
        names = tf.reshape(tf.convert_to_tensor(self._filenames), [-1])
        with tf.control_dependencies([counted]):
            names = tf.identity(names)
        return tf.train.string_input_producer(names, shuffle=False, capacity=1), limiter

    def read(self) -> dict[str, tf.Tensor]:
        names, limiter = self._get_filename_queue(self._read_num_records_hint)
        reader = self._get_reader()
        with tf.control_dependencies([tf.assign(limiter, 0)]):
            _, records = reader.read_up_to(names, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> dict[str, tf.Tensor]:
        reader = self._get_reader()
        names, limiter = self._get_filename_queue(epoch_limit=2)
        with tf.control_dependencies([tf.assign(limiter, 0)]):
            first_key, first_value = reader.read_up_to(names, 1)

        def comes_first(key: tf.Tensor) -> tf.Tensor:
            return tf.equal(tf.squeeze(key, axis=0), tf.squeeze(first_key, axis=0))

        def body(key: Any, value: Any, index: Any, records: Any) -> Any:
            next_key, next_value = reader.read_up_to(names, 1)
            next_key.set_shape([1])
            next_value.set_shape([1])
            return next_key, next_value, index + 1, records.write(index, value)

        # The series has ended when its first record comes again.
        collected = tf.TensorArray(dtype=tf.string, size=0, dynamic_size=True)
        *_, collected = tf.while_loop(
            lambda key, *_: tf.logical_not(comes_first(key)),
            body,
            [tf.constant([""]), first_value, 0, collected],
        )
        records = collected.concat()
        with tf.control_dependencies([records]):
            reset = reader.reset()
        with tf.control_dependencies([reset]):
            return self._process_records(tf.identity(records))


class CSVReader(ReaderBaseTimeSeriesParser):
    """Files of lines with commas.

    Args:
      column_names: the feature of each column; several columns of one are its dimensions.
      column_dtypes: types of the columns; int64 for times and float32 for others if None.
      skip_header_lines: how many lines of each file are no data.
    """

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ):
        _check_columns(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names "
                f"(got column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(
                f"Got more than one times column ('{_TIMES}'), but exactly one is required."
            )
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames=filenames, read_num_records_hint=read_num_records_hint)

    def _get_reader(self) -> Any:
        return tf.TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: tf.Tensor) -> dict[str, tf.Tensor]:
        defaults: list[Any]
        if self._column_dtypes is None:
            defaults = [
                [tf.zeros([], tf.int64)] if name == _TIMES else tf.constant([], tf.float32)
                for name in self._column_names
            ]
        else:
            defaults = [[tf.zeros([], dtype)] for dtype in self._column_dtypes]
        columns: dict[str, list[tf.Tensor]] = {}
        for name, value in zip(self._column_names, tf.decode_csv(lines, defaults), strict=True):
            columns.setdefault(name, []).append(value)
        return {
            name: values[0] if name == _TIMES else tf.stack(values, axis=1)
            for name, values in columns.items()
        }


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """Files of `tf.train.Example`s.

    Args:
      features: how each feature is parsed, as for `tf.parse_example`.
    """

    def __init__(self, filenames: Any, features: Mapping[str, Any]):
        _check_columns(features)
        self._features = features
        super().__init__(filenames=filenames)

    def _get_reader(self) -> Any:
        return tf.TFRecordReader()

    def _process_records(self, examples: tf.Tensor) -> dict[str, tf.Tensor]:
        parsed: dict[str, tf.Tensor] = tf.parse_example(
            serialized=examples, features=self._features
        )
        return parsed
