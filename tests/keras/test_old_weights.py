"""Weights of files of Keras 1, and of other backends, for today's layers."""

import numpy as np
import pytest

import penstock as tf
from penstock.keras.hdf5_names import preprocess_weights_for_loading

layers = tf.keras.layers


def _values(layer):
    random = np.random.RandomState(0)
    values = [random.uniform(size=weight.shape.as_list()) for weight in layer.weights]
    return values


def _built(layer):
    tf.keras.Sequential([layer])
    return layer


@pytest.mark.parametrize(
    ("layer", "to_old"),
    [
        (
            lambda: layers.Conv2DTranspose(2, 3, input_shape=(5, 5, 4)),
            lambda kernel: kernel.transpose(0, 1, 3, 2),
        ),
        (
            lambda: layers.Conv2DTranspose(
                2, 3, input_shape=(4, 5, 5), data_format="channels_first"
            ),
            lambda kernel: kernel.transpose(2, 3, 0, 1),
        ),
        (
            lambda: layers.Conv3D(
                2, (3, 2, 1), input_shape=(4, 5, 5, 5), data_format="channels_first"
            ),
            lambda kernel: kernel.transpose(4, 3, 0, 1, 2),
        ),
    ],
)
def test_kernels_of_keras_1(layer, to_old):
    layer = _built(layer())
    kernel, bias = _values(layer)
    found = preprocess_weights_for_loading(layer, [to_old(kernel), bias], "1")
    np.testing.assert_array_equal(found[0], kernel)
    model = tf.keras.Sequential([layer])
    found = preprocess_weights_for_loading(model, [to_old(kernel), bias], "1")
    np.testing.assert_array_equal(found[0], kernel)


def test_gates_of_keras_1():
    layer = _built(layers.ConvLSTM2D(2, 3, input_shape=(4, 5, 5, 3)))
    new = _values(layer)
    i, f, c, o = zip(*(np.split(value, 4, axis=-1) for value in new), strict=True)
    found = preprocess_weights_for_loading(layer, [*i, *c, *f, *o], "1")
    for one, other in zip(found, new, strict=True):
        np.testing.assert_array_equal(one, other)


def test_theano_turns_both_kernels_of_a_convolutional_lstm():
    layer = _built(layers.ConvLSTM2D(2, 3, input_shape=(4, 5, 5, 3)))
    values = _values(layer)
    found = preprocess_weights_for_loading(layer, values, "2", "theano")
    for one, other in zip(found[:2], values[:2], strict=True):
        np.testing.assert_array_equal(one, other[::-1, ::-1])


def test_models_in_models_have_trained_weights_first():
    model = tf.keras.Sequential([layers.BatchNormalization(input_shape=(3,)), layers.Dense(2)])
    values = _values(model)
    found = preprocess_weights_for_loading(model, values, "2")
    for one, other in zip(found, values, strict=True):
        np.testing.assert_array_equal(one, other)
