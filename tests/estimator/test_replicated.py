"""Estimators under a distribution strategy: one step on two replicas is one on both batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

_X = np.linspace(0.0, 3.0, 24, dtype=np.float32).reshape(24, 1)


def _model(features: Any, labels: Any, mode: str) -> Any:
    y = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer(), name="d")
    loss = tf.losses.mean_squared_error(labels, y)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.MomentumOptimizer(0.05, 0.5)
        op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)


def _inputs(batch: int, times: int | None = None) -> Any:
    def input_fn(input_context: Any = None) -> Any:
        if input_context is not None:
            assert input_context.num_replicas_in_sync == 2
        data = tf.data.Dataset.from_tensor_slices((_X, 3.0 * _X + 1.0))
        return data.batch(batch).repeat(times)

    return input_fn


def _estimator(folder: Any, **strategies: Any) -> Any:
    config = tf.estimator.RunConfig(
        session_config=tf.ConfigProto(device_count={"CPU": 2}), **strategies
    )
    return tf.estimator.Estimator(_model, str(folder), config=config)


def test_training_and_evaluation_on_two_replicas(tmp_path: Any) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    two = _estimator(tmp_path / "two", train_distribute=strategy, eval_distribute=strategy)
    two.train(_inputs(4), steps=6)
    two.train(_inputs(4), steps=2)
    one = _estimator(tmp_path / "one")
    one.train(_inputs(8), steps=6)
    one.train(_inputs(8), steps=2)
    assert two.get_variable_names() == one.get_variable_names()
    for name in two.get_variable_names():
        np.testing.assert_allclose(
            two.get_variable_value(name), one.get_variable_value(name), 1e-5, err_msg=name
        )
    found, expected = two.evaluate(_inputs(4, 1)), one.evaluate(_inputs(4, 1))
    assert found["global_step"] == 8
    for name in ("mae", "loss"):
        np.testing.assert_allclose(found[name], expected[name], 1e-5)


def test_options_of_distribution(tmp_path: Any) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    options = tf.contrib.distribute.DistributeConfig(train_distribute=strategy)
    made = _estimator(tmp_path, experimental_distribute=options)
    with pytest.raises(ValueError, match=r"must return a tf\.data\.Dataset"):
        made.train(lambda: (tf.ones([4, 1]), tf.ones([4, 1])), steps=1)
    with pytest.raises(ValueError, match="may be set"):
        _estimator(tmp_path, experimental_distribute=options, train_distribute=strategy)
