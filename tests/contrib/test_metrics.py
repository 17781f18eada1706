"""`tf.contrib.metrics`: predictions first, and metrics that `tf.metrics` lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

metrics = tf.contrib.metrics


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def streamed(metric: Any, batches: list[Any]) -> Any:
    """The value of a metric after its updates; it is made of placeholders for each batch."""
    places = [tf.placeholder(tf.float32, np.shape(each)) for each in batches[0]]
    value, update = metric(*places)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for batch in batches:
            session.run(update, dict(zip(places, batch, strict=True)))
        return session.run(value)


def test_predictions_come_first() -> None:
    # Precision and recall differ, so that exchanged arguments would show.
    batch = [[1, 1, 1, 0], [1, 0, 0, 0]]
    assert streamed(metrics.streaming_precision, [batch]) == pytest.approx(1 / 3)
    assert streamed(metrics.streaming_recall, [batch]) == pytest.approx(1)
    assert streamed(metrics.streaming_false_positive_rate, [batch]) == pytest.approx(2 / 3)


def test_covariance_and_correlation_over_batches() -> None:
    values = np.random.RandomState(0).rand(2, 12).astype(np.float32)
    values[1] += values[0]
    batches = [[values[0, i : i + 4], values[1, i : i + 4]] for i in range(0, 12, 4)]
    expected = np.cov(values)[0, 1], np.corrcoef(values)[0, 1]
    assert streamed(metrics.streaming_covariance, batches) == pytest.approx(expected[0], rel=1e-4)
    found = streamed(metrics.streaming_pearson_correlation, batches)
    assert found == pytest.approx(expected[1], rel=1e-4)


def test_kappa_of_the_textbook() -> None:
    # 20 times both say yes, 15 times both say no, 5 and 10 times they differ.
    labels = [1] * 25 + [0] * 25
    predictions = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15

    def kappa(predicted: Any, labelled: Any) -> Any:
        return metrics.cohen_kappa(tf.to_int64(labelled), tf.to_int64(predicted), 2)

    assert streamed(kappa, [[predictions, labels]]) == pytest.approx(0.4)


def test_recall_at_precision_chooses_a_threshold() -> None:
    def recall(predictions: Any, labels: Any) -> Any:
        return metrics.recall_at_precision(labels, predictions, 1.0)

    batch = [[0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]]
    assert streamed(recall, [batch]) == pytest.approx(0.5, abs=1e-5)


def test_metrics_are_gathered_by_name() -> None:
    values, updates = metrics.aggregate_metric_map({"a": (1, 2), "b": (3, 4)})
    assert values == {"a": 1, "b": 3}
    assert updates == {"a": 2, "b": 4}
    assert metrics.aggregate_metrics((1, 2), (3, 4)) == ([1, 3], [2, 4])
