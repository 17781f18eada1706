"""Queues that are fed from arrays and data frames."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock import errors
from penstock.platform import logging
from penstock.train.queue_runner import QueueRunner, add_queue_runner

FeedFunction = Callable[[], dict[Any, Any]]


class _FeedingQueueRunner(QueueRunner):
    """A queue runner whose threads feed what they enqueue.

    Args:
      feed_fns: one function for each enqueue operation; it returns what to feed, and raises
        `OutOfRangeError` at the end.
    """

    def __init__(self, queue: Any, enqueue_ops: Sequence[Any], feed_fns: Sequence[FeedFunction]):
        super().__init__(
            queue,
            enqueue_ops,
            queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError),
        )
        self._feed_fns = dict(zip(enqueue_ops, feed_fns, strict=True))

    def _run(self, sess: Any, enqueue_op: Any, coord: Any = None) -> None:
        super()._run(_Feeding(sess, self._feed_fns[enqueue_op]), enqueue_op, coord)

    def _leave(self, sess: Any, *, close: bool) -> None:
        super()._leave(sess.session, close=close)


class _Feeding:
    """A session that feeds each run of an enqueue operation."""

    def __init__(self, session: Any, feed_fn: FeedFunction):
        self.session = session
        self._feed_fn = feed_fn

    def make_callable(self, enqueue_op: Any) -> Callable[[], Any]:
        return lambda: self.session.run(enqueue_op, feed_dict=self._feed_fn())


class _Positions:
    """The positions of batches in data, round and round, for some epochs or for ever."""

    def __init__(self, length: int, batch_size: int, num_epochs: int | None, start: int):
        self._length = length
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._start = start
        self._given = 0

    def next_batch(self) -> np.ndarray[Any, Any]:
        """The positions of the next batch; the last one of all epochs may be smaller."""
        end = self._given + self._batch_size
        if self._num_epochs is not None:
            total = self._length * self._num_epochs
            if self._given >= total:
                raise errors.OutOfRangeError(
                    None, None, f"Already emitted {self._num_epochs} epochs."
                )
            end = min(end, total)
        positions = (np.arange(self._given, end) + self._start) % self._length
        self._given = end
        return positions


def _feed_function(
    placeholders: Sequence[Any], columns: Sequence[Any], positions: _Positions
) -> FeedFunction:
    """Feeds the values of columns at the next positions; the first column is the index."""

    def feed() -> dict[Any, Any]:
        at = positions.next_batch()
        return {p: column[at] for p, column in zip(placeholders, columns, strict=True)}

    return feed


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
    _warn_of_threads(shuffle, num_threads, num_epochs)
    arrays = list(columns.values())
    length = len(arrays[0])
    index = np.arange(length, dtype=np.int64) if index is None else index
    all_columns = [index, *arrays]
    types = [tf.as_dtype(column.dtype) for column in all_columns]
    shapes = [column.shape[1:] for column in all_columns]
    with tf.name_scope(name):
        least = 0
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue: Any = tf.RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes)
        else:
            queue = tf.FIFOQueue(capacity, dtypes=types, shapes=shapes)
        enqueue_ops, feed_fns = [], []
        for _ in range(num_threads):
            placeholders = [tf.placeholder(dtype) for dtype in types]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            start = random.randrange(length) if shuffle else 0
            positions = _Positions(length, enqueue_size, num_epochs, start)
            feed_fns.append(_feed_function(placeholders, all_columns, positions))
        add_queue_runner(_FeedingQueueRunner(queue, enqueue_ops, feed_fns))
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
