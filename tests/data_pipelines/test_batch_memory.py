"""Large results of parallel maps go straight into their batch; the batches are the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock import errors
from penstock.kernels.datasets import batch_memory
from penstock.kernels.datasets.batch_memory import BatchMemory
from penstock.kernels.datasets.rows import as_element, joined_rows

SIZE = 4


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_memory, "_LARGE", 1)


def _element(number: int) -> tuple[Any, ...]:
    return torch.full((3,), number), np.array(b"%d" % number, object)


def test_rows_in_any_order_are_one_batch() -> None:
    memory = BatchMemory(SIZE)
    rows = {number: memory.placed(number, _element(number)) for number in (2, 5, 0, 3, 1)}
    batch, words = joined_rows([rows[number] for number in range(SIZE)]) or (None, None)
    assert batch is rows[0][1][0]  # nothing was copied
    assert batch.tolist() == [[number] * 3 for number in range(SIZE)]
    assert words.tolist() == [b"0", b"1", b"2", b"3"]
    assert list(memory._batches) == [1]


def test_rows_of_other_places_are_joined_by_copying() -> None:
    memory = BatchMemory(SIZE)
    rows = [memory.placed(number, _element(number)) for number in range(6)]
    batch, _ = joined_rows(rows[1:5]) or (None, None)
    assert batch.tolist() == [[1] * 3, [2] * 3, [3] * 3, [4] * 3]
    assert as_element(rows[5])[0].tolist() == [5] * 3


def test_the_last_batch_is_shorter() -> None:
    memory = BatchMemory(SIZE)
    rows = [memory.placed(number, _element(number)) for number in range(2)]
    batch, _ = joined_rows(rows) or (None, None)
    assert batch.tolist() == [[0] * 3, [1] * 3]


def test_a_batch_is_forgotten_when_all_its_numbers_came() -> None:
    memory = BatchMemory(SIZE)
    memory.left_out(1)
    for number in (0, 2, 3):
        memory.placed(number, _element(number))
    assert not memory._batches


def _batches(dataset: Any) -> list[Any]:
    get_next = tf.data.make_one_shot_iterator(dataset).get_next()
    found: list[Any] = []
    with tf.Session() as sess:
        while True:
            try:
                found.append(sess.run(get_next).tolist())
            except errors.OutOfRangeError:
                return found
            except errors.InvalidArgumentError as error:
                found.append(error.message)


def _filled(number: Any) -> Any:
    return tf.fill([2], number)


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_batches_of_a_parallel_map(drop_remainder: bool) -> None:
    dataset = tf.data.Dataset.range(10).map(_filled, num_parallel_calls=2)
    expected = [[[n, n] for n in range(a, min(a + SIZE, 10))] for a in (0, 4, 8)]
    batches = _batches(dataset.batch(SIZE, drop_remainder=drop_remainder))
    assert batches == (expected[:2] if drop_remainder else expected)


def test_an_element_that_fails_costs_its_batch_alone() -> None:
    dataset = tf.data.Dataset.range(12).map(
        lambda number: tf.check_numerics(_filled(1.0 / tf.to_float(number - 5)), "five"),
        num_parallel_calls=2,
    )
    first, second, third = _batches(dataset.batch(SIZE))
    assert len(first) == len(third) == SIZE
    assert "five" in second
    np.testing.assert_allclose(third[3], [1 / 6] * 2)


def test_elements_of_different_shapes_are_refused_as_ever() -> None:
    dataset = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n), num_parallel_calls=2)
    (message,) = _batches(dataset.batch(SIZE))
    assert "Cannot batch tensors with different shapes in component 0" in message


def test_a_map_that_draws_numbers_goes_on_after_it_is_saved() -> None:
    def noisy(number: Any) -> Any:
        return tf.random_uniform([2], seed=3) + tf.to_float(number)

    dataset = tf.data.Dataset.range(20).map(noisy, num_parallel_calls=1).batch(SIZE)
    iterator = tf.data.make_one_shot_iterator(dataset)
    saved = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
    state = tf.placeholder(tf.variant)
    restored = tf.raw_ops.DeserializeIterator(
        resource_handle=iterator._iterator_resource, serialized=state
    )
    get_next = iterator.get_next()
    with tf.Session() as sess:
        sess.run(get_next)
        place = sess.run(saved)
        expected = [sess.run(get_next).tolist() for _ in range(2)]
        sess.run(restored, {state: place})
        assert [sess.run(get_next).tolist() for _ in range(2)] == expected
