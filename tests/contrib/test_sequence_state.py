"""Sequences in segments: what a state saver hands on from one segment to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf

STEPS = np.arange(12, dtype=np.float32).reshape(6, 2)


@pytest.fixture
def sess() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _saver(**given: Any) -> Any:
    arguments: dict[str, Any] = {
        "batch_size": 1,
        "num_unroll": 3,
        "input_length": 5,
        "input_key": tf.constant("walk"),
        "input_sequences": {"steps": tf.constant(STEPS)},
        "input_context": {"place": tf.constant([7])},
        "initial_states": {"count": tf.constant(0)},
        "capacity": 4,
    }
    return tf.contrib.training.SequenceQueueingStateSaver(**{**arguments, **given})


def test_a_segment_has_the_state_that_the_one_before_it_saved(sess: Any) -> None:
    saver = _saver()
    batch = saver.next_batch
    saved = batch.save_state("count", batch.state("count") + 10)
    sess.run(saver.prefetch_op)
    fetches = [
        batch.key,
        batch.next_key,
        batch.length,
        batch.sequences["steps"],
        batch.state("count"),
    ]
    first, second = (sess.run([*fetches, saved]) for _ in range(2))
    assert (first[0][0], first[1][0]) == (b"00000_of_00002:walk", b"00001_of_00002:walk")
    assert second[1].tolist() == [b"STOP:walk"]
    assert [part[2].tolist() for part in (first, second)] == [[3], [2]]
    np.testing.assert_array_equal(np.concatenate([first[3][0], second[3][0]]), STEPS)
    assert [part[4].tolist() for part in (first, second)] == [[0], [10]]


def test_context_and_numbers_of_segments(sess: Any) -> None:
    saver = _saver()
    batch = saver.next_batch
    sess.run(saver.prefetch_op)
    fetches = [batch.context["place"], batch.sequence, batch.sequence_count, batch.total_length]
    assert [value.tolist() for value in sess.run(fetches)] == [[[7]], [0], [2], [5]]
    assert batch.sequences["steps"].shape.as_list() == [1, 3, 2]
    sess.run(saver.close())
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        sess.run(saver.prefetch_op)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
        ({"initial_states": {"a:b": 1}}, ValueError, "may not have a colon"),
        ({"input_length": [5]}, ValueError, "Rank check failed"),
        ({"input_key": 5}, TypeError, "key dtype must be string"),
        ({"capacity": 0}, ValueError, "capacity 0 needs to be >= batch_size 1"),
        ({"input_sequences": {}}, ValueError, "must have at least one sequence"),
    ],
)
def test_refused(sess: Any, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        _saver(**given)


def test_refused_when_they_run(sess: Any) -> None:
    late = {"steps": tf.placeholder_with_default(STEPS, [None, 2])}
    for given, message in (
        ({"num_unroll": 4, "input_sequences": late}, "multiple of: 4"),
        ({"input_length": 9}, "Input length should be <= than length from sequences"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(_saver(**given).prefetch_op)
    batch = _saver().next_batch
    with pytest.raises(KeyError, match="not declared"):
        batch.save_state("other", [1])


def test_batches_of_padded_and_sparse_sequences(sess: Any) -> None:
    sparse = tf.SparseTensor([[0, 0], [3, 1]], [5, 6], [5, 2])
    batch = tf.contrib.training.batch_sequences_with_states(
        input_key=tf.constant("walk"),
        input_sequences={"steps": tf.constant(STEPS[:5]), "marks": sparse},
        input_context={"flags": tf.SparseTensor([[1]], [9], [2])},
        input_length=None,
        initial_states={"count": tf.constant(0)},
        num_unroll=3,
        batch_size=1,
        num_threads=1,
    )
    saved = batch.save_state("count", batch.state("count") + 1)
    (runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    sess.run(runner.enqueue_ops)
    marks, flags = batch.sequences["marks"], batch.context["flags"]
    parts = [sess.run([batch.length, marks, flags, saved])[:3] for _ in range(2)]
    assert [length.tolist() for length, _, _ in parts] == [[3], [2]]
    assert [mark.indices.tolist() for _, mark, _ in parts] == [[[0, 0, 0]], [[0, 0, 1]]]
    assert [flag.indices.tolist() for _, _, flag in parts] == [[[0, 1]]] * 2
