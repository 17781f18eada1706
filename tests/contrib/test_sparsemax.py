"""`tf.contrib.sparsemax`: projections, their gradient, and rows that have none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf

INF, NAN = float("inf"), float("nan")


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def projected(row: np.ndarray) -> np.ndarray:
    """The nearest distribution, by bisection of the threshold."""
    low, high = row.min() - 1, row.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - low, 0)


def test_rows_are_projected_on_the_distributions() -> None:
    logits = np.random.RandomState(1).randn(20, 6) * 2
    found = run(tf.contrib.sparsemax.sparsemax(logits))
    np.testing.assert_allclose(found, [projected(row) for row in logits], atol=1e-9)
    assert (found == 0).any()


def test_the_gradient_of_the_loss_is_the_difference() -> None:
    logits = tf.constant(np.random.RandomState(2).randn(5, 4))
    labels = np.eye(4)[[0, 1, 2, 3, 0]]
    found = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, found, labels)
    gradient, difference = run([tf.gradients(loss, logits)[0], found - labels])
    np.testing.assert_allclose(gradient, difference, atol=1e-12)


def test_infinite_logits() -> None:
    rows = [[INF, 1.0], [NAN, 1.0], [-INF, -INF], [-INF, 1.0]]
    found = run(tf.contrib.sparsemax.sparsemax(rows))
    np.testing.assert_array_equal(found, [[NAN] * 2, [NAN] * 2, [NAN] * 2, [0, 1]])
    loss = tf.contrib.sparsemax.sparsemax_loss([[-INF, 1.0]], [[0.0, 1.0]], [[0.0, 1.0]])
    assert run(loss) == [0]
