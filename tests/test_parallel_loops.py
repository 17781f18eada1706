"""`pfor`: iterations that know of each other, and the shapes of what is stacked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.parallel_loops import PForConfig, for_loop, pfor, vectorized_map

ROWS = np.arange(12.0).reshape(4, 3)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _centred(i: Any, pfor_config: PForConfig, unused: int = 0) -> Any:
    row: Any = tf.gather(ROWS, i)
    return row - pfor_config.reduce_mean(row)


def _by_sums(i: Any, pfor_config: PForConfig) -> Any:
    row: Any = tf.gather(ROWS, i)
    return row - pfor_config.reduce_sum(row / 4.0)


def _by_concatenation(i: Any, pfor_config: PForConfig) -> Any:
    row: Any = tf.gather(ROWS, i)
    return row - pfor_config.reduce(lambda rows: tf.reduce_mean(rows, 0), row)


def _twice(i: Any, pfor_config: PForConfig) -> Any:
    """A value of all iterations that depends on another one."""
    row = _centred(i, pfor_config)
    return row + pfor_config.reduce_mean(row)


@pytest.mark.parametrize(
    "loop_fn",
    [_centred, _by_sums, _by_concatenation, _twice, functools.partial(_centred, unused=1)],
)
def test_iterations_know_values_of_all(loop_fn: Callable[..., Any]) -> None:
    result = pfor(loop_fn, 4)
    assert result.shape.as_list() == [4, 3]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(result), ROWS - ROWS.mean(0))


def test_as_many_iterations_as_are_fed() -> None:
    count = tf.placeholder(tf.int32, [])
    result = pfor(_centred, count)
    assert result.shape.as_list() == [None, 3]
    with tf.Session() as session:
        found = session.run(result, {count: 2})
    np.testing.assert_allclose(found, ROWS[:2] - ROWS[:2].mean(0))


def test_how_many_at_a_time() -> None:
    with pytest.raises(ValueError, match="parallel_iterations currently unsupported"):
        pfor(_centred, 4, parallel_iterations=2)
    with pytest.raises(TypeError, match="positive integer"):
        for_loop(lambda i: i, tf.int32, 4, parallel_iterations=0)


def test_static_shapes() -> None:
    mapped = vectorized_map(lambda row: tf.tensordot(row, row, 0), tf.constant(ROWS))
    assert mapped.shape.as_list() == [4, 3, 3]
    assert pfor(lambda i: tf.ones([2]), tf.constant(5)).shape.as_list() == [5, 2]


def test_slices_are_made_dense() -> None:
    def one_hot(i: Any) -> Any:
        values = tf.reshape(i + 1, [1])
        return tf.IndexedSlices(values, i, [3, 1])  # type: ignore[arg-type]

    with tf.Session() as session:
        assert session.run(pfor(one_hot, 2))[..., 0].tolist() == [[1, 0, 0], [0, 2, 0]]
