"""Predictors of SavedModels and of estimators: which tensors they feed and fetch."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import predictor


@pytest.fixture
def export_dir(tmp_path):
    path = str(tmp_path / "exported")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, name="x")
        y = tf.multiply(x, 2.0, name="y")
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": y})
    return path


def test_a_saved_model(export_dir):
    by_signature = predictor.from_saved_model(export_dir)
    assert by_signature({"x": [1.0, 2.0]})["y"].tolist() == [2.0, 4.0]
    by_names = predictor.from_saved_model(
        export_dir, input_names={"in": "x:0"}, output_names={"out": "y:0"}
    )
    assert by_names({"in": 3.0}) == {"out": 6.0}
    assert isinstance(by_names, predictor.SavedModelPredictor)
    assert repr(by_names).startswith("SavedModelPredictor with feed tensors")
    with pytest.raises(ValueError, match="Got unexpected keys in input_dict"):
        by_names({"x": 1.0})
    for each in (by_signature, by_names):
        each.session.close()


def test_refused_signatures(export_dir):
    with pytest.raises(ValueError, match="must both be specified"):
        predictor.from_saved_model(export_dir, input_names={"in": "x:0"})
    names = {"in": "x:0"}
    with pytest.raises(ValueError, match="You must specify at most one of"):
        predictor.from_saved_model(export_dir, "a", input_names=names, output_names=names)
    with pytest.raises(ValueError, match='Got signature_def_key "bad"'):
        predictor.from_saved_model(export_dir, signature_def_key="bad")
    with pytest.raises(ValueError, match="Could not find MetaGraphDef"):
        predictor.get_meta_graph_def(export_dir, "other")


def _model_fn(features, labels, mode):
    total = tf.reduce_sum(features["x"], name="total") * tf.get_variable("w", initializer=3.0)
    outputs = {
        "serving_default": tf.estimator.export.PredictOutput({"total": total}),
        "negated": tf.estimator.export.PredictOutput({"negative": -total}),
    }
    step = tf.train.get_or_create_global_step().assign_add(1)
    return tf.estimator.EstimatorSpec(
        mode, predictions={"sum": total}, loss=total, train_op=step, export_outputs=outputs
    )


def _receiver():
    x = tf.placeholder(tf.float32, [None], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def test_an_estimator(tmp_path):
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path))
    estimator.train(lambda: ({"x": tf.constant([1.0])}, tf.constant(0.0)), steps=1)
    default = predictor.from_estimator(estimator, _receiver)
    np.testing.assert_allclose(default({"x": [1.0, 2.0]})["total"], 9.0)
    other = predictor.from_estimator(estimator, _receiver, output_key="negated")
    np.testing.assert_allclose(other({"x": [1.0]})["negative"], -3.0)
    for each in (default, other):
        each.session.close()
    with pytest.raises(KeyError, match="output_key must be one of"):
        predictor.from_estimator(estimator, _receiver, output_key="bad")
    learned = tf.contrib.learn.Estimator(model_fn=_model_fn, model_dir=str(tmp_path / "old"))
    with pytest.raises(TypeError, match="Expected estimator to be of type"):
        predictor.from_estimator(learned, _receiver)
