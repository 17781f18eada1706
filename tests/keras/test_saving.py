"""HDF5 files: those of TensorFlow's Keras are read, those of Penstock are what they should be."""

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.keras import cases

FOLDER = Path(__file__).parent / "recorded"


@pytest.fixture(autouse=True)
def _new_graph():
    tf.keras.backend.clear_session()


@pytest.fixture(scope="module")
def recorded():
    with np.load(FOLDER / "trained.npz") as file:
        return dict(file)


def predictions(recorded, name, what="after"):
    found = [value for key, value in recorded.items() if key.startswith(f"{name}/{what}/")]
    return found[0] if len(found) == 1 else found


def same(found, expected):
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["dense", "convolutional", "lstm", "functional"])
def test_reads_files_of_tensorflow(name, recorded):
    pytest.importorskip("h5py")
    _, x, y = cases.CASES[name](tf)
    tf.keras.backend.clear_session()
    model = tf.keras.models.load_model(str(FOLDER / f"{name}.h5"))
    same(model.predict(x), predictions(recorded, name))
    # The optimizer goes on where it was: two models that learn the same.
    steps = model.optimizer.get_weights()[0]
    assert steps == cases.STEPS
    model.train_on_batch(x, y)
    assert tf.keras.backend.get_value(model.optimizer.iterations) == cases.STEPS + 1


@pytest.mark.parametrize("name", ["dense", "convolutional", "lstm", "functional"])
def test_reads_weights_of_tensorflow(name, recorded):
    pytest.importorskip("h5py")
    model, x, _ = cases.CASES[name](tf)
    model.load_weights(str(FOLDER / f"{name}.h5"))
    same(model.predict(x), predictions(recorded, name))


def test_round_trip(tmp_path):
    pytest.importorskip("h5py")
    model, x, y = cases.CASES["functional"](tf)
    model.fit(x, y, epochs=2, verbose=0)
    path = str(tmp_path / "model.h5")
    model.save(path)
    expected, weights = model.predict(x), model.optimizer.get_weights()
    tf.keras.backend.clear_session()
    again = tf.keras.models.load_model(path)
    same(again.predict(x), expected)
    same(again.optimizer.get_weights(), weights)
    assert again.metrics_names == model.metrics_names


def test_weights_by_name(tmp_path):
    pytest.importorskip("h5py")
    model, _, _ = cases.CASES["functional"](tf)
    path = str(tmp_path / "weights.h5")
    model.save_weights(path)
    kernel = model.get_layer("shared").get_weights()[0]
    tf.keras.backend.clear_session()
    other = tf.keras.Sequential([tf.keras.layers.Dense(4, name="shared", input_shape=(3,))])
    other.load_weights(path, by_name=True)
    same(other.get_weights()[0], kernel)


def test_weights_in_a_checkpoint(tmp_path):
    model, x, _ = cases.CASES["dense"](tf)
    path = str(tmp_path / "weights")
    model.save_weights(path)
    expected = model.predict(x)
    tf.keras.backend.clear_session()
    other, _, _ = cases.CASES["dense"](tf)
    other.load_weights(path)
    same(other.predict(x), expected)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path


def recurrent_model():
    cell = tf.keras.layers.LSTM(3)
    inner = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()])
    return tf.keras.Sequential([tf.keras.layers.Bidirectional(cell), inner])


def test_a_checkpoint_knows_weights_by_place_not_by_name(tmp_path):
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3)
    model = recurrent_model()
    model.build([None, 4, 3])
    expected = model.predict(x)
    path = str(tmp_path / "weights")
    model.save_weights(path)
    value = "/.ATTRIBUTES/VARIABLE_VALUE"
    assert "layer-1/layer-0/kernel" + value in dict(tf.train.list_variables(path))

    other = recurrent_model()  # the layers' names are other ones now
    other.build([None, 4, 3])
    assert {w.name for w in other.weights}.isdisjoint(w.name for w in model.weights)
    other.load_weights(path).assert_consumed()
    same(other.predict(x), expected)

    later = recurrent_model()
    later.load_weights(path)
    later.build([None, 4, 3])  # restores what it makes
    same(later.predict(x), expected)


@pytest.mark.parametrize("name", [n for n in cases.MODELS if n != "nested_model"])
def test_json(name):
    model, x, _ = cases.CASES[name](tf)
    text = model.to_json()
    weights, expected = model.get_weights(), model.predict(x)
    tf.keras.backend.clear_session()
    again = tf.keras.models.model_from_json(text)
    again.set_weights(weights)
    same(again.predict(x), expected)
    assert again.to_json() == text


def test_a_lambda_is_not_read_from_a_file():
    model, _, _ = cases.CASES["nested_model"](tf)
    text = model.to_json()
    with pytest.raises(ValueError, match="anonymous function"):
        tf.keras.models.model_from_json(text)


@pytest.mark.parametrize("name", ["dense", "functional", "gru"])
def test_clone(name):
    model, x, _ = cases.CASES[name](tf)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    same(clone.predict(x), model.predict(x))
    assert clone.layers[-1] is not model.layers[-1]


def test_sequence_features_come_back_from_a_description():
    from penstock.keras.layers.sequence_features import SequenceFeatures

    column = tf.feature_column.sequence_numeric_column("a")
    inputs = {"a": tf.keras.Input((None, 1), sparse=True, name="a")}
    outputs, _ = SequenceFeatures([column])(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.GRU(2)(outputs))
    again = tf.keras.models.model_from_json(model.to_json())
    kept = [each for each in again.layers if isinstance(each, SequenceFeatures)]
    assert kept[0].get_config() == model.layers[1].get_config()


def test_names_of_the_layers_of_a_stack_in_checkpoints():
    dense = tf.keras.layers.Dense

    def names(model):
        return [(each.name, type(each.ref).__name__) for each in model._checkpoint_dependencies]

    told = tf.keras.Sequential([dense(2, input_shape=(2,)), tf.keras.layers.Flatten()])
    assert names(told) == [
        ("layer-0", "InputLayer"),
        ("layer_with_weights-0", "Dense"),
        ("layer-1", "Dense"),
        ("layer-2", "Flatten"),
    ]
    late = tf.keras.Sequential([dense(2)])
    assert names(late) == [("layer-0", "Dense")]
    late.build((None, 2))
    assert names(late) == [("layer-0", "Dense"), ("layer_with_weights-0", "Dense")]
