"""Queues that are fed from arrays and data frames."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

import penstock as tf
from penstock import errors
from penstock.estimator.inputs.feed_functions import (
    ArrayFeed,
    ColumnsFeed,
    DataFrameFeed,
    GeneratorFeed,
)
from penstock.platform import logging
from penstock.train.queue_runner import QueueRunner, add_queue_runner

FeedFunction = Callable[[], dict[Any, Any]]


class _FeedingQueueRunner(QueueRunner):
    """A queue runner whose threads feed what they enqueue.

    Args:
      feed_fns: one function for each enqueue operation; it returns what to feed, and raises
        `OutOfRangeError` at the end.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[FeedFunction] | None = None,
        queue_closed_exception_types: Any = None,
    ):
        ended = (errors.OutOfRangeError, errors.CancelledError)
        super().__init__(
            queue,
            enqueue_ops,
            close_op,
            cancel_op,
            queue_closed_exception_types=queue_closed_exception_types or ended,
        )
        operations = list(enqueue_ops or ())
        if feed_fns is not None and len(feed_fns) != len(operations):
            raise ValueError(
                "If feed_fns is not None, it must have the same length as enqueue_ops."
            )
        nothing = [_feed_nothing] * len(operations)
        self._feed_fns = dict(zip(operations, feed_fns or nothing, strict=True))

    def _run(self, sess: Any, enqueue_op: Any, coord: Any = None) -> None:
        super()._run(_Feeding(sess, self._feed_fns[enqueue_op]), enqueue_op, coord)

    def _leave(self, sess: Any, *, close: bool) -> None:
        super()._leave(sess.session, close=close)

    def to_proto(self, export_scope: str | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")

    def _init_from_proto(self, queue_runner_def: Any, import_scope: str | None = None) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} does not support initialization from proto."
        )


def _feed_nothing() -> dict[Any, Any]:
    return {}


class _Feeding:
    """A session that feeds each run of an enqueue operation."""

    def __init__(self, session: Any, feed_fn: FeedFunction):
        self.session = session
        self._feed_fn = feed_fn

    def make_callable(self, enqueue_op: Any) -> Callable[[], Any]:
        return lambda: self.session.run(enqueue_op, feed_dict=self._feed_fn())


def enqueue_columns(
    columns: Mapping[str, Any],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    enqueue_size: int,
    num_epochs: int | None,
    min_after_dequeue: float | None = None,
    index: Any = None,
    name: str = "enqueue_input",
) -> Any:
    """A queue of the rows of columns, each with its index first, and threads that fill it.

    Args:
      columns: arrays of one length.
      capacity: the capacity of the queue.
      shuffle: a queue that gives its elements in random order.
      num_threads: how many threads; each goes through all of the data.
      enqueue_size: how many rows are added at a time.
      num_epochs: how often each thread goes through the data; for ever if None.
      min_after_dequeue: how many elements to leave in a random queue; a quarter by default.
      index: the index of the rows; their numbers by default.
    """
    arrays = list(columns.values())
    index = np.arange(len(arrays[0]), dtype=np.int64) if index is None else index
    every = [index, *arrays]
    source = _Source(
        [tf.as_dtype(column.dtype) for column in every],
        [column.shape[1:] for column in every],
        partial(ColumnsFeed, index=index),
    )
    return _enqueue(
        columns,
        source,
        capacity,
        shuffle,
        min_after_dequeue,
        num_threads,
        None,
        name,
        enqueue_size,
        num_epochs,
        None,
    )


def enqueue_data(
    data: Any,
    capacity: int,
    shuffle: bool = False,
    min_after_dequeue: float | None = None,
    num_threads: int = 1,
    seed: int | None = None,
    name: str = "enqueue_input",
    enqueue_size: int = 1,
    num_epochs: int | None = None,
    pad_value: Any = None,
) -> Any:
    """A queue of the rows of data, and threads that fill it; see `enqueue_columns`.

    Args:
      data: an array, an `OrderedDict` of arrays, a data frame of pandas, or a function that makes a
        generator of dictionaries. Rows have their index first, but for those of a generator.
      seed: of random orders.
      pad_value: fills up sequences of a generator that are shorter than others of a batch.
    """
    source = _source_of(data)
    if pad_value is not None:
        if source.feed is not GeneratorFeed:
            raise NotImplementedError("padding is only available with generator usage")
        if shuffle:
            raise NotImplementedError(
                "padding and shuffling data at the same time is not implemented"
            )
    return _enqueue(
        data,
        source,
        capacity,
        shuffle,
        min_after_dequeue,
        num_threads,
        seed,
        name,
        enqueue_size,
        num_epochs,
        pad_value,
    )


class _Source(NamedTuple):
    """The types and shapes of rows, and what makes the functions that feed them."""

    types: list[Any]
    shapes: list[Any]
    feed: Callable[..., FeedFunction]


def _source_of(data: Any) -> _Source:
    if isinstance(data, np.ndarray):
        return _Source([tf.int64, tf.as_dtype(data.dtype)], [(), data.shape[1:]], ArrayFeed)
    if isinstance(data, OrderedDict):
        columns = list(data.values())
        types = [tf.int64, *(tf.as_dtype(column.dtype) for column in columns)]
        return _Source(types, [(), *(column.shape[1:] for column in columns)], ColumnsFeed)
    if isinstance(data, FunctionType):
        first = next(data())
        values = [first[key] for key in sorted(first)]
        types = [tf.as_dtype(value.dtype) for value in values]
        return _Source(types, [value.shape for value in values], GeneratorFeed)
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        types = [tf.as_dtype(dtype) for dtype in (data.index.dtype, *data.dtypes)]
        return _Source(types, [()] * len(types), DataFrameFeed)
    raise TypeError(
        "data must be either a numpy array or pandas DataFrame if pandas is installed; got "
        f"{type(data).__name__}"
    )


def _enqueue(
    data: Any,
    source: _Source,
    capacity: int,
    shuffle: bool,
    min_after_dequeue: float | None,
    num_threads: int,
    seed: int | None,
    name: str,
    enqueue_size: int,
    num_epochs: int | None,
    pad_value: Any,
) -> Any:
    _warn_of_threads(shuffle, num_threads, num_epochs)
    types, shapes, feed = source
    padding = {} if pad_value is None else {"pad_value": pad_value}
    with tf.name_scope(name):
        least = 0
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue: Any = tf.RandomShuffleQueue(
                capacity, least, dtypes=types, shapes=shapes, seed=seed
            )
        elif padding:
            open_shapes = [(*shape[:-1], None) if shape else shape for shape in shapes]
            queue = tf.PaddingFIFOQueue(capacity, dtypes=types, shapes=open_shapes)
        else:
            queue = tf.FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops, feed_fns = [], []
        for number in range(num_threads):
            placeholders = [tf.placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            feed_fns.append(
                feed(
                    placeholders,
                    data,
                    enqueue_size,
                    random_start=shuffle,
                    seed=None if seed is None else (number + 1) * seed,
                    num_epochs=num_epochs,
                    **padding,
                )
            )
        add_queue_runner(_FeedingQueueRunner(queue, enqueue_ops, feed_fns=feed_fns))
        filled = tf.cast(tf.maximum(0, queue.size() - least), tf.float32)
        full = filled * (1.0 / (capacity - least))
        tf.summary.scalar(
            f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full", full
        )
        return queue


def _warn_of_threads(shuffle: bool, num_threads: int, num_epochs: int | None) -> None:
    if num_threads <= 1:
        return
    if num_epochs is not None:
        logging.warn(
            "num_epochs with num_threads > 1: each thread goes through the data num_epochs times, "
            "which makes more epochs than you probably intend. Use one thread to limit epochs."
        )
    if not shuffle:
        logging.warn(
            "shuffle=False with num_threads > 1: the threads interleave, so that examples don't "
            "come in order. Use one thread, or shuffle."
        )


def check_shuffle(shuffle: Any) -> None:
    """ValueError unless the caller has said whether to shuffle."""
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )


def next_rows(queue: Any, batch_size: int, num_epochs: int | None) -> list[Any]:
    """A batch of a queue, without the index; the last one of limited epochs may be smaller."""
    endless = num_epochs is None
    batch = queue.dequeue_many(batch_size) if endless else queue.dequeue_up_to(batch_size)
    return list(batch[1:])
