"""`TimeDistributed` and `Bidirectional` where TensorFlow 1.15 has ways of its own."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers


class Centered(L.Layer):
    """Subtracts the mean of the batch, so that it matters what is one batch."""

    def call(self, inputs):
        return inputs - tf.reduce_mean(inputs, axis=0, keepdims=True)

    def compute_output_shape(self, input_shape):
        return input_shape


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_own_layers_see_one_step_after_the_other_if_the_batch_is_known(mode):
    with mode():
        values = np.arange(12, dtype="f").reshape(2, 3, 2) ** 2
        inputs = keras.Input((3, 2), batch_size=2)
        # A mask makes no difference: the layer inside does not ask for one.
        outputs = L.TimeDistributed(Centered())(L.Masking(mask_value=-1.0)(inputs))
        assert outputs.shape.as_list() == [2, 3, 2]
        found = keras.Model(inputs, outputs).predict(values, batch_size=2)
        # As TensorFlow 1.15.5 gives them.
        half = np.array([18.0, 24.0, 30.0, 36.0, 42.0, 48.0])
        np.testing.assert_allclose(found.ravel(), np.concatenate([-half, half]))


def test_which_layers_see_all_steps_at_once():
    def at_once(layer):
        return L.TimeDistributed(layer)._always_use_reshape

    assert at_once(L.Dense(2))
    assert not at_once(Centered())
    assert not at_once(L.RNN(L.SimpleRNNCell(2), stateful=True))


def test_other_sizes_than_those_that_a_layer_was_built_for():
    layer = L.TimeDistributed(L.Dense(5))
    layer(keras.backend.placeholder((None, 10, 13)))
    with pytest.raises(ValueError, match="Input 0 is incompatible with layer .*expected shape="):
        layer(keras.backend.placeholder((None, 1, 18)))


@pytest.mark.parametrize("kind", [L.LSTM, L.GRU, L.SimpleRNN])
def test_masked_steps_of_both_directions_are_zeros(kind):
    values = np.random.RandomState(0).rand(2, 3, 5)
    values[0, 2] = 0
    inputs = keras.Input((3, 5))
    layer = L.Bidirectional(kind(3, return_sequences=True))
    found = keras.Model(inputs, layer(L.Masking()(inputs))).predict(values)
    np.testing.assert_array_equal(found[0, 2], np.zeros(6))
    assert np.all(found[1, 2] != 0)


def test_layers_on_sparse_inputs_in_eager_mode():
    from penstock.keras.layers.sequence_features import SequenceFeatures

    with context.eager_mode():
        words = tf.feature_column.sequence_categorical_column_with_vocabulary_list("b", ["x", "y"])
        column = tf.feature_column.indicator_column(words)
        inputs = {"b": keras.Input((None, 1), sparse=True, name="b", dtype="string")}
        outputs, _ = SequenceFeatures([column])(inputs)
        model = keras.Model(inputs, outputs)
        indices = [[0, 0, 0], [1, 0, 0]]
        batch = {"b": tf.SparseTensor(indices, ["y", "x"], [2, 1, 1])}
        np.testing.assert_array_equal(model.predict(batch, steps=1), [[[0, 1]], [[1, 0]]])


def test_updates_of_layers_inside_by_hand():
    from penstock.python.keras.engine import base_layer_utils

    with tf.Graph().as_default():
        inputs = keras.Input((3, 2))
        layer = L.Bidirectional(L.SimpleRNN(3))
        layer(inputs)
        with base_layer_utils.call_context().enter(layer, inputs, True, None):
            layer.forward_layer.add_update(inputs * inputs, inputs=inputs)
            layer.backward_layer.add_update(1, inputs=None)
        assert len(layer.get_updates_for(inputs)) == len(layer.get_updates_for(None)) == 1
