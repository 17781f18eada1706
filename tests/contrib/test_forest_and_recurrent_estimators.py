"""Estimators of forests, of sequences, and of dual coordinate ascent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import layers, learn
from penstock.contrib.learn import recurrent_parts as parts
from penstock.contrib.learn import state_saving_rnn_estimator as state_saving
from penstock.contrib.learn.dynamic_rnn_estimator import dict_to_state_tuple
from penstock.contrib.linear_optimizer.sdca_estimator import SDCALinearRegressor
from penstock.contrib.tensor_forest.client import eval_metrics, random_forest
from penstock.contrib.tensor_forest.tensor_forest import ForestHParams

STEPS = [layers.real_valued_column("m", dimension=2)]
CONTEXT = [layers.real_valued_column("c")]


def _iris(**more: Any) -> Any:
    iris = learn.datasets.load_iris()

    def input_fn() -> Any:
        features = {"x": tf.constant(iris.data, tf.float32)}
        features.update({name: tf.constant(value) for name, value in more.items()})
        return features, tf.constant(iris.target)

    return input_fn


def _params(**given: Any) -> ForestHParams:
    settings = {"num_trees": 2, "max_nodes": 100, "num_classes": 3, "num_features": 4}
    settings |= {"split_after_samples": 20, "base_random_seed": 3}
    return ForestHParams(**(settings | given))


def test_a_forest_learns_to_tell_irises_apart(tmp_path: Any) -> None:
    input_fn = _iris(k=np.arange(150))
    forest = random_forest.TensorForestEstimator(
        _params(inference_tree_paths=True), model_dir=str(tmp_path), keys_column="k"
    )
    forest.fit(input_fn=input_fn, steps=40)
    assert forest.evaluate(input_fn=input_fn, steps=1)["accuracy"] > 0.8
    last = list(forest.predict(input_fn=input_fn))[-1]
    assert last["k"] == 149 and last["tree_paths"].shape == (2,)
    assert last["prediction_variance"].shape == (3,)


def test_a_forest_of_the_core(tmp_path: Any) -> None:
    forest = random_forest.CoreTensorForestEstimator(
        _params(), None, str(tmp_path), [tf.feature_column.numeric_column("x", shape=4)]
    )
    forest.train(input_fn=_iris(), steps=3)
    assert "average_loss" in forest.evaluate(input_fn=_iris(), steps=1)


def test_forests_stop_when_the_loss_is_no_better() -> None:
    step = tf.train.create_global_step()
    loss = tf.Variable(10.0)
    hook = random_forest.TensorForestLossHook(2, 0.01, loss)
    advance = tf.assign_add(step, 1)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            last = session.run(advance)
    assert last == 5


def test_metrics_of_forests_by_name() -> None:
    metric = eval_metrics.get_metric("classification_log_loss")
    assert eval_metrics.get_prediction_key("classification_log_loss") == "probabilities"
    _, update = metric(tf.constant([[0.1, 0.9], [0.6, 0.4]]), tf.constant([[1], [0]]))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update) == pytest.approx(-np.mean(np.log([0.9, 0.9, 0.6, 0.6])), 1e-4)


def _sequences(labels: Any) -> Any:
    def input_fn() -> Any:
        features = {
            "m": tf.constant(np.arange(12).reshape(2, 3, 2) / 10, tf.float32),
            "c": tf.constant([[1.0], [2.0]]),
            "sequence_length": tf.constant([2, 3]),
        }
        return features, tf.constant(labels)

    return input_fn


@pytest.mark.parametrize(
    ("prediction_type", "labels", "shape"),
    [
        (parts.PredictionType.SINGLE_VALUE, [0, 1], (3,)),
        (parts.PredictionType.MULTIPLE_VALUE, [[0, 1, 0], [1, 2, 2]], (3, 3)),
    ],
)
def test_sequences_have_classes(
    prediction_type: int, labels: Any, shape: Any, tmp_path: Any
) -> None:
    estimator = learn.DynamicRnnEstimator(
        learn.ProblemType.CLASSIFICATION,
        prediction_type,
        STEPS,
        CONTEXT,
        num_classes=3,
        num_units=[3, 2],
        cell_type="lstm",
        predict_probabilities=True,
        dropout_keep_probabilities=[1.0, 0.5, 1.0],
        model_dir=str(tmp_path),
    )
    estimator.fit(input_fn=_sequences(labels), steps=2)
    assert "accuracy" in estimator.evaluate(input_fn=_sequences(labels), steps=1)
    found = list(estimator.predict(input_fn=_sequences(labels)))
    assert found[0]["probabilities"].shape == shape
    assert found[0]["rnn_cell_state_3"].shape == (2,)


def test_wrong_recurrent_estimators() -> None:
    classes, single = learn.ProblemType.CLASSIFICATION, parts.PredictionType.SINGLE_VALUE
    with pytest.raises(ValueError, match="num_classes must be specified"):
        learn.DynamicRnnEstimator(classes, single, STEPS)
    with pytest.raises(ValueError, match="prediction_type must be one of"):
        learn.DynamicRnnEstimator(classes, 9, STEPS, num_classes=2)
    with pytest.raises(ValueError, match="num_unroll must be positive"):
        learn.StateSavingRnnEstimator(classes, 0, 1, STEPS, num_classes=2)
    with pytest.raises(ValueError, match="one greater than the number of cells"):
        parts.construct_rnn_cell(3, "gru", [0.5])
    with pytest.raises(ValueError, match="The supported cell types are"):
        parts.construct_rnn_cell(3, None)


def test_states_by_name() -> None:
    cell = tf.nn.rnn_cell.LSTMCell(3)
    given = {"rnn_cell_state_0": tf.ones([2, 3]), "rnn_cell_state_1": tf.zeros([2, 3])}
    state = dict_to_state_tuple(given, cell)
    assert isinstance(state, tf.nn.rnn_cell.LSTMStateTuple)
    assert dict_to_state_tuple({}, cell) is None
    with pytest.raises(ValueError, match="RNN state was partially specified"):
        dict_to_state_tuple({"rnn_cell_state_0": tf.ones([2, 3])}, cell)
    stacked = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.GRUCell(3)])
    assert state_saving._get_state_names(stacked) == [
        ["rnn_cell_state_0_c", "rnn_cell_state_0_h"],
        "rnn_cell_state_1",
    ]


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
def test_long_sequences_are_seen_in_parts(tmp_path: Any) -> None:
    def input_fn() -> Any:
        features = {
            "m": tf.constant(np.arange(10).reshape(5, 2) / 10, tf.float32),
            "c": tf.constant([1.0]),
        }
        return features, tf.constant([0, 1, 0, 1, 1])

    estimator = learn.StateSavingRnnEstimator(
        learn.ProblemType.CLASSIFICATION,
        2,
        1,
        STEPS,
        CONTEXT,
        num_classes=2,
        num_units=3,
        cell_type="lstm",
        model_dir=str(tmp_path),
        queue_capacity=10,
    )
    estimator.fit(input_fn=input_fn, steps=3)
    assert estimator.get_variable_value("rnn/lstm_cell/kernel").shape == (6, 12)


def test_dual_coordinate_ascent_fits_a_line(tmp_path: Any) -> None:
    def input_fn() -> Any:
        features = {
            "example_id": tf.constant(["0", "1", "2", "3"]),
            "x": tf.constant([[0.6], [0.8], [0.2], [0.1]]),
        }
        return features, tf.constant([[1.2], [1.6], [0.4], [0.2]])

    regressor = SDCALinearRegressor(
        "example_id",
        [layers.real_valued_column("x")],
        model_dir=str(tmp_path),
        l2_regularization=0.01,
    )
    regressor.fit(input_fn=input_fn, steps=20)
    found = list(regressor.predict_scores(input_fn))
    np.testing.assert_allclose(found, [0.85, 0.97, 0.59, 0.53], atol=0.03)  # those of 1.15
