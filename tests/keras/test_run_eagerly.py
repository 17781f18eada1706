"""Models that run eagerly, and what eager mode asks of models that run as graphs."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers

MODES = pytest.mark.parametrize("eagerly", [True, False])


class Squares(L.Layer):
    """Squares the rows whose sum is positive, by Python's control flow."""

    def call(self, inputs):
        return tf.stack([row**2 if tf.reduce_sum(row) > 0 else row for row in inputs])

    def compute_output_shape(self, input_shape):
        return input_shape


def one_layer(**kwargs):
    return keras.Sequential(
        [L.Dense(1, kernel_initializer="ones", input_shape=(2,), **kwargs)], name="one_layer"
    )


@MODES
def test_a_step_is_the_same_in_both_ways(eagerly):
    with context.eager_mode():
        model = one_layer(kernel_regularizer=keras.regularizers.l2(0.5))
        sgd = keras.optimizers.SGD(0.1, momentum=0.9)
        model.compile(sgd, "mse", metrics=["mae"], run_eagerly=eagerly)
        assert model.run_eagerly is eagerly
        x, y = np.ones((4, 2), "f"), np.zeros((4, 1), "f")
        weights = np.array([1.0, 1.0, 0.0, 2.0])
        loss, error = model.train_on_batch(x, y, sample_weight=weights)
        assert (loss, error) == pytest.approx((4.0 + 1.0, 2.0))
        assert keras.backend.get_value(sgd.iterations) == 1
        np.testing.assert_allclose(model.get_weights()[0], [[0.5], [0.5]], rtol=1e-6)
        history = model.fit(x, y, batch_size=2, epochs=2, verbose=0, validation_data=(x, y))
        error = "mean_absolute_error"
        assert sorted(history.history) == ["loss", error, "val_loss", f"val_{error}"]
        assert model.predict(x).shape == (4, 1)


def test_dynamic_layers_run_eagerly():
    with context.eager_mode():
        model = keras.Sequential([Squares(dynamic=True), L.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        assert model.run_eagerly
        x = np.array([[1.0, 2.0], [-1.0, -2.0]], "f")
        assert model.test_on_batch(x, np.array([[5.0], [-3.0]])) == pytest.approx(0.0)
        with pytest.raises(ValueError, match="You cannot set `run_eagerly=False`"):
            model.compile("sgd", "mse", run_eagerly=False)


def test_a_dynamic_model_need_not_say_its_shape():
    class Chooser(keras.Model):
        def __init__(self):
            super().__init__(dynamic=True)
            self.layer = L.Dense(3)

        def call(self, inputs):
            return self.layer(inputs) if tf.reduce_sum(inputs) > 0 else inputs

    with context.eager_mode():
        model = Chooser()
        model.compile("sgd", "mse")
        model.train_on_batch(np.ones((2, 3)), np.ones((2, 3)))
        assert model.outputs == [None]


def test_running_eagerly_needs_eager_mode():
    with pytest.raises(ValueError, match="if eager execution is enabled"):
        one_layer().compile("sgd", "mse", run_eagerly=True)


@MODES
def test_callbacks_and_generators_run_in_eager_mode(eagerly):
    seen = []

    def batches():
        while True:
            seen.append(tf.executing_eagerly())
            yield np.ones((2, 2)), np.ones((2, 1))

    note = keras.callbacks.LambdaCallback(
        on_batch_end=lambda batch, logs: seen.append(tf.executing_eagerly())
    )
    with context.eager_mode():
        model = one_layer()
        model.compile("sgd", "mse", run_eagerly=eagerly)
        model.fit_generator(batches(), steps_per_epoch=2, callbacks=[note], verbose=0)
    assert len(seen) >= 4 and all(seen)


@MODES
def test_losses_and_metrics_added_to_a_network_are_layers_of_it(eagerly):
    with context.eager_mode():
        inputs = keras.Input((2,))
        outputs = L.Dense(1, kernel_initializer="ones")(inputs)
        model = keras.Model(inputs, outputs)
        model.add_loss(tf.reduce_sum(outputs))
        model.add_metric(tf.reduce_max(outputs), name="largest", aggregation="mean")
        kinds = [type(layer).__name__ for layer in model.layers]
        assert kinds[2:] == ["TensorFlowOpLayer", "AddLoss", "TensorFlowOpLayer", "AddMetric"]
        model.compile("sgd", "mse", run_eagerly=eagerly)
        x, y = np.ones((3, 2)), np.zeros((3, 1))
        assert model.train_on_batch(x, y) == pytest.approx([4.0 + 6.0, 2.0])
        again = keras.Model.from_config(model.get_config())
        assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
        copy = keras.models.clone_model(model)
        copy.set_weights([np.ones((2, 1)), np.zeros(1)])
        copy.compile("sgd", "mse", run_eagerly=eagerly)
        assert copy.test_on_batch(x, y) == pytest.approx([4.0 + 6.0, 2.0])


def test_a_metric_of_a_layer_is_one_for_all_calls():
    class Summed(L.Layer):
        def call(self, inputs):
            self.add_metric(tf.reduce_sum(inputs), name="sum", aggregation="mean")
            return inputs

    with context.eager_mode():
        layer = Summed()
        layer(tf.ones((2, 2)))
        layer(tf.zeros((2, 2)))
        assert [metric.result().numpy() for metric in layer.metrics] == [2.0]


def test_losses_of_a_function_are_those_of_its_call():
    with context.eager_mode():
        model = one_layer(activity_regularizer="l2", kernel_regularizer="l2")

        @tf.function
        def total(x):
            model(x)
            return tf.add_n(model.losses), len(model.losses)

        value, count = total(tf.ones((1, 2)))
        assert count.numpy() == 2
        assert value.numpy() == pytest.approx(0.01 * 4 + 0.01 * 2)


@MODES
def test_effects_of_a_call(eagerly):
    class Counter(L.Layer):
        def build(self, input_shape):
            self.count = self.add_weight("count", (), trainable=False, initializer="zeros")

        def call(self, inputs, training=None):
            self.count.assign_add(10.0 if training is None else tf.cast(training, "float32"))
            return inputs

    with context.eager_mode():
        layer = Counter(input_shape=(1,))
        model = keras.Sequential([layer])
        model.compile("sgd", "mse", run_eagerly=eagerly)
        model.train_on_batch(np.ones((2, 1)), np.ones((2, 1)))
        model.train_on_batch(np.ones((2, 1)), np.ones((2, 1)))
        model.test_on_batch(np.ones((2, 1)), np.ones((2, 1)))
        assert layer.count.numpy() == 2.0


@pytest.mark.parametrize("method", ["add_loss", "add_metric"])
def test_a_branch_can_not_add_losses_or_metrics(method):
    class Branch(L.Layer):
        def call(self, inputs, training=None):
            if training:
                more = {"name": "sum", "aggregation": "mean"} if method == "add_metric" else {}
                getattr(self, method)(tf.reduce_sum(inputs), **more)
            return inputs

    with (
        context.eager_mode(),
        pytest.raises(RuntimeError, match=f"`{method}` in a control flow branch"),
    ):
        Branch()(keras.Input((3,)))


def test_weights_that_wait_for_their_model():
    def build():
        class Model(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = L.Dense(2)

            def call(self, inputs):
                return self.dense(inputs)

        made = Model()
        made.compile("adam", "mse")
        return made

    with context.eager_mode():
        model, x = build(), np.ones((2, 3))
        model.train_on_batch(x, np.ones((2, 2)))
        prefix = tf.test.get_temp_dir() + "/waiting"
        model.save_weights(prefix)
        again = build()
        again.load_weights(prefix)
        np.testing.assert_allclose(again.predict(x), model.predict(x))


def test_states_of_stateful_layers():
    with context.eager_mode():
        model = keras.Sequential([L.LSTM(2, stateful=True, batch_input_shape=(1, 3, 2))])
        x = np.ones((1, 3, 2))
        first, second = model.predict(x), model.predict(x)
        assert not np.allclose(first, second)
        model.reset_states()
        np.testing.assert_allclose(model.predict(x), first)


def test_weights_that_do_not_fit():
    labels, outputs = tf.ones((2, 3, 1)), tf.zeros((2, 3, 1))
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        keras.losses.MeanSquaredError()(labels, outputs, sample_weight=tf.ones((2, 2)))


def test_learning_rates_along_noisy_cosines():
    with context.eager_mode():
        rate = keras.experimental.LinearCosineDecay(1.0, 10)(tf.constant(10))
        assert rate.numpy() == pytest.approx(0.001)
