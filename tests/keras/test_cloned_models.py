"""Models made of models, and what building them asks of layers."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras import cloning
from penstock.keras.engine.keras_history import uses_keras_history
from penstock.keras.layers import recurrent_v2

L = keras.layers
ROWS = np.ones((2, 3), "f")


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = L.Dense(2)

    def call(self, inputs):
        return self.dense(inputs)


def test_a_clone_may_share_layers():
    model = keras.Sequential([L.Dense(2, input_shape=(3,))])
    clone = cloning._clone_sequential_model(model, layer_fn=cloning.share_weights)
    assert clone.layers[0] is model.layers[0]
    given = keras.Input((3,))
    graph = keras.Model(given, model(given))
    shared = cloning._clone_functional_model(graph, layer_fn=cloning.share_weights)
    np.testing.assert_array_equal(shared.predict(ROWS), graph.predict(ROWS))


def test_models_that_are_not_cloned():
    sequential = keras.Sequential([L.Dense(2, input_shape=(3,))])
    given = keras.Input((3,))
    made = L.Dense(3)(given)
    for call, model in (
        (cloning._clone_functional_model, sequential),
        (cloning._clone_functional_model, None),
        (cloning._clone_sequential_model, keras.Model(given, made)),
    ):
        with pytest.raises(ValueError, match="Expected `model` argument"):
            call(model)
    with pytest.raises(ValueError, match="at most one tensor"):
        keras.models.clone_model(sequential, [given, given])
    with pytest.raises(ValueError, match="other than an `InputLayer`"):
        keras.models.clone_model(sequential, made)


def test_a_subclassed_model_is_emptied_and_filled_again():
    model = Own()
    model.compile("sgd", "mse")
    model.train_on_batch(ROWS, ROWS[:, :2])
    layer = model.dense
    with pytest.raises(ValueError, match="in_place_reset"):
        keras.models.clone_and_build_model(model)
    clone = keras.models.clone_and_build_model(model, in_place_reset=True)
    assert clone is model and model.dense is not layer
    clone.train_on_batch(ROWS, ROWS[:, :2])
    cloning.in_place_subclassed_model_state_restoration(model)
    assert model.dense is layer
    model.train_on_batch(ROWS, ROWS[:, :2])


def test_models_of_layers_are_not_emptied():
    class Nested(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = Own()

        def call(self, inputs):
            return self.inner(inputs)

    model = Nested()
    model(tf.ones((2, 3)))
    with pytest.raises(ValueError, match="nested layers"):
        cloning._in_place_subclassed_model_reset(model)


def test_the_learning_phase_of_a_function_is_that_of_its_graph():
    class Phase(L.Layer):
        @tf.function
        def call(self, inputs):
            return keras.backend.in_train_phase(
                lambda: tf.ones_like(inputs), lambda: tf.zeros_like(inputs)
            )

    model = keras.Sequential([Phase(input_shape=(1,))])
    model.compile("sgd", "mae")
    zeros = np.zeros((2, 1), "f")
    assert model.train_on_batch(zeros, zeros) == 1
    assert model.test_on_batch(zeros, zeros) == 0


def test_a_shape_is_asked_of_the_layer_itself_in_eager_mode():
    class Counting(L.Layer):
        builds = 0

        def build(self, input_shape):
            self.builds += 1

        def call(self, inputs):
            return tf.concat([inputs, inputs], axis=-1)

    with context.eager_mode():
        layer = Counting()
        assert layer.compute_output_shape((None, 3)).as_list() == [None, 6]
        layer(ROWS)
    assert layer.builds == 1


def test_tensors_of_no_layer_are_looked_at_once():
    source = tf.placeholder(tf.float32, (2, 3))
    L.Dense(1)(source)
    assert source._keras_history_checked
    assert not uses_keras_history(source)
    assert L.Masking()(tf.ones((1, 2, 3)))._keras_mask._keras_history_checked


def test_inputs_that_other_inputs_do_not_lead_to():
    given = keras.Input((3,))
    middle = L.Dense(3)(given)
    last = L.Dense(2)(middle)
    with pytest.raises(ValueError, match="Graph disconnected"):
        keras.Model(middle, last)
    keras.Model([given, middle], last)


def test_structures_of_tensors_as_arguments():
    class Sum(L.Layer):
        def call(self, inputs, more):
            return inputs + sum(more.values())

    first, second = keras.Input((1,)), keras.Input((1,))
    model = keras.Model([first, second], Sum()(first, more={"a": second, "b": tf.ones((1, 1))}))
    again = keras.Model.from_config(model.get_config(), {"Sum": Sum})
    ones = np.ones((2, 1), "f")
    np.testing.assert_array_equal(again.predict([ones, 2 * ones]), 4 * ones)


def test_what_callbacks_and_bars_are_told(capsys):
    class Noting(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.begun = logs

    model = keras.Sequential([L.Dense(1, input_shape=(3,), kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    noting = Noting()
    model.fit(ROWS, ROWS[:, :1], steps_per_epoch=1, verbose=1, callbacks=[noting])
    assert noting.begun == {}
    assert (noting.params["samples"], noting.params["batch_size"]) == (1, None)
    assert capsys.readouterr().out.startswith("Train on 1 steps")
    labels = np.array([[0.0], [2.0]], "f")
    model.evaluate(ROWS, labels, batch_size=1)
    last = capsys.readouterr().out.rstrip().rsplit("\r", 1)[-1]
    assert last.endswith("mean_absolute_error: 1.0000")


def test_areas_of_predictions_beyond_one():
    model = keras.Sequential([L.Dense(1, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[keras.metrics.AUC(name="auc")])
    assert model.evaluate(ROWS, np.array([[0.0], [1.0]], "f"), verbose=0)[1] >= 0


def test_which_recurrent_layers_cudnn_could_run():
    with context.eager_mode():
        assert recurrent_v2.LSTM(2).could_use_cudnn
        assert not recurrent_v2.GRU(2, unroll=True).could_use_cudnn
        assert not recurrent_v2.GRU(2, recurrent_activation="relu").could_use_cudnn
    layer = recurrent_v2.LSTM(2, return_runtime=True)
    assert not layer.could_use_cudnn
    output, runtime = layer(tf.ones((1, 3, 2)))
    assert output.shape.as_list() == [1, 2]
    with tf.Session() as session:
        assert session.run(runtime) == recurrent_v2._RUNTIME_UNKNOWN == 0.0
        padded = tf.constant([[True, True, False], [True, False, False]])
        helper = recurrent_v2.is_sequence_right_padded
        answers = [helper(padded, False), helper(tf.reverse(padded, [1]), False)]
        assert session.run(answers) == [True, False]
        lengths = recurrent_v2.calculate_sequence_by_mask(tf.transpose(padded), True)
        assert session.run(lengths).tolist() == [2, 1]
