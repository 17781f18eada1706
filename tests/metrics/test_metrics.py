"""`tf.metrics`: variables, collections, refused arguments, values before any update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def names(values: Any) -> list[str]:
    return [value.name for value in values]


def test_a_metric_has_local_variables_alone() -> None:
    tf.metrics.mean(tf.ones([4, 3]))
    assert names(tf.local_variables()) == ["mean/total:0", "mean/count:0"]
    assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == tf.local_variables()
    assert tf.global_variables() == []


@pytest.mark.parametrize("collections", [["mine"], "mine", ("mine", "yours")])
def test_values_and_updates_are_collected(collections: Any) -> None:
    ones = tf.ones([4, 3])
    value, update = tf.metrics.recall(ones, ones, metrics_collections=collections)
    assert tf.get_collection("mine") == [value]
    value, update = tf.metrics.mean(ones, updates_collections=collections)
    assert tf.get_collection("mine")[1:] == [update]


def test_metrics_of_one_name_have_variables_of_their_own() -> None:
    for _ in range(2):
        tf.metrics.mean(tf.ones([2]), name="seen")
    assert names(tf.local_variables()) == [
        "seen/total:0",
        "seen/count:0",
        "seen_1/total:0",
        "seen_1/count:0",
    ]


def test_values_are_zero_before_any_update() -> None:
    labels, predictions = tf.ones([4]), tf.ones([4])
    made = [
        tf.metrics.mean(labels),
        tf.metrics.accuracy(labels, predictions),
        tf.metrics.precision(labels, predictions),
        tf.metrics.recall(labels, predictions),
        tf.metrics.mean_iou(tf.cast(labels, tf.int32), tf.cast(predictions, tf.int32), 2),
    ]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run([value for value, _ in made]) == [0.0] * 5


def test_values_add_up_over_batches_and_do_not_change_by_reading() -> None:
    x = tf.placeholder(tf.float32, [None])
    value, update = tf.metrics.mean(x)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update, {x: [1.0, 3.0]}) == 2.0
        assert session.run(update, {x: [8.0]}) == 4.0
        assert [session.run(value) for _ in range(2)] == [4.0, 4.0]


def test_shapes_must_agree() -> None:
    for metric in (tf.metrics.accuracy, tf.metrics.mean_squared_error, tf.metrics.precision):
        with pytest.raises(ValueError, match="incompatible"):
            metric(tf.ones([4, 3]), tf.ones([4, 2]))
        with pytest.raises(ValueError):
            metric(tf.ones([4, 3]), tf.ones([4, 3]), weights=tf.ones([4, 2]))


def test_probabilities_are_checked() -> None:
    predictions = tf.placeholder(tf.float32, [2])
    _, update = tf.metrics.auc([True, False], predictions)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"
        ):
            session.run(update, {predictions: [0.5, 1.5]})


def test_arguments_are_checked() -> None:
    ones = tf.ones([4])
    with pytest.raises(ValueError, match="must be either ROC or PR"):
        tf.metrics.auc(ones, ones, curve="ROCK")
    with pytest.raises(ValueError, match="Invalid summation_method"):
        tf.metrics.auc(ones, ones, summation_method="guessing")
    with pytest.raises(ValueError, match="`specificity` must be in the range"):
        tf.metrics.sensitivity_at_specificity(ones, ones, 1.5)
    with pytest.raises(ValueError, match="`sensitivity` must be in the range"):
        tf.metrics.specificity_at_sensitivity(ones, ones, -0.5)
    with pytest.raises(ValueError, match="Invalid k=0"):
        tf.metrics.average_precision_at_k(tf.ones([4, 1], tf.int64), tf.ones([4, 3]), 0)
    with pytest.raises(ValueError, match="Unexpected labels shape"):
        tf.metrics.recall_at_k(tf.ones([4, 1, 1], tf.int64), tf.ones([4, 3]), 2)


def test_a_perfect_and_an_inverted_ranking() -> None:
    labels = tf.constant([0, 0, 1, 1])
    predictions = tf.placeholder(tf.float32, [4])
    value, update = tf.metrics.auc(labels, predictions)
    for given, area in (([0.1, 0.2, 0.8, 0.9], 1.0), ([0.9, 0.8, 0.2, 0.1], 0.0)):
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            session.run(update, {predictions: given})
            assert session.run(value) == pytest.approx(area, abs=1e-4)


def test_classes_without_predictions_do_not_count_as_relevant() -> None:
    labels = tf.constant([[1, 7]], tf.int64)
    scores = tf.constant([[0.1, 0.9, 0.5]])
    _, update = tf.metrics.average_precision_at_k(labels, scores, 2)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update) == pytest.approx(1.0)


def test_accuracy_compares_in_the_type_of_the_labels() -> None:
    strings = tf.metrics.accuracy(tf.constant([["a"], ["b"]]), tf.constant(["a", "c"]))
    numbers = tf.metrics.accuracy(tf.constant([1, 2], tf.int64), tf.constant([1.0, 3.0]))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        results = session.run([strings[1], numbers[1]])
    np.testing.assert_allclose(results, [0.5, 0.5])
