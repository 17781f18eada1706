"""Batch, BatchFunction, Unbatch and UnbatchGrad: several steps compute together."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.functions import Defun

ops = tf.raw_ops
LONG = 60_000_000  # microseconds: batches of these tests are full before that
SETTINGS = {"num_batch_threads": 1, "batch_timeout_micros": LONG, "grad_timeout_micros": LONG}


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _together(session: Any, fetches: Any, *feeds: dict[Any, Any]) -> list[Any]:
    """What steps with these feeds give that run at once; an error in the place of a result."""
    results: list[Any] = [None] * len(feeds)

    def run(number: int) -> None:
        try:
            results[number] = session.run(fetches, feeds[number])
        except tf.errors.OpError as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_one_step_gets_the_rows_of_all(session: Any) -> None:
    x = tf.placeholder(tf.int32, [None])
    names = tf.placeholder(tf.string, [None])
    batched = ops.Batch(in_tensors=[x, names], max_batch_size=3, **SETTINGS)
    assert batched.batched_tensors[0].shape.as_list() == [None]
    results = _together(session, batched, {x: [1], names: ["a"]}, {x: [2, 3], names: ["b", "c"]})
    nothing, everything = sorted(results, key=lambda result: len(result.batch_index))
    numbers, texts = everything.batched_tensors
    assert sorted(zip(numbers.tolist(), texts.tolist(), strict=True)) == [
        (1, b"a"),
        (2, b"b"),
        (3, b"c"),
    ]
    assert [len(part) for part in nothing.batched_tensors] == [0, 0]
    assert nothing.batch_index.shape == (0, 3)
    sizes = {int(result.id): size for result, size in zip(results, (1, 2), strict=True)}
    index = everything.batch_index.tolist()
    assert {key: end - start for key, start, end in index} == sizes


def test_batches_are_padded_with_their_first_row(session: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    batched = ops.Batch(
        in_tensors=[x],
        max_batch_size=8,
        allowed_batch_sizes=[4, 8],
        **{**SETTINGS, "batch_timeout_micros": 0},
    )
    [rows], index, _ = session.run(batched, {x: [[1, 2], [3, 4], [5, 6]]})
    assert rows.tolist() == [[1, 2], [3, 4], [5, 6], [1, 2]] and index[0, 1:].tolist() == [0, 3]


def test_a_task_that_does_not_fit_starts_a_batch(session: Any) -> None:
    x = tf.placeholder(tf.int32, [None])
    settings = {**SETTINGS, "batch_timeout_micros": 1000}
    batched = ops.Batch(in_tensors=[x], max_batch_size=3, **settings)
    results = _together(session, batched.batched_tensors[0], {x: [1, 1]}, {x: [2, 2]})
    assert sorted(result.tolist() for result in results) == [[1, 1], [2, 2]]


def test_rows_and_their_gradients_find_their_way_back(session: Any) -> None:
    x = tf.placeholder(tf.float32, [None])
    weight = tf.placeholder(tf.float32, [None])
    [rows], index, key = ops.Batch(in_tensors=[x], max_batch_size=2, **SETTINGS)
    squared = ops.Unbatch(
        batched_tensor=rows * rows, batch_index=index, id=key, timeout_micros=LONG
    )
    grad = ops.UnbatchGrad(original_input=rows, batch_index=index, grad=weight, id=key)
    feeds = [{x: [3.0], weight: [10.0]}, {x: [4.0], weight: [20.0]}]
    results = _together(session, [squared, grad, index, key], *feeds)
    assert [result[0].tolist() for result in results] == [[9], [16]]
    nothing, everything = sorted((result[1] for result in results), key=len)
    assert len(nothing) == 0 and sorted(everything.tolist()) == [10, 20]


def test_a_part_that_does_not_come(session: Any) -> None:
    missing = ops.Unbatch(
        batched_tensor=tf.zeros([0]),
        batch_index=tf.zeros([0, 3], tf.int64),
        id=tf.constant(1, tf.int64),
        timeout_micros=10,
    )
    with pytest.raises(tf.errors.DeadlineExceededError, match="did not arrive within timeout"):
        session.run(missing)


def test_a_batch_function(session: Any) -> None:
    sizes = []
    offset = tf.placeholder_with_default(10, [])

    def seen(x: np.ndarray) -> np.ndarray:
        sizes.append(len(x))
        return x

    @tf.nondifferentiable_batch_function(1, 3, LONG)
    def computation(x: Any) -> Any:
        assert x.shape.as_list() == [None, 1]
        counted = tf.py_func(seen, [x], tf.int32)
        counted.set_shape(x.shape)
        return counted + offset, tf.reshape(x, [-1])

    x = tf.placeholder(tf.int32, [None, 1])
    results = _together(session, computation(x), {x: [[1]]}, {x: [[2], [3]]})
    assert [[part.tolist() for part in result] for result in results] == [
        [[[11]], [1]],
        [[[12], [13]], [2, 3]],
    ]
    assert sizes == [3]


def test_an_error_is_everyones(session: Any) -> None:
    @tf.nondifferentiable_batch_function(1, 2, LONG)
    def computation(x: Any) -> Any:
        return tf.check_numerics(x, "bad")

    x = tf.placeholder(tf.float32, [None])
    results = _together(session, computation(x), {x: [1.0]}, {x: [np.nan]})
    assert all(isinstance(result, tf.errors.InvalidArgumentError) for result in results)


def test_arguments_are_tensors() -> None:
    function = tf.nondifferentiable_batch_function(1, 2, LONG)(lambda x: x)
    with pytest.raises(ValueError, match="are supposed to be Tensors; found 3"):
        function(3)


@pytest.mark.parametrize(
    ("inputs", "settings", "message"),
    [
        (([1], [1, 2]), {}, "must have equal 0th-dimension size"),
        (([1, 2, 3],), {}, "Task size 3 is larger than maximum batch size 2"),
        (([1],), {"allowed_batch_sizes": [2, 1]}, "must be monotonically increasing"),
        (([1],), {"allowed_batch_sizes": [1]}, "must equal max_batch_size"),
    ],
)
def test_refusals(session: Any, inputs: Any, settings: dict[str, Any], message: str) -> None:
    batched = ops.Batch(in_tensors=list(inputs), max_batch_size=2, **SETTINGS, **settings)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(batched.batch_index)


def test_a_function_with_other_arguments(session: Any) -> None:
    @Defun(tf.int32, tf.int32)
    def both(a: Any, b: Any) -> Any:
        return a + b

    result = ops.BatchFunction(
        in_tensors=[[1]],
        captured_tensors=[],
        f=both,
        Tout=[tf.int32],
        max_batch_size=2,
        num_batch_threads=1,
        batch_timeout_micros=0,
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="expects 2 arguments, but 1"):
        session.run(result)
