"""LIBSVM's lines, buckets of near points, and calls that share a batch with their gradients."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import batching  # its import registers gradients
from penstock.contrib.libsvm import decode_libsvm
from penstock.contrib.nearest_neighbor import hyperplane_lsh_probes
from penstock.ops.batching import Batch, Unbatch


def _run(tensors: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensors)


def test_lines_in_any_shape() -> None:
    features, labels = decode_libsvm(
        [["1 1:3", "2"], ["3 0:1", "4\t5:7   0:1 "]], 6, tf.int64, tf.float32
    )
    assert labels.shape.as_list() == [2, 2]
    found, numbers = _run([features, labels])
    assert found.indices.tolist() == [[0, 0, 1], [1, 0, 0], [1, 1, 5], [1, 1, 0]]
    assert found.values.tolist() == [3, 1, 7, 1] and found.dense_shape.tolist() == [2, 2, 6]
    assert numbers.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", 'No label found for input\\[0\\]: ""'),
        ("a 1:2", "Label format incorrect: a"),
        ("1 a:2", "Feature format incorrect: a:2"),
        ("1 1:", "Feature format incorrect: 1:"),
        ("1 -1:1", "Feature index should be >= 0, got -1"),
        ("1 1", 'Invalid feature "1"'),
    ],
)
def test_wrong_lines(line: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(decode_libsvm([line], 3))


def test_buckets_in_the_order_of_distance() -> None:
    products = np.array([[0.1, -0.5, 2.0], [-1.0, 0.3, 0.2]], np.float32)
    probes, tables = _run(hyperplane_lsh_probes(products, 1, 3, 8))
    # The nearest hyperplanes are crossed first: of the first point that of the highest bit.
    assert probes.tolist() == [[5, 1, 7, 3, 4, 0, 6, 2], [3, 2, 1, 0, 7, 6, 5, 4]]
    assert tables.tolist() == [[0] * 8] * 2


def test_own_buckets_of_all_tables_come_first() -> None:
    products = np.array([[5.0, 0.1, -4.0, 3.0]])
    probes, tables = _run(hyperplane_lsh_probes(products, 2, 2, 4))
    assert probes.tolist() == [[3, 1, 2, 0]] and tables.tolist() == [[0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 4, 1), "num_tables must be at least 1 but got 0"),
        ((2, 3, 1), "Expected number of hyperplanes is 6 but received 4"),
        (([2], 2, 1), "Need a scalar num_tables tensor, got 1 dimensions"),
        ((1, 4, 0), "num_probes must be at least 1"),
    ],
)
def test_wrong_numbers_of_hyperplanes(sizes: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(hyperplane_lsh_probes(np.zeros((1, 4), np.float32), *sizes))


def test_gradients_go_back_to_their_callers() -> None:
    assert callable(batching.batch_function)
    given = tf.placeholder(tf.float32, [1])
    batched, index, number = Batch(
        [given],
        num_batch_threads=1,
        max_batch_size=2,
        batch_timeout_micros=36000000,
        grad_timeout_micros=1000000,
        batching_queue="",
    )
    squared = Unbatch(
        batched[0] * batched[0], index, number, timeout_micros=1000000, shared_name="unbatch"
    )
    (gradient,) = tf.gradients(squared, given)
    others: list[Any] = []
    with tf.Session() as session:
        thread = threading.Thread(
            target=lambda: others.append(session.run(gradient, {given: [1.0]}))
        )
        thread.start()
        own = session.run(gradient, {given: [2.0]})
        thread.join()
    assert own.tolist() == [4.0] and others[0].tolist() == [2.0]
