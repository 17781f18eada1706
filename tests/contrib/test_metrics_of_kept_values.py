"""Metrics that keep values or count them in bins, against NumPy and TensorFlow 1.15's numbers."""

import numpy as np
import pytest

import penstock as tf

metrics = tf.contrib.metrics

SCORES = np.array([0.1, 0.4, 0.35, 0.8, 0.4, 0.9], np.float32)
LABELS = np.array([0, 0, 1, 1, 1, 0])


def pairwise_auc(labels, scores):
    """The part of (positive, negative) pairs in the right order; of equal ones half."""
    differences = scores[labels == 1][:, None] - scores[labels == 0][None, :]
    return np.mean((differences > 0) + 0.5 * (differences == 0))


def after_updates(metric, times=1):
    value, update = metric
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        for _ in range(times):
            sess.run(update)
        return sess.run(value)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat_grows(axis):
    batch = np.arange(6.0).reshape(2, 3)
    value = after_updates(metrics.streaming_concat(tf.constant(batch), axis=axis), times=4)
    np.testing.assert_array_equal(value, np.concatenate([batch] * 4, axis))


def test_concat_keeps_no_more_than_its_size():
    value, update = metrics.streaming_concat(tf.constant([1, 2, 3]), max_size=5)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        assert [sess.run(update) for _ in range(3)] == [3, 5, 5]
        assert sess.run(value).tolist() == [1, 2, 3, 1, 2]


@pytest.mark.parametrize(
    ("shape", "axis", "message"),
    [
        (None, 0, "known rank"),
        ([None, 3], 2, r"not in \[0, 2\)"),
        ([None, None], 0, "other than the dimension"),
    ],
)
def test_concat_refuses(shape, axis, message):
    with pytest.raises(ValueError, match=message):
        metrics.streaming_concat(tf.placeholder(tf.float32, shape), axis=axis)


def test_dynamic_auc_is_that_of_all_pairs():
    auc = after_updates(metrics.streaming_dynamic_auc(tf.constant(LABELS), tf.constant(SCORES)), 3)
    assert auc == pytest.approx(pairwise_auc(LABELS, SCORES))


def test_dynamic_auc_with_weights_counts_rows_that_often():
    weights = np.array([1, 2, 3, 1, 2, 1])
    labels, scores = np.repeat(LABELS, weights), np.repeat(SCORES, weights)
    for curve in ("ROC", "PR"):
        weighted = metrics.streaming_dynamic_auc(
            tf.constant(LABELS), tf.constant(SCORES), curve, weights=tf.constant(weights)
        )
        repeated = metrics.streaming_dynamic_auc(tf.constant(labels), tf.constant(scores), curve)
        assert after_updates(weighted) == pytest.approx(after_updates(repeated))


def test_auc_of_one_class_is_0():
    alike = tf.constant([1, 1]), tf.constant([0.2, 0.3])
    assert after_updates(metrics.streaming_dynamic_auc(*alike)) == 0.0
    assert after_updates(metrics.auc_with_confidence_intervals(*alike)) == (0.0, 0.0, 0.0)


def test_confidence_interval_surrounds_the_area():
    found = metrics.auc_with_confidence_intervals(tf.constant(LABELS), tf.constant(SCORES))
    once, often = after_updates(found), after_updates(found, times=5)
    assert once.auc == pytest.approx(pairwise_auc(LABELS, SCORES), abs=1e-5)
    assert 0 < once.lower < often.lower < once.auc < often.upper < once.upper < 1


def test_wrong_arguments_of_areas():
    labels, scores = tf.constant(LABELS), tf.constant(SCORES)
    with pytest.raises(ValueError, match="must be either ROC or PR, x unknown"):
        metrics.streaming_dynamic_auc(labels, scores, curve="x")
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        metrics.auc_with_confidence_intervals(labels, scores, alpha=1.5)
    with pytest.raises(ValueError, match="should have dtype bool"):
        metrics.auc_using_histogram(labels, scores, [0.0, 1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one is >1"):
        after_updates(metrics.streaming_dynamic_auc(labels + 1, scores))


def test_precision_and_recall_at_equal_thresholds():
    result = after_updates(
        metrics.precision_recall_at_equal_thresholds(
            tf.constant(LABELS > 0), tf.constant(SCORES), num_thresholds=5
        )
    )
    chosen = SCORES[:, None] >= np.linspace(0, 1, 5)
    positive = LABELS[:, None] > 0
    np.testing.assert_allclose(result.tp, (chosen & positive).sum(0))
    np.testing.assert_allclose(result.fp, (chosen & ~positive).sum(0))
    np.testing.assert_allclose(result.recall, (chosen & positive).sum(0) / 3)
    np.testing.assert_allclose(result.thresholds, np.linspace(0, 1, 5))


def test_auc_of_histograms_with_fine_bins():
    metric = metrics.auc_using_histogram(
        tf.constant(LABELS > 0), tf.constant(SCORES), [0.0, 1.0], nbins=50
    )
    assert after_updates(metric, 2) == pytest.approx(pairwise_auc(LABELS, SCORES))


def test_average_precision_of_given_choices():
    metric = metrics.streaming_sparse_average_precision_at_top_k(
        tf.constant([[1, 2, 0], [0, 1, 2]], tf.int64), tf.constant([[1], [2]], tf.int64)
    )
    assert after_updates(metric) == pytest.approx((1 + 1 / 3) / 2)
