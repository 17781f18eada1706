"""`tf.contrib.estimator.replicate_model_fn` and `TowerOptimizer`: one model on several devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.estimator import replication

TWO = ["/gpu:0", "/gpu:1"]
SUM, MEAN = tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN


def soft_session() -> tf.Session:
    return tf.Session(config=tf.ConfigProto(allow_soft_placement=True))


def line(features: Any, labels: Any, mode: str, wrap: Any = tf.contrib.estimator.TowerOptimizer):
    """A line through the origin, with the slope 10 at first."""
    slope = tf.get_variable("slope", dtype=tf.float64, initializer=tf.constant(10.0, tf.float64))
    predictions = features * slope
    loss = tf.reduce_sum(tf.abs(predictions - labels))
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        predictions={"values": predictions},
        eval_metric_ops={"mean": tf.metrics.mean(predictions)},
        train_op=wrap(tf.train.GradientDescentOptimizer(1.0)).minimize(loss),
    )


def spec_of(mode: str, reduction: Any = SUM, model: Any = line, batch: Any = ((1.0,), (2.0,))):
    replicated = tf.contrib.estimator.replicate_model_fn(model, reduction, devices=TWO)
    points = np.array(batch)
    return replicated(points, points, mode)


@pytest.mark.parametrize(("reduction", "loss", "slope"), [(SUM, 27.0, 7.0), (MEAN, 13.5, 8.5)])
def test_the_last_tower_applies_the_gradients_of_all(
    reduction: Any, loss: float, slope: float
) -> None:
    with tf.Graph().as_default() as graph, soft_session() as session:
        spec = spec_of(tf.estimator.ModeKeys.TRAIN, reduction)
        session.run(tf.global_variables_initializer())
        assert session.run(spec.loss) == loss
        session.run(spec.train_op)
        (variable,) = tf.global_variables()
        assert session.run(variable) == slope
        assert variable.device == "/device:CPU:0"
        assert graph.get_operation_by_name("tower_1/mul").device == "/device:GPU:1"
        assert graph.get_operation_by_name("mul").device == "/device:GPU:0"
        # What towers shared while they were built is not left for a file of the graph.
        assert not graph.get_collection(
            tf.contrib.estimator.TowerOptimizer.COLLECTION_FOR_GRAPH_STATES
        )


def test_metrics_of_towers_are_summed_and_predictions_concatenated() -> None:
    with tf.Graph().as_default(), soft_session() as session:
        spec = spec_of(tf.estimator.ModeKeys.EVAL)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        value, update = spec.eval_metric_ops["mean"]
        session.run(update)
        session.run(update)
        assert session.run(value) == 15.0
    with tf.Graph().as_default(), soft_session() as session:
        spec = spec_of(tf.estimator.ModeKeys.PREDICT)
        session.run(tf.global_variables_initializer())
        assert session.run(spec.predictions)["values"].tolist() == [[10.0], [20.0]]


def test_what_towers_cannot_do() -> None:
    train = tf.estimator.ModeKeys.TRAIN
    with tf.Graph().as_default(), pytest.raises(ValueError, match="divisible by the number of GPU"):
        spec_of(train, batch=((1.0,), (2.0,), (3.0,)))
    with pytest.raises(ValueError, match="none reduction is specified"):
        tf.contrib.estimator.replicate_model_fn(line, tf.losses.Reduction.NONE)

    def unwrapped(features: Any, labels: Any, mode: str) -> Any:
        return line(features, labels, mode, wrap=lambda optimizer: optimizer)

    with tf.Graph().as_default(), pytest.raises(ValueError, match="wrap .* with TowerOptimizer"):
        spec_of(train, model=unwrapped)

    calls = []

    def uneven(features: Any, labels: Any, mode: str) -> Any:
        calls.append(mode)
        spec = line(features, labels, mode)
        if len(calls) == 1:
            tower = tf.contrib.estimator.TowerOptimizer(tf.train.AdamOptimizer())
            tower.minimize(spec.loss)
        return spec

    with tf.Graph().as_default(), pytest.raises(ValueError, match="make the same optimizer calls"):
        spec_of(train, model=uneven)


def test_rows_are_put_one_after_the_other() -> None:
    with tf.Graph().as_default(), soft_session() as session:
        first = tf.IndexedSlices(tf.constant([1.0, 2.0]), [0, 3], dense_shape=tf.constant([4]))
        second = tf.IndexedSlices(tf.constant([3.0, 4.0]), [0, 1])
        total = replication._compute_sum_on_device([first, second], "/device:GPU:0")
        assert total.device == "/device:GPU:0"
        assert session.run(tf.convert_to_tensor(total)).tolist() == [4.0, 4.0, 0.0, 2.0]
        with pytest.raises(ValueError, match="name .* is not expected"):
            replication._compute_sum_on_device([first, second], "/device:GPU:0", name="sum")


def test_sparse_features_are_split_by_rows() -> None:
    with tf.Graph().as_default(), soft_session() as session:
        sparse = tf.SparseTensor([[0, 0], [1, 2], [2, 2]], [1.0, 2.0, 3.0], [3, 4])
        shards, labels = replication._split_batch({"x": sparse}, [5.0, 6.0], 2, "/gpu:0")
        first, second = session.run([shard["x"] for shard in shards])
        assert first.indices.tolist() == [[0, 0], [1, 2]]
        assert second.indices.tolist() == [[0, 2]]
        assert [label.tolist() for label in session.run(labels)] == [[5.0], [6.0]]
