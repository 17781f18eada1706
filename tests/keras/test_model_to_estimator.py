"""Models as estimators."""

import numpy as np
import pytest
from penstock.python.estimator import keras as estimator_names

import penstock as tf

keras = tf.keras
to_estimator = keras.estimator.model_to_estimator
ROWS = np.ones((4, 2), np.float32)


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def dense(metrics=(), **arguments):
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,), name="d", **arguments)])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=list(metrics))
    return model


def batch(features, labels):
    return lambda: tf.data.Dataset.from_tensors((features, labels))


def test_metrics_that_are_objects_are_made_anew(tmp_path):
    model = dense([keras.metrics.MeanAbsoluteError(name="off")], kernel_initializer="zeros")
    estimator = to_estimator(model, model_dir=str(tmp_path))
    rows = batch({"d_input": ROWS}, np.ones((4, 1), np.float32))
    estimator.train(rows, steps=1)
    found = estimator.evaluate(rows, steps=1)
    assert found["off"] == pytest.approx(1 - 0.6)
    assert found["global_step"] == 1
    assert "training/SGD/iter" not in estimator.get_variable_names()


def test_weights_of_examples_and_several_outputs(tmp_path):
    first = keras.Input((2,), name="a")
    outputs = [keras.layers.Dense(1, kernel_initializer="zeros", name=n)(first) for n in "xy"]
    model = keras.Model(first, outputs)
    model.compile("sgd", "mse", metrics={"x": "mae"})
    estimator = to_estimator(model, model_dir=str(tmp_path))
    labels = {"x": np.ones((4, 1), np.float32), "y": np.full((4, 1), 2.0, np.float32)}
    weights = {"x": np.full(4, 0.5, np.float32), "y": np.zeros(4, np.float32)}
    estimator.train(batch({"features": {"a": ROWS}, "sample_weights": weights}, labels), steps=1)
    np.testing.assert_array_equal(estimator.get_variable_value("y/kernel"), np.zeros((2, 1)))
    assert estimator.get_variable_value("x/bias")[0] > 0
    found = estimator.evaluate(batch({"a": ROWS}, labels), steps=1)
    assert set(found) == {"global_step", "loss", "x_mean_absolute_error"}


def test_names_that_do_not_fit(tmp_path):
    estimator = to_estimator(dense(), model_dir=str(tmp_path))
    with pytest.raises(KeyError, match="labels does not have the expected outputs keys"):
        estimator.train(batch({"d_input": ROWS}, {"e": np.ones((4, 1), np.float32)}), steps=1)


def test_what_is_refused():
    with pytest.raises(ValueError, match="Either `keras_model` or `keras_model_path`"):
        to_estimator()
    with pytest.raises(ValueError, match="but not both"):
        to_estimator(dense(), keras_model_path="model.h5")
    with pytest.raises(ValueError, match='one of "checkpoint" or "saver"'):
        to_estimator(dense(), checkpoint_format="other")
    with pytest.raises(ValueError, match="not supported with subclassed models"):
        to_estimator(type("Own", (keras.Model,), {})(), checkpoint_format="checkpoint")


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1, kernel_initializer="zeros")

    def call(self, inputs):
        return self.dense(inputs)


def test_a_subclassed_model_lends_itself_to_the_estimator(tmp_path):
    model = Own()
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.train_on_batch(ROWS, np.ones((4, 1), np.float32))
    layer, weights = model.dense, model.get_weights()
    estimator = to_estimator(model, model_dir=str(tmp_path))
    estimator.train(batch(ROWS, np.full((4, 1), 5.0, np.float32)), steps=1)
    assert estimator.get_variable_value("own/dense/bias")[0] == pytest.approx(1.0)
    assert model.dense is layer
    np.testing.assert_array_equal(model.get_weights()[1], weights[1])
    model.train_on_batch(ROWS, np.ones((4, 1), np.float32))


@pytest.mark.parametrize("optimizer", ["rmsprop", "tf"])
def test_a_step_of_the_model_function_counts(optimizer: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        model = keras.models.Sequential([keras.layers.Dense(2, input_shape=(1,))])
        chosen = tf.train.RMSPropOptimizer(1e-3) if optimizer == "tf" else optimizer
        model.compile(loss="mse", optimizer=chosen)
        step = tf.train.create_global_step()
        model_fn = estimator_names._create_keras_model_fn(model)
        spec = model_fn(tf.ones([4, 1]), tf.ones([4, 2]), mode=tf.estimator.ModeKeys.TRAIN)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(spec.train_op)
        assert session.run(step) == 1
