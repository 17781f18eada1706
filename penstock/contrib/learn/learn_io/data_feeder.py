"""Batches of arrays, tables and iterators, fed into placeholders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

import penstock as tf
from penstock import logging
from penstock.contrib.learn.learn_io.pandas_io import (
    HAS_PANDAS,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)

__all__ = [
    "HAS_PANDAS",
    "DataFeeder",
    "StreamingDataFeeder",
    "check_array",
    "setup_predict_data_feeder",
    "setup_processor_data_feeder",
    "setup_train_data_feeder",
]

FeedDict = dict[str, Any]


def _mapped(function: Callable[..., Any], given: Any, *others: Any) -> Any:
    """A function of a value and its companions, or of each value of a dictionary with theirs."""
    if given is None:
        return None
    if not isinstance(given, dict):
        return function(given, *others)
    return {
        key: function(value, *[other.get(key) if other else None for other in others])
        for key, value in given.items()
    }


def _first(given: Any) -> Any:
    return next(iter(given.values())) if isinstance(given, dict) else given


def _checked_size(batch_size: int | None) -> int | None:
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    return batch_size


def _get_in_out_shape(
    x_shape: Any, y_shape: Any, n_classes: Any, batch_size: int | None = None
) -> tuple[Any, Any, int]:
    """The shapes of a batch of inputs and of labels, and the size of the batch."""
    if isinstance(y_shape, dict) and n_classes is not None and not isinstance(n_classes, dict):
        raise AssertionError("Labels by name need numbers of classes by name.")
    size = _checked_size(batch_size) or _first(x_shape)[0]

    def of_labels(shape: Any, classes: int | None) -> list[int]:
        rest = list(shape[1:])
        rest = rest[1:] if rest and rest[0] == 1 else rest
        return [size, *rest, *([classes] if classes is not None and classes > 1 else [])]

    inputs = _mapped(lambda shape: [size, *(list(shape[1:]) or [1])], x_shape)
    return inputs, _mapped(of_labels, y_shape, n_classes), size


def _is_iterator(given: Any) -> bool:
    return hasattr(given, "__next__")


def setup_train_data_feeder(
    x: Any,
    y: Any,
    n_classes: Any,
    batch_size: int | None = None,
    shuffle: bool = True,
    epochs: int | None = None,
) -> DataFeeder:
    """A feeder of arrays, tables or iterators.

    Args:
      n_classes: how many classes labels have, for labels that are fed one-hot.
      batch_size: all at once by default.
      epochs: how often all is fed; for ever by default.
    """
    x = extract_pandas_data(x)
    y = y if y is None else extract_pandas_labels(y)
    if not _is_iterator(x):
        return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)
    if y is not None and not _is_iterator(y):
        raise ValueError("Both x and y should be iterators for streaming learning to work.")
    return StreamingDataFeeder(x, y, n_classes, batch_size)


def _batch_data(x: Iterator[Any], batch_size: int | None = None) -> Iterator[Any]:
    """Batches of an iterator's elements, each with two axes; what is left comes last."""
    _checked_size(batch_size)
    rows: list[Any] = []

    def batch() -> Any:
        found: Any
        if isinstance(first, dict):
            found = {key: np.atleast_2d(np.array([row[key] for row in rows])) for key in first}
        else:
            found = np.atleast_2d(np.array(rows))
        rows.clear()
        return found

    first = next(x)
    for row in chain([first], x):
        rows.append(row)
        if len(rows) == batch_size:
            yield batch()
    yield batch()


def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Any:
    """The batches of an array, a table or an iterator."""
    x = extract_pandas_data(x)
    if _is_iterator(x):
        return _batch_data(x, batch_size)
    if len(x.shape) == 1:
        x = np.reshape(x, (-1, 1))
    size = _checked_size(batch_size)
    return [x] if size is None else [x[i : i + size] for i in range(0, len(x), size)]


def setup_processor_data_feeder(x: Any) -> Any:
    """The rows of a table, or anything else as it is."""
    return extract_pandas_matrix(x)


def check_array(array: Any, dtype: Any) -> Any:
    """An array or a list as an array of a type; anything else as it is."""
    return np.asarray(array, dtype=dtype) if isinstance(array, np.ndarray | list) else array


def _check_dtype(dtype: Any) -> Any:
    if tf.as_dtype(dtype) == tf.float64:
        logging.warn("float64 is not supported by many models, consider casting to float32.")
    return dtype


def _at(data: Any, where: Any) -> Any:
    """Rows of an array, or of a table, by their places."""
    return data.iloc[where] if hasattr(data, "iloc") else data[where]


def _put_label(out: Any, row: int, label: Any, classes: int | None) -> None:
    """Writes a label into a batch: as it is, or a one where its class is."""
    if classes is None or classes <= 1:
        out[row] = label
    elif out.ndim == 2:
        out[row, int(label)] = 1.0
    else:
        for place, each in enumerate(label):
            out[row, place, each] = 1.0


class DataFeeder:
    """Feeds arrays to placeholders, batch by batch.

    Args:
      x: an array of inputs, or arrays by name.
      y: the labels.
      n_classes: how many classes labels have, for labels that are fed one-hot.
      batch_size: all at once by default.
      random_state: what shuffles; the same order each time by default.
      epochs: how often all is fed; for ever by default.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        epochs: int | None = None,
    ):
        y = np.array(y) if isinstance(y, list) else y
        self._x = _mapped(lambda array: check_array(array, array.dtype), x)
        self._y = _mapped(lambda array: check_array(array, array.dtype), y)
        if n_classes is not None and y is not None and not isinstance(y, dict):
            self._y = check_array(y, np.int64 if n_classes > 1 else np.float32)
        self.n_classes = n_classes
        self.max_epochs = epochs
        self.input_shape, self.output_shape, self._batch_size = _get_in_out_shape(
            _mapped(lambda array: array.shape, self._x),
            _mapped(lambda array: array.shape, self._y),
            n_classes,
            batch_size,
        )
        self._input_dtype = _mapped(lambda array: _check_dtype(array.dtype), self._x)
        self._output_dtype = _mapped(lambda array: _check_dtype(array.dtype), self._y)
        if y is None:
            self._output_dtype = np.float32
        elif isinstance(y, dict) and n_classes is not None:
            one_hot = [key for key in n_classes if key in self._output_dtype]
            self._output_dtype.update(dict.fromkeys(one_hot, np.float32))
        self._shuffle = shuffle
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self.indices = self._next_order()
        self.offset = 0
        self.epoch = 0
        self._epoch_placeholder: Any = None
        self._input_placeholder: Any = None
        self._output_placeholder: Any = None

    @property
    def x(self) -> Any:
        return self._x

    @property
    def y(self) -> Any:
        return self._y

    @property
    def shuffle(self) -> bool:
        return self._shuffle

    @property
    def input_dtype(self) -> Any:
        return self._input_dtype

    @property
    def output_dtype(self) -> Any:
        return self._output_dtype

    @property
    def batch_size(self) -> int:
        return self._batch_size

    def _length(self) -> int:
        return int(_first(self._x).shape[0])

    def _next_order(self) -> Any:
        length = self._length()
        return self.random_state.permutation(length) if self._shuffle else np.arange(length)

    def make_epoch_variable(self) -> Any:
        """A placeholder for the number of the epoch, fed with the rest from now on."""
        self._epoch_placeholder = tf.placeholder(tf.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Makes the placeholders of inputs and labels."""

        def made(shape: Any, dtype: Any, name: str) -> Any:
            def placeholder(shape: list[int], dtype: Any, name: str) -> Any:
                return tf.placeholder(tf.as_dtype(dtype), [None, *shape[1:]], name=name)

            names = {key: f"{name}_{key}" for key in shape} if isinstance(shape, dict) else name
            return _mapped(placeholder, shape, dtype, names)

        self._input_placeholder = made(self.input_shape, self._input_dtype, "input")
        self._output_placeholder = made(self.output_shape, self._output_dtype, "output")
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Feeds these placeholders from now on."""
        self._input_placeholder = input_placeholder
        self._output_placeholder = output_placeholder

    def get_feed_params(self) -> dict[str, Any]:
        """Where the feeder is."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], FeedDict]:
        """A function that gives what to feed next; StopIteration after the last epoch."""

        def rows(data: Any, chosen: Any) -> Any:
            found = _at(data, chosen)
            return np.array(found).reshape(-1, 1) if len(data.shape) == 1 else found

        def feed_dict_fn() -> FeedDict:
            if self.max_epochs is not None and self.epoch >= self.max_epochs:
                raise StopIteration
            chosen = self.indices[self.offset : self.offset + self._batch_size]
            feed = {}
            if self._epoch_placeholder is not None:
                feed[self._epoch_placeholder.name] = [self.epoch]
            inputs = _mapped(lambda data: rows(data, chosen), self._x)
            feed.update(_by_placeholder(self._input_placeholder, inputs))
            if self._output_placeholder is not None:
                feed.update(_by_placeholder(self._output_placeholder, self._labels(chosen)))
            self._advance()
            return feed

        return feed_dict_fn

    def _labels(self, chosen: Any) -> Any:
        def of(data: Any, shape: list[int], dtype: Any, classes: int | None) -> Any:
            out = np.zeros([len(chosen), *shape[1:]], dtype=dtype)
            for row, place in enumerate(chosen):
                _put_label(out, row, _at(data, place), classes)
            return out

        return _mapped(of, self._y, self.output_shape, self._output_dtype, self.n_classes)

    def _advance(self) -> None:
        self.offset += self._batch_size
        if self.offset >= self._length():
            self.indices = self._next_order()
            self.offset = 0
            self.epoch += 1


def _by_placeholder(placeholders: Any, values: Any) -> FeedDict:
    if isinstance(placeholders, dict):
        return {placeholder.name: values[key] for key, placeholder in placeholders.items()}
    return {placeholders.name: values}


class StreamingDataFeeder(DataFeeder):
    """Feeds what iterators give, batch by batch; see `DataFeeder`."""

    def __init__(self, x: Iterator[Any], y: Any, n_classes: Any, batch_size: int | None):
        first_x = next(x)
        first_y = None if y is None else next(y)
        self._x = chain([first_x], x)
        self._y = None if y is None else chain([first_y], y)
        self.n_classes = n_classes
        self.stopped = False
        self.input_shape, self.output_shape, self._batch_size = _get_in_out_shape(
            _mapped(_shape_of_one, first_x), _mapped(_shape_of_one, first_y), n_classes, batch_size
        )
        self._input_dtype = _mapped(lambda each: _check_dtype(each.dtype), first_x)
        self._output_dtype = _mapped(_type_of_label, first_y)
        if n_classes is not None and not isinstance(first_y, dict) and n_classes > 0:
            self._output_dtype = np.float32
        self._input_placeholder = self._output_placeholder = None

    def get_feed_params(self) -> dict[str, Any]:
        """The size of batches."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], FeedDict]:
        """A function that gives what to feed next; StopIteration after the last."""
        self.stopped = False

        def feed_dict_fn() -> FeedDict:
            if self.stopped:
                raise StopIteration
            inputs, labels = self._next_rows()
            if not inputs:
                raise StopIteration
            feed = _by_placeholder(
                self._input_placeholder,
                _mapped(_batch_of, self.input_shape, self._input_dtype, _columns(inputs), None),
            )
            if self._y is not None:
                out = _mapped(
                    _batch_of,
                    self.output_shape,
                    self._output_dtype,
                    _columns(labels),
                    self.n_classes,
                )
                feed.update(_by_placeholder(self._output_placeholder, out))
            return feed

        return feed_dict_fn

    def _next_rows(self) -> tuple[list[Any], list[Any]]:
        inputs: list[Any] = []
        labels: list[Any] = []
        for each in self._x:
            inputs.append(each)
            if self._y is not None:
                labels.append(next(self._y))
            if len(inputs) == self._batch_size:
                return inputs, labels
        self.stopped = True
        return inputs, labels


def _shape_of_one(element: Any) -> list[int]:
    inner = element[0] if isinstance(element, list) else element
    return [1, *inner.shape]


def _type_of_label(element: Any) -> Any:
    if isinstance(element, list):
        return _type_of_label(element[0])
    return (
        element.dtype if isinstance(element, np.ndarray) else _check_dtype(np.dtype(type(element)))
    )


def _columns(rows: list[Any]) -> Any:
    """A list of rows, or a list for each name if rows are dictionaries."""
    if not isinstance(rows[0], dict):
        return rows
    return {key: [row[key] for row in rows] for key in rows[0]}


def _batch_of(shape: list[int], dtype: Any, rows: list[Any], classes: int | None) -> Any:
    out = np.zeros([len(rows), *shape[1:]], dtype=dtype)
    for place, row in enumerate(rows):
        inner = row[0] if isinstance(row, list) and out.ndim == 1 else row
        _put_label(out, place, inner, classes)
    return out
