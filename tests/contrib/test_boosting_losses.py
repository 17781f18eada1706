"""Losses of examples; the numbers are those of TensorFlow 1.15."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.boosted_trees import losses

BINARY = np.array([[1.0], [0.0], [1.0]], np.float32)
LOGITS = np.array([[0.3], [-2.0], [0.01]], np.float32)
WEIGHTS = np.array([[1.0], [2.0], [0.5]], np.float32)
QUANTILE_LOSS = partial(losses.per_example_quantile_regression_loss, quantile=0.3)


def _value(loss: Any) -> Any:
    value, update = loss
    with tf.Session() as session:
        session.run(update)
        return session.run(value)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (losses.per_example_logistic_loss, [0.554355, 0.253856, 0.34408]),
        (losses.per_example_exp_loss, [0.475007, 0.735759, 0.487655]),
        (losses.per_example_full_exp_loss, [0.740818, 0.270671, 0.495025]),
        (losses.per_example_squared_loss, [0.49, 8.0, 0.49005]),
        (
            partial(losses.per_example_quantile_regression_loss, quantile=0.3),
            [0.0441, 0.72, 0.044105],
        ),
        (losses.per_example_squared_hinge_loss, [0.158669]),
    ],
)
def test_losses_of_one_number(loss: Any, expected: Any) -> None:
    found = _value(loss(tf.constant(BINARY), tf.constant(WEIGHTS), tf.constant(LOGITS)))
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-4)


def test_losses_of_classes() -> None:
    logits = tf.constant([[1.0, 2.0, 3.0], [100.0, 0.0, -100.0]])
    for labels, expected in (
        ([0, 2], [[2.407606], [34.538776]]),
        ([[0, 1], [1, 2]], [[1.094344], [34.538776]]),
    ):
        found = _value(losses.per_example_maxent_loss(tf.constant(labels), None, logits, 3))
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="logits and labels must have the same shape"):
        losses.per_example_exp_loss(tf.constant([[1.0, 0.0]]), 1.0, tf.constant(LOGITS))
