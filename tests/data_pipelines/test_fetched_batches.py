"""A batch that is fetched is not copied where nobody else has its memory, and is where one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.kernels import values


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each array that was fetched, whether it is the memory of the step's value."""
    found: list[bool] = []
    real = values.fetcher

    def watched(*args: Any, **settings: Any) -> Callable[[Any], Any]:
        fetch = real(*args, **settings)

        def run(value: Any) -> Any:
            result = fetch(value)
            found.append(np.shares_memory(result, value.numpy()))
            return result

        return run

    monkeypatch.setattr("penstock.runtime.plan.fetcher", watched)
    return found


def _fetched(dataset: Any, count: int) -> list[list[int]]:
    """What the next elements are, each of which is overwritten when it has been fetched."""
    get_next = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as sess:
        for _ in range(count):
            array = sess.run(get_next)
            found.append(array.tolist())
            array[...] = -1
    return found


def _numbers() -> Any:
    return tf.data.Dataset.from_tensor_slices(np.arange(6))


PAIRS = [[0, 1], [2, 3], [4, 5]]


def test_batches_are_not_copied(shared: list[bool]) -> None:
    assert _fetched(_numbers().batch(2), 3) == PAIRS
    assert _fetched(_numbers().batch(2).prefetch(1), 3) == PAIRS
    assert _fetched(_numbers().map(lambda x: x + 1, num_parallel_calls=2).batch(6), 1)
    assert shared == [True] * 7


def test_elements_that_are_kept_are_copied(shared: list[bool]) -> None:
    assert _fetched(_numbers().batch(2).cache().repeat(), 6) == PAIRS * 2
    assert _fetched(tf.data.Dataset.from_tensors(np.arange(6)).repeat(), 2) == [[*range(6)]] * 2
    assert shared == [False] * 8


def test_what_a_queue_got_stays_as_it_is() -> None:
    queue = tf.FIFOQueue(1, tf.int64, shapes=[[2]])
    batch = tf.data.make_one_shot_iterator(_numbers().batch(2)).get_next()
    with tf.Session() as sess:
        array, _ = sess.run([batch, queue.enqueue(batch)])
        array[...] = -1
        assert sess.run(queue.dequeue()).tolist() == [0, 1]


def test_what_a_session_keeps_stays_as_it_is() -> None:
    batch = tf.data.make_one_shot_iterator(_numbers().batch(2)).get_next()
    kept = tf.get_session_handle(batch)
    with tf.Session() as sess:
        array, handle = sess.run([batch, kept])
        holder, tensor = tf.get_session_tensor(handle.handle, tf.int64)
        for _ in range(3):
            assert array.tolist() == [0, 1]
            array[...] = -1
            array = sess.run(tensor, {holder: handle.handle})
