"""Models that are ready, and features as layers of models."""

import numpy as np
import pytest

import penstock as tf
from penstock.eager import context

keras = tf.keras


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def test_linear_model_of_several_inputs():
    model = keras.experimental.LinearModel(kernel_initializer="zeros")
    model.compile(keras.optimizers.SGD(0.1), "mse")
    first, second = np.ones((4, 1)), np.ones((4, 2))
    model.fit([first, second], np.ones((4, 1)), batch_size=4, verbose=0)
    assert [layer.kernel.shape.as_list() for layer in model.dense_layers] == [[1, 1], [2, 1]]
    for weight in model.get_weights():
        np.testing.assert_allclose(weight, np.full(weight.shape, 0.2), rtol=1e-6)
    with pytest.raises(ValueError, match="Expected 2 inputs, but got 1 inputs"):
        model.call([keras.Input((1,))])


def test_each_half_has_its_optimizer():
    linear = keras.experimental.LinearModel(use_bias=False, kernel_initializer="zeros")
    deep = keras.Sequential([keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    model = keras.experimental.WideDeepModel(linear, deep)
    model.compile([keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.3)], "mse")
    model.fit([np.ones((1, 1)), np.ones((1, 1))], np.ones((1, 1)), verbose=0)
    np.testing.assert_allclose(linear.get_weights()[0], [[0.1]], rtol=1e-6)
    np.testing.assert_allclose(deep.get_weights()[0], [[0.3]], rtol=1e-6)


def test_described_and_made_again():
    linear = keras.experimental.LinearModel(units=2, activation="tanh")
    deep = keras.Sequential([keras.layers.Dense(2, input_dim=3)])
    model = keras.experimental.WideDeepModel(linear, deep, activation="relu")
    again = type(model).from_config(model.get_config())
    assert again.linear_model.get_config() == linear.get_config()
    assert again.dnn_model.layers[0].units == 2
    assert again.activation is keras.activations.relu


def test_features_of_the_newer_api_in_a_model():
    column = tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_identity("x", 3), 2
    )
    features = tf.compat.v2.keras.layers.DenseFeatures([column])
    model = keras.Sequential([features, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit({"x": np.array([[0], [2]])}, np.ones((2, 1)), verbose=0)
    name = "sequential/dense_features/x_embedding/embedding_weights:0"
    assert [weight.name for weight in features.weights] == [name]
    assert keras.experimental.SequenceFeatures.__mro__.count(keras.layers.Layer) == 1


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_two_optimizers_in_eager_mode(run_eagerly):
    with context.eager_mode():
        linear = keras.experimental.LinearModel(kernel_initializer="zeros")
        dense = keras.layers.Dense(1, kernel_initializer="zeros")
        model = keras.experimental.WideDeepModel(linear, keras.Sequential([dense]))
        optimizers = [keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.3)]
        model.compile(optimizers, "mse", run_eagerly=run_eagerly)
        model.fit(np.array([[1.0]]), np.array([[2.0]]), verbose=0)
        weights = np.concatenate([weight.ravel() for weight in model.get_weights()])
        np.testing.assert_allclose(weights, [0.2, 0.2, 0.6, 0.6], rtol=1e-6)
