"""Wrappers of cells that are Keras layers."""

import numpy as np
import pytest

import penstock as tf
from penstock.keras.layers import RNN, LSTMCell
from penstock.keras.layers import rnn_cell_wrapper_v2 as wrappers

X, STATE = np.ones((1, 3), "f"), np.full((1, 3), 0.1, "f")


def run(*tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def test_inputs_are_added_to_outputs():
    cell = tf.nn.rnn_cell.GRUCell(3)
    plain, _ = cell(tf.constant(X), tf.constant(STATE))
    wrapper = wrappers.ResidualWrapper(cell)
    wrapped, _ = wrapper(tf.constant(X), tf.constant(STATE))
    assert [(each.name, each.ref) for each in wrapper._checkpoint_dependencies] == [("cell", cell)]
    found, expected = run(wrapped, plain)
    np.testing.assert_allclose(found, expected + 1)


def test_a_wrapper_builds_its_cell_under_the_names_of_the_cell():
    with tf.Graph().as_default():
        cell = tf.nn.rnn_cell.GRUCell(3)
        wrapper = wrappers.DeviceWrapper(cell, "/cpu:0")
        output, _ = wrapper(tf.constant(X), tf.constant(STATE))
        assert "CPU:0" in output.device.upper()
        assert [v.op.name for v in wrapper.weights][:2] == [
            "gru_cell/gates/kernel",
            "gru_cell/gates/bias",
        ]


def test_keras_cells_in_a_layer():
    layer = RNN(wrappers.ResidualWrapper(LSTMCell(3)))
    found = layer(tf.ones((2, 4, 3)))
    assert found.shape.as_list() == [2, 3]
    names = ["rnn/" + each for each in ("kernel", "recurrent_kernel", "bias")]
    assert [v.op.name for v in layer.weights] == names


@pytest.mark.parametrize("wrapper", [wrappers.ResidualWrapper, wrappers.DropoutWrapper])
def test_configurations(wrapper):
    config = wrapper(LSTMCell(4)).get_config()
    assert wrapper.from_config(config).get_config() == config


def test_functions_of_configurations():
    config = wrappers.ResidualWrapper(LSTMCell(4), lambda i, o: i + i + o).get_config()
    assert wrappers.ResidualWrapper.from_config(config)._residual_fn(1, 2) == 4
    config = wrappers.DropoutWrapper(
        LSTMCell(4), dropout_state_filter_visitor=lambda state: False
    ).get_config()
    assert wrappers.DropoutWrapper.from_config(config)._dropout_state_filter(None) is False
