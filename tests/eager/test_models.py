"""Layers and models in eager mode."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

keras = tf.keras
X = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
Y = X.sum(axis=1, keepdims=True) * 2


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield
    keras.backend.clear_session()


def dense(**kwargs):
    return keras.layers.Dense(1, kernel_initializer="ones", **kwargs)


class Twice(keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = dense(), dense()

    def call(self, x):
        return self.second(self.first(x))


def test_a_model_is_called_with_values():
    model = Twice()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.constant(X)) ** 2)
    assert len(tape.gradient(loss, model.trainable_variables)) == 4
    assert model.variables[0].name == "twice/dense/kernel:0"


def test_a_graph_of_layers_is_built_and_called():
    entry = keras.Input((2,))
    model = keras.Model(entry, dense()(entry) * 2.0 + 1.0)
    np.testing.assert_allclose(model(tf.ones([1, 2])).numpy(), [[5.0]])
    np.testing.assert_allclose(model.predict(np.ones([1, 2])), [[5.0]])


@pytest.mark.parametrize("make", [Twice, lambda: keras.Sequential([dense(input_shape=(2,))])])
@pytest.mark.parametrize("data", ["arrays", "tensors", "dataset"])
def test_fit_is_that_of_graphs(make, data):
    def fit():
        model = make()
        model.compile(tf.train.AdamOptimizer(0.1), "mse", metrics=["mae"])
        if data == "dataset":
            source = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
            return model.fit(source, epochs=2, verbose=0).history, model
        x, y = (tf.constant(X), tf.constant(Y)) if data == "tensors" and eager else (X, Y)
        return model.fit(x, y, 2, epochs=2, shuffle=False, verbose=0).history, model

    eager = True
    history, model = fit()
    loss = model.evaluate(X, Y, verbose=0)
    np.testing.assert_allclose(model(tf.constant(X)).numpy(), model.predict(X), rtol=1e-5)
    with tf.Graph().as_default(), tf.Session():
        eager = False
        expected, model = fit()
        np.testing.assert_allclose(loss, model.evaluate(X, Y, verbose=0), rtol=1e-5)
    for key, values in expected.items():
        np.testing.assert_allclose(history[key], values, rtol=1e-5)


def test_losses_are_those_of_the_last_call():
    layer = dense(kernel_regularizer=keras.regularizers.l2(0.5))
    layer.add_loss(lambda: tf.constant(3.0))
    for _ in range(2):
        layer(tf.constant(X))
    assert sorted(loss.numpy() for loss in layer.losses) == [1.0, 3.0]


def test_updates_run():
    layer = keras.layers.BatchNormalization(momentum=0.5)
    layer(tf.constant(X), training=True)
    np.testing.assert_allclose(layer.moving_mean.numpy(), X.mean(axis=0) / 2)
    dropout = keras.layers.Dropout(0.5)
    assert (dropout(tf.ones([50])).numpy() == 1).all()
    assert (dropout(tf.ones([50]), training=True).numpy() == 0).any()


def test_metrics_count_at_once():
    mean = keras.metrics.Mean()
    assert [mean([1.0, 3.0]).numpy(), mean([5.0]).numpy()] == [2.0, 3.0]
    mean.reset_states()
    assert mean.result().numpy() == 0.0
    accuracy = tf.contrib.eager.metrics.Accuracy()
    accuracy([1, 2], [1, 3])
    assert accuracy.result().numpy() == 0.5


def test_weights_go_to_files_and_back(tmp_path):
    model = keras.Sequential([dense(input_shape=(2,))])
    model.save_weights(str(tmp_path / "w"))
    model.set_weights([np.zeros([2, 1]), np.zeros([1])])
    model.load_weights(str(tmp_path / "w"))
    np.testing.assert_array_equal(model.get_weights()[0], [[1], [1]])


def test_recurrent_layers():
    cell = tf.nn.rnn_cell.BasicLSTMCell(2)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([1, 3, 2]), dtype=tf.float32)
    assert outputs.shape.as_list() == [1, 3, 2] and len(cell.trainable_variables) == 2
    layer = keras.layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")
    np.testing.assert_allclose(layer(tf.ones([1, 3, 2])).numpy(), [[0.9935, 0.9935]], atol=1e-4)
