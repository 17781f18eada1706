"""Models that are more than stacks of layers: operations, own layers, encoders and decoders."""

import numpy as np
import pytest

import penstock as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def test_operations_become_layers():
    x = keras.Input((4,))
    hidden = layers.Dense(3)(x)
    model = keras.Model(x, layers.Dense(1)(tf.nn.relu(hidden) * 2.0))
    names = [layer.name for layer in model.layers]
    assert names[2:4] == ["tf_op_layer_Relu", "tf_op_layer_mul"]
    again = keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    ones = np.ones((2, 4))
    np.testing.assert_allclose(again.predict(ones), model.predict(ones), rtol=1e-6)


def test_added_losses_and_metrics():
    x = keras.Input((2,))
    hidden = layers.Dense(1, kernel_initializer="ones")(x)
    model = keras.Model(x, hidden)
    model.add_loss(tf.reduce_mean(hidden) * 0.5)
    model.add_metric(hidden, aggregation="mean", name="mean_output")
    model.compile(keras.optimizers.SGD(0.0), "mse")
    loss, mean = model.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))
    assert loss == pytest.approx(5.0) and mean == pytest.approx(2.0)
    assert model.metrics_names == ["loss", "mean_output"]


class Product(layers.Layer):
    """A layer of a program's own."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.matrix = self.add_weight("matrix", (int(input_shape[-1]), self.units))
        super().build(input_shape)

    def call(self, inputs):
        return tf.matmul(inputs, self.matrix)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def test_own_layer():
    model = keras.Sequential([Product(3, input_shape=(4,)), layers.Dense(1)])
    assert [weight.name for weight in model.weights][0:1] == ["product/matrix:0"]
    assert model.output_shape == (None, 1)
    again = keras.models.model_from_json(model.to_json(), {"Product": Product})
    assert isinstance(again.layers[0], Product) and again.layers[0].units == 3
    with pytest.raises(ValueError, match="Unknown layer: Product"):
        keras.models.model_from_json(model.to_json())


def test_encoder_and_decoder():
    source, target = keras.Input((None, 3)), keras.Input((None, 2))
    _, output, carry = layers.LSTM(4, return_state=True)(source)
    decoded = layers.LSTM(4, return_sequences=True)(target, initial_state=[output, carry])
    chances = layers.TimeDistributed(layers.Dense(2, activation="softmax"))(decoded)
    model = keras.Model([source, target], chances)
    data = [np.ones((2, 5, 3)), np.ones((2, 6, 2))]
    again = keras.models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict(data), model.predict(data), rtol=1e-5)
    assert model.predict([data[0] * 0, data[1]])[0, 0, 0] != model.predict(data)[0, 0, 0]


def test_datasets():
    x, y = np.ones((8, 2), np.float32), np.zeros((8, 1), np.float32)
    model = keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    history = model.fit(batches.repeat(), steps_per_epoch=3, epochs=2, verbose=0)
    assert history.history["loss"] == pytest.approx([4.0, 4.0])
    assert model.evaluate(batches, steps=2, verbose=0) == pytest.approx(4.0)


def test_errors_of_graphs():
    x, other = keras.Input((2,)), keras.Input((2,))
    with pytest.raises(ValueError, match="Graph disconnected"):
        keras.Model(x, layers.Dense(1)(other))
    with pytest.raises(ValueError, match="must come from"):
        keras.Model(tf.placeholder(tf.float32, [None, 2]), layers.Dense(1)(x))


def test_text_and_sequences():
    tokens = keras.preprocessing.text.Tokenizer(num_words=3, oov_token="?")
    tokens.fit_on_texts(["the cat, the dog!", "the bird"])
    assert tokens.texts_to_sequences(["the fish"]) == [[2, 1]]
    padded = keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4]], maxlen=2)
    np.testing.assert_array_equal(padded, [[2, 3], [0, 4]])
    np.testing.assert_array_equal(keras.utils.to_categorical([1, 0], 3), [[0, 1, 0], [1, 0, 0]])


def test_losses_and_metrics_of_a_stack_are_layers_of_it():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name="logits")])
    mean = tf.keras.layers.Lambda(tf.reduce_mean, name="mean")(model.output)
    model.add_loss(mean)
    model.add_metric(mean, aggregation="mean", name="mean_logit")
    model.compile("sgd", "mse")
    assert model.metrics_names == ["loss", "mean_logit"]
    assert [layer.name for layer in model.layers[:2]] == ["logits", "mean"]
    assert len(model.layers) == 4


class _Subclassed(keras.Model):
    def __init__(self, call=None):
        super().__init__()
        self.dense = keras.layers.Dense(2)
        if call is not None:
            self.call = call

    def call(self, inputs):
        return self.dense(inputs)


class _WithTraining(_Subclassed):
    def call(self, inputs, training):
        return self.dense(inputs)


class _WithMore(_Subclassed):
    def call(self, inputs, more, training=None):
        return self.dense(inputs)


class _OfWholeNumbers(_Subclassed):
    def call(self, inputs):
        return tf.gather(tf.eye(3), inputs)


def test_what_builds_a_subclassed_model():
    for model in (_Subclassed(), _WithTraining()):
        model.build((None, 3))
        assert model.built
        assert len(model.weights) == 2


@pytest.mark.parametrize(
    ("kind", "shape", "message"),
    [
        (_Subclassed, None, "Input shape must be defined"),
        (_Subclassed, tf.Dimension(3), "input shape is not one of the valid types"),
        (_WithMore, (None, 3), "cannot build your model if it has positional or keyword"),
        (_OfWholeNumbers, (None, 3), "if your layers do not support float type inputs"),
    ],
)
def test_what_does_not_build_a_subclassed_model(kind, shape, message):
    with pytest.raises(ValueError, match=message):
        kind().build(shape)


def test_attributes_that_are_parts_but_not_in_checkpoints():
    model = _Subclassed()
    model.other = tf.contrib.checkpoint.NoDependency(keras.layers.Dense(3))
    assert model.layers == [model.dense, model.other]
    assert [each.name for each in model._checkpoint_dependencies] == ["dense"]


def test_a_property_can_not_be_set():
    class WithProperty(keras.Model):
        @property
        def fixed(self):
            return 1.0

    with pytest.raises(AttributeError, match=r"Can't set the attribute \"fixed\""):
        WithProperty().fixed = 2.0


def test_a_model_without_weights_can_be_saved(tmp_path):
    model = keras.Model()
    model.sub = tf.contrib.checkpoint.NoDependency({1: 2})
    model.save_weights(str(tmp_path / "weights"))
