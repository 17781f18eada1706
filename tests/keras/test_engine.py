"""What networks know of their layers' calls, and what they refuse."""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import numpy as np
import pytest
from penstock.python.keras import backend as inner_backend
from penstock.python.keras.engine import network
from penstock.python.keras.layers import convolutional, merge, pooling, recurrent
from penstock.python.keras.saving import hdf5_format
from penstock.python.keras.utils import data_utils

import penstock as tf

keras = tf.keras
L = keras.layers


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


class Counter(L.Layer):
    """Adds up its inputs beside what it computes, and has a loss for each call."""

    def build(self, input_shape):
        self.calls = self.add_weight("calls", (1, 1), trainable=False, initializer="zeros")
        self.sum = self.add_weight("sum", (1, 1), trainable=False, initializer="zeros")
        self.add_update(tf.assign_add(self.calls, [[1.0]]))
        self.add_loss(tf.reduce_sum(self.calls))
        self.built = True

    def call(self, inputs):
        self.add_update(tf.assign_add(self.sum, inputs), inputs=True)
        self.add_loss(tf.reduce_sum(inputs), inputs=True)
        return inputs + 1.0


def test_a_shared_layer_keeps_the_updates_and_losses_of_all_calls():
    layer = Counter()
    first, second = keras.Input((1,)), keras.Input((1,))
    layer(first)
    model = keras.Model(second, layer(second))
    for all_of, of in (
        (model.updates, model.get_updates_for),
        (model.losses, model.get_losses_for),
    ):
        assert len(all_of) == 3
        assert len(of(first)) == len(of(second)) == len(of(None)) == 1
    model.add_update(tf.assign_add(layer.sum, second), inputs=True)
    assert len(model.get_updates_for(second)) == 2


def test_a_model_trains_by_the_losses_of_its_own_call():
    layer = Counter()
    layer(keras.Input((1,)))
    own = keras.Input((1,))
    model = keras.Model(own, layer(own))
    model.compile("sgd")
    assert model.train_on_batch(np.full((1, 1), 3.0), None) == 3.0


def test_nodes_of_inputs():
    tensor = keras.Input((32,))
    layer, node_index, _ = tensor._keras_history
    node = layer._inbound_nodes[node_index]
    assert node.input_tensors == node.output_tensors == [tensor]
    assert node.inbound_layers == []
    assert node.input_shapes == [(None, 32)] == layer.output_shape
    assert layer.output is tensor and layer.get_output_shape_at(0) == (None, 32)
    net = network.Network(tensor, L.Dense(2)(tensor))
    assert net._feed_input_shapes == [(None, 32)] and net._feed_inputs == [tensor]


def test_a_mask_from_a_layer_is_part_of_the_model():
    inputs, mask = keras.Input((5, 3)), keras.Input((5,))
    model = keras.Model([inputs, mask], L.LSTM(2)(inputs, mask=mask))
    again = keras.Model.from_config(model.get_config())
    outputs = again.predict([np.ones((4, 5, 3)), np.zeros((4, 5))])
    np.testing.assert_array_equal(outputs, np.zeros((4, 2)))


def test_layers_of_tf_layers_are_refused():
    inputs = keras.Input((1,))
    legacy = tf.layers.Dense(1, name="legacy")
    outputs = L.Dense(1)(legacy(inputs))
    with pytest.raises(TypeError, match=r"legacy tf\.layers\.Layers:\n  .*Dense"):
        keras.Model(inputs, outputs)
    with pytest.raises(TypeError, match=r"legacy tf\.layers\.Layers"):
        keras.Sequential([L.Dense(1), legacy])


class Dynamic(L.Layer):
    def call(self, inputs):
        return tf.stack([each * 1.0 for each in inputs])

    def compute_output_shape(self, input_shape):
        return input_shape


def test_python_control_flow_in_layers():
    inputs = keras.Input((3,))
    with pytest.raises(TypeError, match="attempting to use Python control flow"):
        Dynamic()(inputs)
    outputs = Dynamic(dynamic=True)(inputs)
    assert outputs.shape.as_list() == [None, 3]
    model = keras.Model(inputs, outputs)
    assert model.dynamic
    with pytest.raises(ValueError, match="You must enable eager execution"):
        model.compile("sgd", "mse")


def test_parts_need_an_initialized_model():
    class Forgetful(keras.Model):
        def __init__(self):
            self.parts = [L.Dense(1), L.Dense(2)]

    with pytest.raises(RuntimeError, match="forgot to call"):
        Forgetful()


def test_metrics_of_functional_models():
    inputs = keras.Input((3,))
    outputs = L.Dense(1)(inputs)
    model = keras.Model(inputs, outputs)
    with pytest.raises(ValueError, match="on a Functional Model is not supported"):
        model.add_metric(keras.metrics.Mean()(outputs))
    with pytest.raises(ValueError, match="Please provide a name for your metric"):
        model.add_metric(outputs, aggregation="mean")


def test_names_of_metrics_are_unique():
    model = keras.Sequential([L.Dense(1, input_shape=(3,))])
    q = keras.metrics.MeanSquaredError
    model.compile("sgd", "mse", metrics=["mae", "mae", q(name="q")], weighted_metrics=[q(name="q")])
    assert model.metrics_names == ["loss", "mean_absolute_error", "q", "weighted_q"]
    model.compile("sgd", "mse", metrics=[q(name="weighted_q")], weighted_metrics=[q(name="q")])
    assert model.metrics_names == ["loss", "weighted_q", "weighted_q_1"]


def test_abstract_metrics():
    class WithoutResult(keras.metrics.Metric):
        def update_state(self, values):
            return values

    with pytest.raises(TypeError, match="result"):
        WithoutResult()


def test_functions_of_models():
    model = keras.Sequential([L.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    assert model.train_function is None
    model._make_train_function()
    made = model.train_function
    model.train_on_batch(np.ones((1, 3)), np.ones((1, 2)))
    assert model.train_function is made and model.predict_function is None
    model.train_function = None
    model._make_train_function()
    assert model.train_function is not made
    assert model._feed_output_names == [model.output_names[0]]
    assert model._feed_targets == model._targets == model.targets


def test_targets_may_be_variables():
    model = keras.Sequential([L.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", target_tensors=keras.backend.variable(np.ones((4, 2))))
    assert np.isfinite(model.train_on_batch(np.ones((4, 3)), None))


def test_endless_validation_data_needs_steps():
    model = keras.Sequential([L.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")

    def batches():
        while True:
            yield np.ones((4, 3)), np.ones((4, 2))

    with pytest.raises(ValueError, match="validation_steps"):
        model.fit_generator(batches(), 1, validation_data=batches(), verbose=0)


def test_steps_of_datasets_are_announced(capsys):
    model = keras.Sequential([L.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    batches = tf.data.Dataset.from_tensors((np.ones((2, 3)), np.ones((2, 1)))).repeat()
    model.fit(batches, steps_per_epoch=2, validation_data=batches, validation_steps=3)
    assert "Train on 2 steps, validate on 3 steps\n" in capsys.readouterr().out


# Wrappers ----------------------------------------------------------------------------------------


def test_time_distributed_masks():
    inputs = keras.Input((4, 2, 3))
    masking = L.TimeDistributed(L.Masking(0.0))
    masking(inputs)
    values = np.zeros((1, 4, 2, 3))
    values[0, 1, 0] = 1.0
    mask = keras.backend.function([inputs], [masking.output_mask])([values])[0]
    assert mask.shape == (1, 4, 2) and mask.sum() == 1


def test_a_backward_layer_of_its_own():
    both = L.Bidirectional(L.LSTM(3), backward_layer=L.GRU(4, go_backwards=True))
    assert both(keras.Input((2, 5))).shape.as_list() == [None, 7]
    again = L.Bidirectional.from_config(both.get_config())
    assert isinstance(again.backward_layer, L.GRU) and again.backward_layer.units == 4
    for wrong, message in (
        (L.LSTM(3), "different `go_backwards`"),
        (L.LSTM(3, go_backwards=True, stateful=True), "the same value for attribute stateful"),
        ("no layer", "`backward_layer` need to be a `Layer` instance"),
    ):
        with pytest.raises(ValueError, match=message):
            L.Bidirectional(L.LSTM(3), backward_layer=wrong)


class ScaledCell(L.Layer):
    """Adds a constant to the state in each step."""

    def __init__(self, units: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def call(self, inputs, states, constants):
        output = states[0] + constants[0]
        return output, [output]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def test_bidirectional_constants():
    inputs, constant = keras.Input((4, 2)), keras.Input((3,))
    outputs = L.Bidirectional(L.RNN(ScaledCell(3)), merge_mode="sum")(inputs, constants=constant)
    model = keras.Model([inputs, constant], outputs)
    np.testing.assert_array_equal(
        model.predict([np.ones((1, 4, 2)), np.ones((1, 3))]), np.full((1, 3), 8.0)
    )


# Names and small parts ---------------------------------------------------------------------------


def test_inner_modules_have_what_layers_share():
    assert issubclass(convolutional.Conv2D, convolutional.Conv)
    assert issubclass(pooling.MaxPooling2D, pooling.Pooling2D)
    assert issubclass(merge.Add, merge._Merge)
    assert recurrent.LSTMCell is L.LSTMCell


def test_explicit_devices():
    with tf.device("/cpu:0"):
        assert inner_backend._is_current_explicit_device("cpu")
        assert not inner_backend._is_current_explicit_device("GPU")
    with pytest.raises(ValueError, match="device_type"):
        inner_backend._is_current_explicit_device("TPU")


def test_more_convolutions():
    x = tf.reshape(tf.range(12.0), [1, 6, 2])
    kernel = tf.ones([3, 2, 1])
    mixed = keras.backend.separable_conv1d(x, kernel, tf.ones([1, 2, 4]))
    plain = keras.backend.conv1d(x, tf.ones([3, 2, 4]))
    with tf.Session() as sess:
        np.testing.assert_allclose(*sess.run([mixed, plain]))
        volume = keras.backend.conv3d_transpose(
            tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 3, 1]), (1, 3, 3, 3, 3)
        )
        assert sess.run(volume).max() == 8.0


def test_yaml(monkeypatch):
    model = keras.Sequential([L.Dense(2, input_shape=(3,))])
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match="Requires yaml module"):
        model.to_yaml()
    # JSON is YAML, too.
    stand_in = types.SimpleNamespace(dump=json.dumps, safe_load=json.loads)
    monkeypatch.setitem(sys.modules, "yaml", stand_in)
    assert keras.models.model_from_yaml(model.to_yaml()).get_config() == model.get_config()


def test_hashes_of_files(tmp_path):
    path = str(tmp_path / "data")
    with open(path, "w") as file:
        file.write("some data")
    for algorithm in ("sha256", "md5"):
        digest = data_utils._hash_file(path, algorithm)
        assert data_utils.validate_file(path, digest)
        assert not data_utils.validate_file(path, digest[::-1], algorithm)


def test_parts_of_hdf5_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    model = keras.Sequential([L.Dense(2, input_shape=(3,))])
    expected = model.get_weights()
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        hdf5_format.save_weights_to_hdf5_group(file, model.layers)
        names = hdf5_format.load_attributes_from_hdf5_group(file, "layer_names")
        assert names == [model.layers[0].name]
        model.set_weights([np.zeros((3, 2)), np.zeros(2)])
        hdf5_format.load_weights_from_hdf5_group(file, model.layers)
    np.testing.assert_array_equal(model.get_weights()[0], expected[0])
    with pytest.raises(ValueError, match="looks like an HDF5 file"):
        model.save_weights(str(tmp_path / "weights.h5"), save_format="tf")
    lstm = L.LSTM(2)
    lstm.build((None, 4, 3))
    parts = [np.ones((3, 2)), np.ones((2, 2)), np.ones(2)] * 4
    joined = hdf5_format.preprocess_weights_for_loading(lstm, parts, original_keras_version="1")
    assert [each.shape for each in joined] == [(3, 8), (2, 8), (8,)]
