"""Recurrent layers over structures of inputs and states, as TensorFlow 1.15 runs them."""

import collections

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers
Pair = collections.namedtuple("Pair", ["one", "two"])


class PairCell(L.Layer):
    """Takes a vector and a matrix in each step, and adds them up in its states."""

    state_size = Pair(one=tf.TensorShape([3]), two=tf.TensorShape([2, 4]))
    output_size = (tf.TensorShape([3]), tf.TensorShape([2, 4]))

    def build(self, shapes):
        assert [list(each)[1:] for each in shapes] == [[3], [2, 4]]
        super().build(shapes)

    def call(self, inputs, states):
        sums = Pair(one=states[0] + inputs.one, two=states[1] + inputs.two)
        return tuple(sums), sums


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_inputs_and_outputs_in_a_structure(mode):
    with mode():
        inputs = Pair(one=keras.Input((5, 3)), two=keras.Input((5, 2, 4)))
        outputs = L.RNN(PairCell())(inputs)
        model = keras.Model(list(inputs), list(outputs))
        assert model.output_shape == [(None, 3), (None, 2, 4)]
        values = [np.ones((2, 5, 3), "f"), np.ones((2, 5, 2, 4), "f")]
        one, two = model.predict(values)
        np.testing.assert_array_equal(one, np.full((2, 3), 5.0))
        np.testing.assert_array_equal(two, np.full((2, 2, 4), 5.0))


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_a_stateful_layer_that_is_given_states_knows_its_batch(mode):
    with mode():
        inputs = keras.Input(batch_shape=(1, 2, 3))
        state = keras.Input(batch_shape=(1, 4))
        layer = L.SimpleRNN(4, stateful=True)
        model = keras.Model([inputs, state], layer(inputs, initial_state=state))
        model.reset_states()
        assert layer.input_spec[0].shape[0] == 1
