"""`tf.contrib.learn.graph_actions`, and estimators for checks, clusters and parts of models."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import layers, learn
from penstock.contrib.learn import composable_model, debug, graph_actions
from penstock.contrib.learn.estimators_under_test import iris_input_multiclass_fn


class _Model:
    """A parabola in a graph of its own."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
            self.w = tf.Variable(1.0, name="w")
            self.step = tf.train.create_global_step()
            self.loss = tf.reduce_sum((self.w * self.x - 1) ** 2)
            self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss, self.step)


@pytest.fixture(autouse=True)
def _closed_writers() -> Any:
    yield
    graph_actions.clear_summary_writers()


def test_training_goes_on_from_its_checkpoint(tmp_path: Any) -> None:
    folder = str(tmp_path)
    model = _Model()
    graph_actions.train(model.graph, folder, model.train, model.loss, steps=2)
    model = _Model()
    graph_actions.train(model.graph, folder, model.train, model.loss, steps=2)
    assert os.path.basename(tf.train.latest_checkpoint(folder)) == "model.ckpt-4"
    model = _Model()
    values, step = graph_actions.evaluate(
        model.graph, folder, folder, {"loss": model.loss, "w": model.w}, max_steps=1
    )
    assert step == 4 and values["w"] == pytest.approx(0.6)
    found = graph_actions.infer(
        tf.train.latest_checkpoint(folder), {"l": model.loss}, {model.x: [0.0, 0.0]}
    )
    assert found == {"l": 2.0}


def test_training_ends_with_its_input(tmp_path: Any) -> None:
    model = _Model()
    feeds = iter([{model.x: [1.0, 1.0]}, {model.x: [2.0, 2.0]}])
    loss = graph_actions.train(
        model.graph, str(tmp_path), model.train, model.loss, feed_fn=lambda: next(feeds)
    )
    assert loss == 2.0
    assert os.path.basename(tf.train.latest_checkpoint(str(tmp_path))) == "model.ckpt-2"


def test_feeds_one_after_another() -> None:
    model = _Model()
    found = graph_actions.run_n({"l": model.loss}, {model.x: [1.0, 2.0]}, n=2)
    assert found == [{"l": 1.0}, {"l": 1.0}]
    with pytest.raises(ValueError, match="feed_dicts is invalid"):
        graph_actions.run_feeds({"l": model.loss}, [])


def test_refusals_and_losses_that_are_no_numbers(tmp_path: Any) -> None:
    model = _Model()
    with pytest.raises(ValueError, match="Missing train_op"):
        graph_actions.train(model.graph, str(tmp_path), None, model.loss)
    with pytest.raises(ValueError, match="both steps and max_steps"):
        graph_actions.train(model.graph, "x", model.train, model.loss, steps=1, max_steps=1)
    with model.graph.as_default():
        loss = model.loss * float("nan")
    with pytest.raises(learn.NanLossDuringTrainingError):
        graph_actions.train(model.graph, str(tmp_path), model.train, loss, steps=2)


def test_debug_estimators_learn_means(tmp_path: Any) -> None:
    def input_fn() -> Any:
        labels = tf.constant([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]])
        return {"a": tf.constant([1.0, 2.0, 3.0])}, labels

    regressor = debug.DebugRegressor(label_dimension=2, model_dir=str(tmp_path / "r"))
    regressor.fit(input_fn=input_fn, steps=60)
    found = list(regressor.predict_scores(input_fn=input_fn))
    np.testing.assert_allclose(found, [[2.0, 3.0]] * 3, atol=0.2)
    classifier = debug.DebugClassifier(n_classes=3, model_dir=str(tmp_path / "c"))
    classifier.fit(input_fn=iris_input_multiclass_fn, steps=2)
    shares = next(iter(classifier.predict_proba(input_fn=iris_input_multiclass_fn)))
    np.testing.assert_allclose(shares, [1 / 3] * 3, atol=1e-3)


def test_clusters(tmp_path: Any) -> None:
    def input_fn() -> Any:
        return tf.constant([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]]), None

    centers = np.array([[0.0, 0.0], [5.0, 5.0]], np.float32)
    kmeans = learn.KMeansClustering(
        2, str(tmp_path), initial_clusters=centers, use_mini_batch=False
    )
    kmeans.fit(input_fn=input_fn, steps=3)
    np.testing.assert_allclose(kmeans.clusters(), [[0.0, 0.5], [5.0, 5.5]], atol=1e-5)
    assert kmeans.score(input_fn=input_fn, steps=1) == pytest.approx(1.0, abs=1e-5)
    assert list(kmeans.predict_cluster_idx(input_fn=input_fn)) == [0, 0, 1, 1]


def test_parts_of_models_train_their_own_variables() -> None:
    features = {"age": tf.constant([[1.0], [2.0], [3.0]])}
    columns = [layers.real_valued_column("age")]
    linear = composable_model.LinearComposableModel(1)
    dnn = composable_model.DNNComposableModel(1, hidden_units=[3], dropout=0.5)
    logits = linear.build_model(features, columns, True) + dnn.build_model(features, columns, True)
    loss = tf.reduce_mean((logits - 1.0) ** 2)
    steps = [*linear.get_train_step(loss), *dnn.get_train_step(loss)]
    assert linear.get_scope_name() == "linear" and dnn.get_scope_name() == "dnn"
    assert {v.op.name.split("/")[0] for v in tf.get_collection("dnn")} == {"dnn"}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(tf.get_collection("linear"))
        session.run(steps)
        after = session.run(tf.get_collection("linear"))
    assert not np.allclose(before[0], after[0])
