"""Layers, losses and configurations are those of TensorFlow 1.15, and summaries read the same."""

import json
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.keras import layer_cases

FOLDER = Path(__file__).parent / "recorded"
with np.load(FOLDER / "layers.npz") as _file:
    ARRAYS = dict(_file)
FACTS = json.loads((FOLDER / "layers.json").read_text(encoding="utf-8"))

keras = tf.keras
layers = keras.layers


@pytest.fixture(scope="module")
def found():
    return layer_cases.values(tf)


def test_all_cases_are_recorded(found):
    assert (list(found[0]), list(found[1])) == (list(ARRAYS), list(FACTS))


@pytest.mark.parametrize("name", ARRAYS)
def test_values(name, found):
    np.testing.assert_allclose(found[0][name], ARRAYS[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", FACTS)
def test_facts(name, found):
    assert json.loads(json.dumps(found[1][name])) == FACTS[name]


@pytest.fixture
def _new_graph():
    keras.backend.clear_session()


@pytest.mark.usefixtures("_new_graph")
class TestLambda:
    """Functions stay with a configuration as long as it is in memory."""

    def test_anonymous_functions(self):
        layer = layers.Lambda(lambda x: x + 1, output_shape=(1, 1), mask=lambda x, mask: mask)
        again = layers.deserialize({"class_name": "Lambda", "config": layer.get_config()})
        assert again.function(2) == 3
        assert again.mask(None, True) is True
        assert again.compute_output_shape((5, 1, 1)).as_list() == [5, 1, 1]
        x = keras.Input((2,))
        copy = keras.models.clone_model(keras.Model(x, layers.Lambda(lambda v: v * 3)(x)))
        np.testing.assert_array_equal(copy.predict(np.ones((1, 2))), [[3, 3]])

    def test_a_file_brings_no_code(self):
        x = keras.Input((2,))
        text = keras.Model(x, layers.Lambda(lambda v: v * 3)(x)).to_json()
        with pytest.raises(ValueError, match="anonymous function"):
            keras.models.model_from_json(text)

    def test_shapes_of_structures(self):
        swapped = layers.Lambda(lambda inputs: (inputs[1]["a"], {"b": inputs[0]}))
        shapes = swapped.compute_output_shape(((10, 20), {"a": (10, 5)}))
        assert shapes == (tf.TensorShape((10, 5)), {"b": tf.TensorShape((10, 20))})
        two = layers.Lambda(lambda x: x, output_shape=[(10,), (20,)])
        assert two.compute_output_shape([(5, 1), (5, 1)]) == [(5, 10), (5, 20)]


@pytest.mark.usefixtures("_new_graph")
def test_a_model_without_weights_trains_a_step():
    model = keras.Sequential([layers.GlobalMaxPooling1D(input_shape=(3, 2))])
    model.compile("rmsprop", "mse")
    assert model.train_on_batch(np.ones((1, 3, 2)), np.zeros((1, 2))) == pytest.approx(1)


@pytest.mark.usefixtures("_new_graph")
def test_a_mask_may_be_given_by_position():
    class Counting(layers.Layer):
        def call(self, inputs, mask=None):
            return inputs

        def compute_mask(self, inputs, mask=None):
            return tf.constant(mask is not None)

    outputs = Counting()(tf.ones((1, 1)), tf.ones((1, 1)))
    assert keras.backend.get_value(outputs._keras_mask)


@pytest.mark.usefixtures("_new_graph")
def test_features_by_name():
    column = tf.feature_column.categorical_column_with_identity("kind", 3)
    features = layers.DenseFeatures(
        [tf.feature_column.numeric_column("size"), tf.feature_column.indicator_column(column)]
    )
    model = keras.Sequential([features, layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    data = {"size": np.array([[2.0], [5.0]], np.float32), "kind": np.array([[0], [2]])}
    rows = tf.data.Dataset.from_tensor_slices((data, [[3.0], [6.0]])).batch(2).repeat()
    history = model.fit(rows, steps_per_epoch=2, verbose=0)
    assert history.history["loss"] == [pytest.approx(0)]
    np.testing.assert_allclose(model.predict(data), [[3], [6]], rtol=1e-6)
    plain = keras.Sequential([layers.Dense(1)])
    plain.compile("sgd", "mse")
    with pytest.raises(ValueError, match="dictionary input to a Sequential"):
        plain.fit(data, np.ones((2, 1)))


@pytest.mark.usefixtures("_new_graph")
def test_a_stateful_convolutional_lstm_goes_on():
    model = keras.Sequential(
        [layers.ConvLSTM2D(1, 2, stateful=True, padding="same", batch_input_shape=(1, 2, 3, 3, 1))]
    )
    image = layer_cases.numbers(1, 2, 3, 3, 1)
    first, second = model.predict(image), model.predict(image)
    assert not np.allclose(first, second)
    model.reset_states()
    np.testing.assert_allclose(model.predict(image), first, rtol=1e-6)
    model.layers[0].reset_states([np.ones((1, 3, 3, 1))] * 2)
    assert not np.allclose(model.predict(image), first)
    with pytest.raises(ValueError, match="State 0 is incompatible"):
        model.layers[0].reset_states([np.ones((1, 2, 3, 1))] * 2)
