"""What `compile` and `fit` take and refuse, and what a model tells of itself afterwards."""

import logging

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.ops.graph_functions import run_functions_eagerly

L = keras.layers


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def two_outputs():
    x = keras.Input((3,))
    return keras.Model(x, [L.Dense(1, name="a")(x), L.Dense(1, name="b")(x)])


def test_parts_of_the_loss():
    model = two_outputs()
    model.compile("sgd", "mse", loss_weights={"a": 0.5, "b": 2.0})
    assert model._loss_weights_list == [0.5, 2.0]
    model.compile("sgd", "mse")
    assert model._loss_weights_list == [1.0, 1.0]


def test_tensors_as_weights_of_samples():
    x = keras.Input((1,), name="x")
    model = keras.Model(x, x)
    model.compile("sgd", "mae")
    model._compile_weights_loss_and_weighted_metrics([tf.constant([0.0, 0.5, 1.0])])
    feeds = {"x:0": np.zeros((3, 1)), "x_target:0": np.ones((3, 1))}
    assert keras.backend.get_session().run(model.total_loss, feeds) == pytest.approx(0.5)


def test_modes_of_weights_say_what_tensors_fit():
    x = keras.Input((1,))
    model = keras.Model(x, x)
    row, table = tf.constant([1.0]), tf.constant([[1.0, 2.0]])
    model.compile("sgd", "mse")
    with pytest.raises(AssertionError):
        model._prepare_sample_weights([row])
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    model._prepare_sample_weights([table])
    with pytest.raises(ValueError, match=r"Expected shape \[None, None\]"):
        model._prepare_sample_weights([row])
    with pytest.raises(ValueError, match="must have same length as the number of outputs"):
        model._prepare_sample_weights([table, table])
    model.compile("sgd", "mse", sample_weight_mode="samplewise")
    with pytest.raises(ValueError, match=r"Expected shape \[None\]"):
        model._prepare_sample_weights([table])


@pytest.mark.parametrize("argument", ["sample_weight", "class_weight"])
def test_weights_of_unknown_outputs(argument):
    model = two_outputs()
    model.compile("sgd", "mse")
    x, y = np.ones((2, 3)), np.ones((2, 1))
    known = r"Only expected following keys: \['a', 'b'\]"
    with pytest.raises(ValueError, match=rf"in {argument} dictionary: \['c'\]\. {known}"):
        model.fit(x, [y, y], verbose=0, **{argument: {"c": 1}})


def test_an_output_without_a_loss_is_warned_of(caplog):
    with caplog.at_level(logging.WARNING):
        two_outputs().compile("sgd", {"a": "mse"})
    assert "Output b missing from loss dictionary" in caplog.text


def test_validation_needs_data():
    model = two_outputs()
    model.compile("sgd", "mse")
    x, y = np.ones((2, 3)), np.ones((2, 1))
    with pytest.raises(ValueError, match="`validation_steps` should not be specified"):
        model.fit(x, [y, y], validation_steps=1)
    with pytest.raises(ValueError, match="you cannot use `validation_split`"):
        model.fit(tf.ones((2, 3)), [y, y], steps_per_epoch=1, validation_split=0.5)


def test_the_input_fixes_the_batch_size():
    x = keras.Input(batch_shape=(4, 2))
    model = keras.Model(x, L.Dense(1)(x))
    model.compile("sgd", "mse")
    batches = []
    count = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: batches.append(batch))
    data, labels = np.ones((8, 2)), np.ones((8, 1))
    model.fit(data, labels, callbacks=[count], verbose=0)
    assert batches == [0, 1]
    for method in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match="incompatible with the specified batch size"):
            method(data, labels, batch_size=2)
    other = keras.Input(batch_shape=(5, 2))
    with pytest.raises(ValueError, match="specified batch sizes of the Input Layers"):
        keras.Model([x, other], L.Concatenate(axis=0)([x, other]))


def test_steps_beside_arrays(caplog):
    model = two_outputs()
    model.compile("sgd", "mse")
    x, y = np.ones((4, 3)), np.ones((4, 1))
    with caplog.at_level(logging.WARNING):
        inputs, labels, weights = model._standardize_user_data(x, [y, y], check_steps=True, steps=2)
    assert "When passing input data as arrays, do not specify" in caplog.text
    assert (len(inputs), len(labels), weights) == (1, 2, None)
    with context.eager_mode():
        model = two_outputs()
        model.compile("sgd", "mse", run_eagerly=True, experimental_run_tf_function=False)
        with pytest.raises(ValueError, match="do not specify `steps_per_epoch`"):
            model.fit(x, [y, y], steps_per_epoch=2)


def test_what_was_trainable_when_compiled_is_trained():
    shared = L.BatchNormalization()
    x = keras.Input((2,))
    frozen = keras.Model(x, shared(x))
    shared.trainable = False
    frozen.compile("sgd", "mse")
    y = keras.Input((2,))
    trained = keras.Model(y, shared(y))
    shared.trainable = True
    trained.compile("sgd", "mse")
    data = np.arange(6.0).reshape(3, 2)
    before = frozen.predict_on_batch(data)
    frozen.train_on_batch(data, data)
    np.testing.assert_array_equal(frozen.predict_on_batch(data), before)
    trained.train_on_batch(data, data)
    assert np.abs(frozen.predict_on_batch(data) - before).max() > 1e-3
    assert shared.trainable


def test_frozen_layers_make_no_updates_in_eager_mode():
    class Counter(L.Layer):
        def build(self, input_shape):
            self.count = self.add_weight("count", (), trainable=False, initializer="zeros")

        def call(self, inputs):
            self.add_update(lambda: self.count.assign_add(1.0))
            return inputs

    with context.eager_mode():
        layer = Counter()
        layer(tf.ones((1, 1)))
        layer.trainable = False
        layer(tf.ones((1, 1)))
        assert layer.count.numpy() == 1.0


def test_models_run_eagerly_where_functions_do():
    with context.eager_mode():
        model = keras.Sequential([L.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        run_functions_eagerly(True)
        try:
            assert model.run_eagerly
        finally:
            run_functions_eagerly(False)
        assert not model.run_eagerly


def test_training_as_an_argument_without_default():
    class Phase(L.Layer):
        def call(self, inputs, training):
            return inputs + 100.0 if training else inputs

    model = keras.Sequential([Phase()])
    model.compile("sgd", "mse")
    zero = np.array([0.0])
    assert model.fit(zero, zero, verbose=0).history["loss"] == [10000.0]
    assert model.evaluate(zero, zero, verbose=0) == 0.0


def test_a_layer_that_returns_its_variable():
    class Constant(L.Layer):
        def build(self, input_shape):
            self.value = self.add_weight("value", (2, 3), initializer="ones")

        def call(self, inputs):
            return self.value

    with context.eager_mode():
        model = keras.Sequential([Constant(input_shape=(4,)), L.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((2, 4)), np.ones((2, 1)), verbose=0)
        assert len(model.trainable_weights) == 3


def test_sparse_matrices_for_dense_inputs():
    sparse = pytest.importorskip("scipy.sparse")
    x = keras.Input((3,))
    model = keras.Model(x, L.Dense(1, kernel_initializer="ones")(x))
    matrix = sparse.csr_matrix(np.float32([[0, 2, 0], [1, 0, 3]]))
    np.testing.assert_allclose(model.predict(matrix), [[2.0], [4.0]])


# Metrics ----------------------------------------------------------------------------------------


class Noting(L.Layer):
    """Adds a metric, and one through a layer inside."""

    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner
        self.noted = "outer" if inner else "inner"

    def call(self, inputs):
        if self.inner is not None:
            inputs = self.inner(inputs)
        self.add_metric(tf.reduce_sum(inputs), name=self.noted, aggregation="mean")
        return inputs


def test_metrics_of_compile_come_first_then_those_of_layers():
    x = keras.Input((1,))
    y = Noting(Noting())(x)
    model = keras.Model(x, y)
    model.add_metric(tf.reduce_sum(y), name="own", aggregation="mean")
    model.compile("sgd", "mse", metrics=[keras.metrics.Accuracy("given")])
    assert [metric.name for metric in model.metrics] == ["given", "outer", "inner", "own"]
    assert [metric.name for metric in model._compile_metrics] == ["given"]
    # As in TensorFlow 1.15, names are those of the model's own layers alone.
    assert model.metrics_names == ["loss", "given", "outer", "own"]
    data = np.full((2, 1), 3.0)
    assert model.evaluate(data, data, verbose=0) == [0.0, 1.0, 6.0, 6.0, 6.0]


def test_losses_of_outputs_are_no_metrics():
    model = two_outputs()
    model.compile("sgd", "mse", metrics=["mae"])
    names = ["a_mean_absolute_error", "b_mean_absolute_error"]
    assert [metric.name for metric in model.metrics] == names
    assert model.metrics_names == ["loss", "a_loss", "b_loss", *names]


def test_compiled_metrics_leave_added_ones_their_names():
    x = keras.Input((1,))
    model = keras.Model(x, L.Dense(1)(x))
    model.add_metric(model.output, name="m", aggregation="mean")
    model.compile("sgd", "mse", metrics=[keras.metrics.MeanSquaredError("m")])
    assert model.metrics_names == ["loss", "m_1", "m"]


def test_metrics_of_one_name():
    class Twice(keras.Model):
        def __init__(self):
            super().__init__()
            self.one = keras.metrics.Mean(name="same")
            self.other = keras.metrics.Mean(name="same")

        def call(self, inputs):
            self.add_metric(self.one(inputs), name="same")
            return inputs

    model = Twice()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match='We found 2 metrics with the name: "same"'):
        model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0)


def test_values_are_no_metrics_of_a_graph():
    with context.eager_mode():
        x = keras.Input((1,))
        model = keras.Model(x, L.Dense(1)(x))
        with pytest.raises(ValueError, match="Expected a symbolic Tensor for the metric value"):
            model.add_metric(tf.constant(1.0), name="value", aggregation="mean")


def test_metrics_reset_themselves():
    class FromOne(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="from_one")
            self.total = self.add_weight("total", initializer="ones")

        def update_state(self, y_true, y_pred, sample_weight=None):
            return self.total.assign_add(1.0)

        def result(self):
            return tf.identity(self.total)

        def reset_states(self):
            keras.backend.set_value(self.total, 1.0)

    x = keras.Input((1,))
    model = keras.Model(x, L.Dense(1)(x))
    model.compile("sgd", "mse", metrics=[FromOne()])
    ones = np.ones((2, 1))
    assert [model.evaluate(ones, ones, verbose=0)[1] for _ in range(2)] == [2.0, 2.0]


# Layers -----------------------------------------------------------------------------------------


def test_layers_with_own_arguments_tell_their_configuration():
    class Scaled(L.Layer):
        def __init__(self, factor=1.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

    class Told(Scaled):
        def get_config(self):
            return {**super(Scaled, self).get_config(), "factor": self.factor}

    with pytest.raises(NotImplementedError):
        Scaled(2.0).get_config()
    assert Told(2.0).get_config()["factor"] == 2.0


def test_one_layer_makes_a_sequence():
    assert keras.Sequential(L.Dense(4, input_dim=2)).count_params() == 12


def test_what_an_assignment_returns_is_no_weight():
    class Assigning(L.Layer):
        def build(self, input_shape):
            self.v = tf.Variable(1.0, use_resource=True)
            self.later = self.v.assign_add(1.0)

    layer = Assigning()
    layer.build((1,))
    assert len(layer.variables) == 1
