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
    assert isinstance(made.config.train_distribute, tf.distribute.MirroredStrategy)
    with pytest.raises(ValueError, match="Either `train_distribute` or .* can be set"):
        _estimator(tmp_path, experimental_distribute=options, train_distribute=strategy)


def _keras_estimator(folder: Any, optimizer: Any, replicas: int) -> Any:
    tf.keras.backend.clear_session()
    dense = tf.keras.layers.Dense(1, kernel_initializer=tf.constant_initializer(0.5), name="d")
    model = tf.keras.Sequential([tf.keras.Input([1]), dense])
    model.compile(optimizer, "mse")
    model.set_weights([np.array([[0.25]]), np.array([1.0])])
    devices = [f"/cpu:{i}" for i in range(replicas)]
    strategy = tf.distribute.MirroredStrategy(devices) if replicas > 1 else None
    config = tf.estimator.RunConfig(
        session_config=tf.ConfigProto(device_count={"CPU": 2}), train_distribute=strategy
    )
    return tf.keras.estimator.model_to_estimator(model, model_dir=str(folder), config=config)


class _Losses(tf.train.SessionRunHook):
    def __init__(self) -> None:
        self.values: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[-1])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.values.append(float(run_values.results))


def test_replicas_of_a_keras_model_start_with_its_weights_and_add_up_their_losses(
    tmp_path: Any,
) -> None:
    """A loss is a replica's share; tf.train's optimizers divide it once more, as in 1.15."""
    found = {}
    for replicas, optimizer in (1, "sgd"), (2, "sgd"), (2, tf.train.GradientDescentOptimizer(0.02)):
        folder = tmp_path / f"{replicas}_{type(optimizer).__name__}"
        made, losses = _keras_estimator(folder, optimizer, replicas), _Losses()
        made.train(_inputs(8 // replicas), steps=4, hooks=[losses])
        found[folder.name] = [*losses.values, made.get_variable_value("d/kernel").item()]
    np.testing.assert_allclose(found["2_str"], found["1_str"], 1e-5)
    first = found["1_str"][0]
    x = _X[:8]
    assert first == pytest.approx(np.mean((3 * x + 1 - (0.25 * x + 1)) ** 2), rel=1e-5)
    halved = [2 * loss for loss in found["2_GradientDescentOptimizer"][:-1]]
    np.testing.assert_allclose(halved, found["1_str"][:-1], 1e-5)
    assert found["2_GradientDescentOptimizer"][-1] == pytest.approx(found["1_str"][-1], rel=1e-5)
