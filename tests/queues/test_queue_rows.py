"""Queues keep small elements of known shapes in rows of arrays, and nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import errors
from penstock.state.queue_rows import Rows
from penstock.state.queues import FIFOQueue
from tests.queues.waiting_steps import Impatient

INT64, STRING = np.dtype(np.int64), np.dtype(object)


def _pairs(count: int, start: int = 0) -> list[np.ndarray]:
    numbers = np.arange(start, start + count)
    words = np.array([b"%d" % number for number in numbers], object)
    return [numbers, words]


def test_rows_grow_and_keep_what_they_hold() -> None:
    rows = Rows([INT64, STRING], [(), ()])
    kept = rows.keep_several(_pairs(40))
    kept += rows.keep_several(_pairs(100, 40))
    kept.append(rows.keep((np.array(140), np.array(b"140", object))))
    assert [part.item() for part in rows.element(kept[77])] == [77, b"77"]
    numbers, words = rows.batch(kept[::-1])
    np.testing.assert_array_equal(numbers, np.arange(141)[::-1])
    assert words.tolist() == [b"%d" % number for number in range(140, -1, -1)]


def test_free_rows_hold_no_strings_and_are_used_again() -> None:
    rows = Rows([INT64, STRING], [(), ()])
    for start in range(0, 1000, 10):
        rows.batch(rows.keep_several(_pairs(10, start)))
    assert len(rows._columns[0]) == 64
    rows.taken(rows.keep((np.array(1), np.array(b"one", object))))
    assert not any(rows._columns[1])


@pytest.mark.parametrize(
    ("types", "shapes"),
    [
        ([INT64], [(None,)]),
        ([INT64], [None]),
        ([INT64, None], [(), ()]),  # a type that NumPy doesn't have
        ([INT64], [(1000,)]),  # large
        ([INT64], []),
        ([], []),
    ],
)
def test_elements_that_rows_are_not_for(types: Any, shapes: Any) -> None:
    assert Rows.for_elements(types, shapes) is None


def test_a_refused_element_leaves_its_row() -> None:
    rows = Rows([INT64, STRING], [(), ()])
    queue = FIFOQueue("q", [tf.int64, tf.string], [(), ()], 4, rows=rows)
    queue.enqueue_columns(_pairs(3), Impatient())
    with pytest.raises(errors.DeadlineExceededError):
        queue.enqueue_columns(_pairs(3, 3), Impatient())
    queue.close()
    with pytest.raises(errors.CancelledError):
        queue.enqueue((np.array(9), np.array(b"9", object)), Impatient())
    assert len(queue) == 4
    assert len(rows._free) == 60
    numbers, _ = queue.dequeue_columns(4, Impatient())
    assert numbers.tolist() == [0, 1, 2, 3]


def test_dequeued_values_share_no_memory_with_the_queue() -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[[2], []])
    values, words = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.string, [None])
    enqueue, dequeue = queue.enqueue_many([values, words]), queue.dequeue_many(2)
    first = queue.dequeue()
    with tf.Session() as sess:
        given = np.arange(6, dtype=np.float32).reshape(3, 2)
        sess.run(enqueue, {values: given, words: [b"a", b"b", b"c"]})
        given[:] = -1
        one, word = sess.run(first)
        sess.run(enqueue, {values: given, words: [b"d", b"e", b"f"]})
        np.testing.assert_array_equal(one, [0, 1])
        assert word == b"a"
        some, several = sess.run(dequeue)
        np.testing.assert_array_equal(some, [[2, 3], [4, 5]])
        assert several.tolist() == [b"b", b"c"]


def _shuffled(shapes: Any) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.RandomShuffleQueue(50, 5, [tf.int32], shapes=shapes, seed=7)
        sess.run(queue.enqueue_many([np.arange(40, dtype=np.int32)]))
        sess.run(queue.close())
        dequeue = queue.dequeue()
        return [int(sess.run(dequeue)) for _ in range(40)]


def test_a_seed_gives_one_order_with_and_without_rows() -> None:
    order = _shuffled([[]])
    assert order == _shuffled(None)
    assert sorted(order) == list(range(40))


def test_a_batch_of_another_shape_is_refused() -> None:
    queue = tf.FIFOQueue(10, [tf.int32, tf.int32], shapes=[[2], []])
    wide = tf.placeholder(tf.int32)
    one, many = queue.enqueue([wide, 1]), queue.enqueue_many([wide, [1, 2]])
    with tf.Session() as sess:
        with pytest.raises(errors.InvalidArgumentError, match=r"component 0. Expected \[2\], got"):
            sess.run(one, {wide: [1, 2, 3]})
        with pytest.raises(errors.InvalidArgumentError, match=r"Expected \[3,2\], got \[3,1\]"):
            sess.run(many, {wide: [[1], [2], [3]]})
        assert sess.run(queue.size()) == 0


def test_a_saved_state_of_other_shapes_is_refused() -> None:
    rows = Rows([INT64], [(2,)])
    queue = FIFOQueue("q", [tf.int64], [(2,)], rows=rows)
    queue.enqueue((np.array([1, 2]),), Impatient())
    state = queue.snapshot()
    other = FIFOQueue("other", [tf.int64], [(3,)], rows=Rows([INT64], [(3,)]))
    with pytest.raises(errors.InvalidArgumentError, match=r"shape \[2\] can't be in 'other'"):
        other.restore(state)
    queue.enqueue((np.array([3, 4]),), Impatient())
    queue.restore(state)
    assert len(queue) == 1
    assert queue.dequeue(Impatient())[0].tolist() == [1, 2]
    assert len(rows._free) == 64
