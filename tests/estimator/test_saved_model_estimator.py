"""Estimators that go on with the graphs of a SavedModel."""

from pathlib import Path

import pytest

import penstock as tf
from penstock.contrib.estimator import SavedModelEstimator

ModeKeys = tf.estimator.ModeKeys


def _pairs():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [3.0]]}, [[2.0], [6.0]])).repeat()


def _features():
    return tf.data.Dataset.from_tensors({"x": [[5.0]]})


def _model_fn(features, labels, mode):
    slope = tf.get_variable("slope", initializer=1.0)
    guess = features["x"] * slope
    if mode == ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"guess": guess})
    loss = tf.reduce_mean(tf.abs(guess - labels))
    train_op = tf.group(
        slope.assign_add(0.25), tf.train.get_global_step().assign_add(1), name="train"
    )
    metrics = {"mean_guess": tf.metrics.mean(guess)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@pytest.fixture
def exported(tmp_path: Path):
    def export(modes=(ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)):
        estimator = tf.estimator.Estimator(_model_fn, str(tmp_path / "first"))
        estimator.train(_pairs, steps=2)
        x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
        supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"x": x}, y)
        receivers = {
            ModeKeys.TRAIN: supervised,
            ModeKeys.EVAL: supervised,
            ModeKeys.PREDICT: tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x}),
        }
        return estimator.experimental_export_all_saved_models(
            str(tmp_path / "export"), {mode: receivers[mode] for mode in modes}
        )

    return export


def test_all_modes_begin_with_the_saved_values(exported, tmp_path):
    estimator = SavedModelEstimator(exported(), str(tmp_path / "second"))
    assert estimator.evaluate(_pairs, steps=1) == {
        "global_step": 2,
        "loss": 1.0,
        "metrics/mean_guess": 3.0,
    }
    assert list(estimator.predict(_features)) == [{"guess": 7.5}]


def test_training_goes_on(exported, tmp_path):
    estimator = SavedModelEstimator(exported(), str(tmp_path / "second"))
    estimator.train(_pairs, steps=2)
    assert estimator.get_variable_value("global_step") == 4
    assert estimator.get_variable_value("slope") == 2.0
    assert estimator.evaluate(_pairs, steps=1)["loss"] == 0.0


def test_modes_that_were_not_exported_are_refused(exported, tmp_path):
    estimator = SavedModelEstimator(exported([ModeKeys.EVAL]), str(tmp_path / "second"))
    with pytest.raises(RuntimeError, match="train mode is not available"):
        estimator.train(_pairs, steps=1)
    with pytest.raises(RuntimeError, match="infer mode is not available"):
        next(estimator.predict(_features))


def test_inputs_must_be_as_exported(exported, tmp_path):
    estimator = SavedModelEstimator(exported(), str(tmp_path / "second"))

    def given(x):
        return lambda: tf.data.Dataset.from_tensors(({"x": x}, [[1.0]]))

    with pytest.raises(ValueError, match="Expected dtype.*float32.*Got.*int32"):
        estimator.train(given([[1]]), steps=1)
    with pytest.raises(ValueError, match="Expected shape"):
        estimator.train(given([1.0]), steps=1)
    with pytest.raises(ValueError, match='Key "x" not found in features or labels'):
        next(estimator.predict(lambda: {"other": tf.constant([[1.0]])}))


def test_a_directory_without_variables_is_refused(tmp_path):
    with pytest.raises(ValueError, match="invalid SavedModel format"):
        SavedModelEstimator(str(tmp_path))
