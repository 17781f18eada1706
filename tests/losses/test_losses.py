"""`tf.losses`: refused arguments and weights, and what is collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.losses import squeezing
from penstock.losses.weights_broadcast import assert_broadcastable, broadcast_weights


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


LOSSES = [
    tf.losses.absolute_difference,
    tf.losses.hinge_loss,
    tf.losses.huber_loss,
    tf.losses.log_loss,
    tf.losses.mean_pairwise_squared_error,
    tf.losses.mean_squared_error,
    tf.losses.sigmoid_cross_entropy,
    tf.losses.softmax_cross_entropy,
]


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_may_be_missing(loss: Any) -> None:
    for arguments in ((None, tf.ones([2, 3])), (tf.ones([2, 3]), None)):
        with pytest.raises(ValueError, match="must not be None"):
            loss(*arguments)


@pytest.mark.parametrize("loss", LOSSES)
def test_shapes_must_agree(loss: Any) -> None:
    with pytest.raises(ValueError, match="incompatible"):
        loss(tf.ones([2, 3]), tf.ones([2, 2]))


@pytest.mark.parametrize("loss", LOSSES)
def test_there_must_be_weights(loss: Any) -> None:
    with pytest.raises(ValueError):
        loss(tf.ones([2, 3]), tf.ones([2, 3]), weights=None)


def test_an_axis_must_be_given() -> None:
    with pytest.raises(ValueError, match="You must specify"):
        tf.losses.cosine_distance(tf.ones([2, 3]), tf.ones([2, 3]))


def test_reductions_are_checked() -> None:
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        tf.losses.compute_weighted_loss(tf.ones([2]), reduction="most")


def test_a_loss_keeps_the_type_of_its_values() -> None:
    loss = tf.losses.compute_weighted_loss(tf.ones([2], tf.float64), weights=2.0)
    assert loss.dtype is tf.float64
    with tf.Session() as session:
        assert session.run(loss) == 2.0


def test_weights_of_zero_give_no_loss() -> None:
    loss = tf.losses.mean_squared_error(tf.ones([2, 3]), tf.zeros([2, 3]), weights=0)
    slope = tf.gradients(loss, tf.ones([2, 3]))
    with tf.Session() as session:
        assert session.run(loss) == 0.0
    assert slope == [None]


# Weights that fit

FITTING = [((), (2, 3)), ((1, 1), (2, 3)), ((2, 1), (2, 3)), ((1, 3), (2, 3)), ((2, 3), (2, 3))]
UNFITTING = [((3,), (2, 3)), ((1, 2), (2, 3)), ((2, 3, 1), (2, 3)), ((2, 3), ())]


@pytest.mark.parametrize(("weights", "values"), FITTING)
@pytest.mark.parametrize("is_static", [True, False])
def test_weights_are_broadcast(weights: Any, values: Any, is_static: bool) -> None:
    w = tf.placeholder(tf.float32, weights if is_static else None)
    v = tf.placeholder(tf.float32, values if is_static else None)
    given = np.random.RandomState(0).rand(*weights)
    with tf.Session() as session:
        feed = {w: given, v: np.ones(values)}
        session.run(assert_broadcastable(w, v), feed)
        value = session.run(broadcast_weights(w, v), feed)
    np.testing.assert_allclose(value, np.broadcast_to(given, values), rtol=1e-6)


@pytest.mark.parametrize(("weights", "values"), UNFITTING)
def test_other_weights_are_refused(weights: Any, values: Any) -> None:
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        assert_broadcastable(tf.ones(weights), tf.ones(values))
    w, v = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    check = assert_broadcastable(w, v)
    refused = pytest.raises(tf.errors.InvalidArgumentError, match="can not be broadcast")
    with tf.Session() as session, refused:
        session.run(check, {w: np.ones(weights), v: np.ones(values)})


# Ranks


@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 1, 1), ()])
def test_sample_weights_are_fitted(is_static: bool, shape: Any) -> None:
    weights = tf.placeholder(tf.float32, shape if is_static else None)
    losses = tf.placeholder(tf.float32, (4, 1) if is_static else None)
    scaled = squeezing.scale_losses_by_sample_weight(losses, weights)
    with tf.Session() as session:
        value = session.run(scaled, {weights: np.full(shape, 2.0), losses: np.ones([4, 1])})
    assert value.tolist() == [[2.0]] * 4


def test_predictions_lose_a_last_dimension_that_labels_lack() -> None:
    predictions, labels = squeezing.squeeze_or_expand_dimensions(tf.ones([4, 1]), tf.ones([4]))
    assert predictions.shape.as_list() == labels.shape.as_list() == [4]
    classes, sparse = squeezing.squeeze_or_expand_dimensions(tf.ones([4, 3]), tf.ones([4]))
    assert (classes.shape.as_list(), sparse.shape.as_list()) == ([4, 3], [4])


# Confusion matrices


@pytest.mark.parametrize(
    ("labels", "predictions", "count", "fault"),
    [
        ([-1, 0], [0, 0], None, "`labels` contains negative values"),
        ([0, 0], [0, -1], None, "`predictions` contains negative values"),
        ([3, 0], [0, 0], 3, "`labels` out of bound"),
        ([0, 0], [0, 3], 3, "`predictions` out of bound"),
    ],
)
def test_classes_are_checked(labels: Any, predictions: Any, count: Any, fault: str) -> None:
    given = tf.placeholder(tf.int64, [2])
    predicted = tf.placeholder(tf.int64, [2])
    matrix = tf.confusion_matrix(given, predicted, num_classes=count)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=fault):
        session.run(matrix, {given: labels, predicted: predictions})


def test_a_confusion_matrix_counts_weights() -> None:
    matrix = tf.confusion_matrix([[0], [1], [1]], [0, 0, 2], weights=[1, 2, 3], dtype=tf.float32)
    with tf.Session() as session:
        assert session.run(matrix).tolist() == [[1, 0, 0], [2, 0, 3], [0, 0, 0]]
