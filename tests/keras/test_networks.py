"""Models as graphs of layers: their structure, and what their configuration keeps of it."""

import logging

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def evaluated(tensors):
    session = keras.backend.get_session()
    return session.run(tensors)


def test_layers_at_the_ends():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    c = L.Add(name="c")([a, b])
    model = keras.Model([a, b], [c, L.Dense(1, name="d")(c)])
    assert [layer.name for layer in model._input_layers] == ["a", "b"]
    assert [layer.name for layer in model._output_layers] == ["c", "d"]


def test_a_function_of_a_model():
    from penstock.keras.saved_metadata import trace_model_call

    x = keras.Input((2,), name="x")
    model = keras.Model(x, L.Dense(1, kernel_initializer="ones", name="sum")(x))
    function = trace_model_call(model)
    assert function.input_signature[0].shape.as_list() == [None, 2]
    result = evaluated(function(tf.constant([[1.0, 2.0]])))
    assert list(result) == ["sum"]
    assert result["sum"] == 3.0
    with pytest.raises(ValueError, match="input shapes have not been set"):
        trace_model_call(keras.Sequential([L.Dense(1)]))


def test_inputs_that_lead_nowhere_come_before_the_last_layers():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    model = keras.Model([a, b], L.Dense(1, name="dense")(a))
    again = keras.Model.from_config(model.get_config())
    for each in (model, again):
        assert [layer.name for layer in each.layers] == ["a", "b", "dense"]


def test_dictionaries_of_inputs_and_outputs():
    inputs = {"x": keras.Input((1,)), "y": keras.Input((1,))}
    outputs = {
        "sum": L.Add()(list(inputs.values())),
        "product": L.Multiply()(list(inputs.values())),
    }
    model = keras.Model.from_config(keras.Model(inputs, outputs).get_config())
    shapes = model.compute_output_shape({"x": (None, 1), "y": (None, 1)})
    assert {name: shape.as_list() for name, shape in shapes.items()} == {
        "product": [None, 1],
        "sum": [None, 1],
    }
    results = evaluated(model({"x": tf.fill([1, 1], 2.0), "y": tf.fill([1, 1], 5.0)}))
    assert results == {"sum": 7.0, "product": 10.0}


def test_dictionaries_that_layers_are_called_on():
    inputs = {"a": keras.Input((1,), name="a"), "b": keras.Input((1,), name="b")}
    columns = [tf.feature_column.numeric_column(name) for name in ("b", "a")]
    model = keras.Model(inputs, L.DenseFeatures(columns)(inputs))
    again = keras.models.model_from_json(model.to_json())
    data = {"a": np.array([[1.0]]), "b": np.array([[2.0]])}
    for each in (model, again):
        np.testing.assert_array_equal(each.predict(data), [[1.0, 2.0]])


def test_a_model_that_names_itself():
    class Own(keras.Model):
        def __init__(self):
            super().__init__(self)

    assert Own().name == "own"


def test_operations_on_layers_outputs_as_arguments():
    class Plus(L.Layer):
        def call(self, first, second):
            return first + second

    x = keras.Input((2,))
    model = keras.Model(x, Plus()(x, x * 3.0))
    again = keras.Model.from_config(model.get_config(), custom_objects={"Plus": Plus})
    ones = np.ones((1, 2), "f")
    for each in (model, again):
        np.testing.assert_array_equal(each.predict(ones), 4 * ones)


def test_calls_for_losses_alone_survive_the_configuration():
    x, y = keras.Input((2,)), keras.Input((2,))
    shared = keras.Sequential([L.Dense(1, input_shape=(2,))])
    model = keras.Model([x, y], shared(x))
    distance = tf.reduce_sum(tf.square(model.output - shared(0.5 * y)))
    model.add_loss(distance)
    model.add_metric(distance, aggregation="mean", name="distance")
    again = keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    data = [np.ones((3, 2)), np.full((3, 2), 2.0)]
    for each in (model, again):
        each.compile("sgd", "mse")
        assert each.metrics_names == ["loss", "distance"]
    np.testing.assert_allclose(
        *(each.evaluate(data, np.zeros((3, 1)), verbose=0) for each in (model, again)), rtol=1e-6
    )


def test_arguments_of_models_of_layers():
    x = keras.Input((2,))
    with pytest.raises(TypeError, match="unexpected argument"):
        keras.Model(x, x, name="m", dtype="int64")
    assert not keras.Model(x, x, name="m", trainable=False).trainable


def test_models_that_are_not_built_have_no_ends():
    model = keras.Sequential([L.Dense(1)])
    assert (model.inputs, model.outputs) == ([], [])


def test_several_outputs_in_a_sequence():
    class Twice(L.Layer):
        def call(self, inputs):
            return inputs, inputs

    with pytest.raises(ValueError, match="should have a single output tensor"):
        keras.Sequential([Twice(input_shape=(2,))])
    with pytest.raises(TypeError, match="should have a single output tensor"):
        keras.Sequential([L.Dense(1, input_shape=(2,)), Twice()])


# Sources of batches -----------------------------------------------------------------------------


def test_data_that_ends_with_an_epoch(caplog):
    model = keras.Sequential([L.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices((np.ones((4, 2)), np.ones((4, 1)))).batch(2)
    with caplog.at_level(logging.WARNING):
        history = model.fit(data, epochs=3, steps_per_epoch=2, verbose=0).history
    assert len(history["loss"]) == 2
    assert "at least `steps_per_epoch * epochs` batches (in this case, 6 batches)" in caplog.text


def test_arrays_are_tested_in_batches_like_those_that_train():
    class Pairs(keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return np.ones((2, 2)), np.ones((2, 1))

    model = keras.Sequential([L.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    tests = []
    callback = keras.callbacks.LambdaCallback()
    callback.on_test_batch_end = lambda batch, logs: tests.append(batch)
    held_out = (np.ones((4, 2)), np.ones((4, 1)))
    model.fit(Pairs(), validation_data=held_out, callbacks=[callback], verbose=0)
    assert tests == [0, 1]


def dataset(labels, count=4):
    return tf.data.Dataset.from_tensor_slices((np.ones((count, 2), "f"), labels)).batch(2)


def two_columns():
    model = keras.Sequential([L.Dense(2, kernel_initializer="ones", input_shape=(2,), name="two")])
    model.compile("sgd", "mse")
    return model


def test_one_batch_of_a_dataset():
    model = two_columns()
    data = dataset(np.zeros((4, 2), "f"))
    np.testing.assert_array_equal(model.predict_on_batch(data), np.full((2, 2), 2.0))
    assert model.test_on_batch(data) == 4.0
    assert model.train_on_batch(data) == 4.0
    unbatched = tf.data.Dataset.from_tensors((np.ones(2, "f"), np.ones(2, "f")))
    with pytest.raises(ValueError, match=r"to have shape \(2,\) but got array with shape \(1,\)"):
        model.train_on_batch(unbatched)


def test_labels_of_datasets_may_be_broadcast():
    model = two_columns()
    labels = np.zeros(4, "f")
    assert model.evaluate(dataset(labels), verbose=0) == 4.0
    with pytest.raises(ValueError, match="A target array with shape"):
        model.evaluate(np.ones((4, 2)), labels, verbose=0)


def test_datasets_tell_their_sizes(capsys):
    labels = np.zeros((4, 2), "f")
    two_columns().fit(dataset(labels), validation_data=dataset(labels[:2], count=2))
    assert "Train on 2 steps, validate on 1 steps" in capsys.readouterr().out
    with context.eager_mode():
        model = two_columns()
        model.fit(dataset(labels))
        assert "Train" not in capsys.readouterr().out
        model.fit(dataset(labels), steps_per_epoch=1)
        assert "Train for 1 steps" in capsys.readouterr().out


def test_losses_of_single_numbers():
    x = keras.Input((2,))
    model = keras.Model(x, L.Lambda(keras.backend.sum)(x))
    model.compile("sgd", "mae")
    assert model.evaluate(np.ones((3, 2)), np.zeros((3, 1)), verbose=0) == 6.0


@pytest.mark.parametrize("which", ["weights", "trainable_weights", "non_trainable_weights"])
def test_weights_that_are_not_there_yet_are_refused(which):
    model = keras.Sequential([L.Dense(2)])
    with pytest.raises(ValueError, match=r"Weights for model .* have not yet been created"):
        getattr(model, which)
    model.build((None, 3))
    assert len(getattr(model, which)) == (0 if which.startswith("non") else 2)


class WithOwnVariables(keras.Model):
    def __init__(self):
        super().__init__()
        self.own = tf.Variable(1.0, name="own", use_resource=True)
        self.fixed = tf.Variable(1.0, name="fixed", trainable=False, use_resource=True)
        self.norm = L.BatchNormalization()

    def call(self, inputs):
        return self.norm(inputs) * self.own


def test_variables_of_layers_come_before_those_of_the_model():
    model = WithOwnVariables()
    model(tf.zeros([2, 3]))
    names = [each.name.split("/")[-1] for each in model.trainable_weights]
    assert names == ["gamma:0", "beta:0", "own:0"]
    names = [each.name.split("/")[-1] for each in model.non_trainable_weights]
    assert names == ["moving_mean:0", "moving_variance:0", "fixed:0"]


def test_a_list_of_one_tensor_is_that_tensor():
    x = keras.Input((3,))
    model = keras.Model([x], [L.Dense(2)(x)])
    assert model(x).shape.as_list() == [None, 2]
    assert L.Dense(4)(model(x)).shape.as_list() == [None, 4]
    assert model.output_shape == (None, 2)
    as_tuple = keras.Model((x,), (L.Dense(2)(x),))
    assert isinstance(as_tuple(x), tuple)
    assert keras.Model({"a": x}, {"b": model(x)})({"a": x}).keys() == {"b"}


@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
def test_a_depthwise_convolution_knows_its_shape_and_its_dilation(data_format):
    layer = L.DepthwiseConv2D(
        3, depth_multiplier=2, dilation_rate=2, padding="same", data_format=data_format
    )
    shape = (3, 8, 9, 4)
    axis = -1 if data_format == "channels_last" else 1
    assert layer.compute_output_shape(shape).as_list()[axis] == shape[axis] * 2
    again = L.DepthwiseConv2D.from_config(layer.get_config())
    assert again.dilation_rate == (2, 2)
    assert layer.compute_output_shape((3, None, None, None)).as_list() == [3, None, None, None]


def test_locally_connected_kernels_have_their_mask():
    layer = L.LocallyConnected1D(2, 3, implementation=2, data_format="channels_first")
    layer.build((None, 4, 5))
    assert layer.kernel_mask.shape == (1, 5, 1, 3)
    np.testing.assert_array_equal(layer.kernel_mask[0, :, 0, 1], [0, 1, 1, 1, 0])
    layer = L.LocallyConnected2D(2, 2, implementation=2, dtype="float64")
    assert layer(tf.zeros((1, 3, 3, 4), tf.float64)).shape.as_list() == [1, 2, 2, 2]
    assert layer.kernel_mask.shape == (3, 3, 1, 2, 2, 1)


def test_a_tensor_as_a_matrix():
    from penstock.python.keras.layers import local

    tensor = keras.backend.variable(np.zeros((2, 3, 0, 5)))
    assert evaluated(local.make_2d(tensor, 2)).shape == (6, 0)
    assert evaluated(local.make_2d(tensor, 0)).shape == (1, 0)
