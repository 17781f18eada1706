"""What SavedModels have of layers: lists, losses and functions, and how they come back."""

import inspect

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras import saved_models
from penstock.keras.saved_calls import LayerCallCollection

L = keras.layers
INPUTS = np.linspace(-1.0, 1.0, 6, dtype="f").reshape(2, 3)


class Switched(L.Layer):
    """Gives zeros while it is trained."""

    def call(self, inputs, training=None):
        training = keras.backend.learning_phase() if training is None else training
        return tf.cond(tf.cast(training, tf.bool), lambda: inputs * 0, lambda: inputs)


class Around(L.Layer):
    """Says nothing of training itself."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Switched()

    def call(self, inputs):
        return self.inner(inputs)


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.switched = Switched()
        self.dense = L.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")

    def call(self, inputs):
        return self.dense(self.switched(inputs))


def saved(obj, tmp_path):
    path = str(tmp_path / "saved")
    if tf.executing_eagerly():
        tf.saved_model.save(obj, path)
    else:
        with keras.backend.get_session().as_default():
            tf.saved_model.save(obj, path)
    return path


def signatures_of(function):
    made = function._list_all_concrete_functions_for_serialization()
    return [each.structured_input_signature for each in made]


def test_functions_of_a_layer_are_made_for_the_same_arguments():
    with context.eager_mode():
        layer = L.Layer()
        collection = LayerCallCollection(layer)
        first = collection.add_function(lambda inputs, **kwargs: inputs, "first")
        second = collection.add_function(lambda inputs, **kwargs: inputs * 2, "second")
        np.testing.assert_array_equal(first(np.ones((2, 3))), np.ones((2, 3)))
        first(np.ones((4, 5)))
        for function in (first, second):
            shapes = {args[0].shape.as_list()[0] for args, _ in signatures_of(function)}
            assert shapes == {2, 4}


def test_a_function_is_made_for_the_arguments_of_those_before_it():
    with context.eager_mode():
        collection = LayerCallCollection(L.Layer())
        first = collection.add_function(lambda inputs, **kwargs: inputs, "first")
        first(np.ones((2, 3)), training=True)
        later = collection.add_function(lambda inputs, **kw: first(inputs, **kw)[:1], "later")
        assert len(signatures_of(later)) == len(signatures_of(first)) == 2
        found = later(np.zeros((2, 3)), training=False)
        np.testing.assert_array_equal(found, np.zeros((1, 3)))
        assert len(signatures_of(later)) == len(signatures_of(first)) == 2


@pytest.mark.parametrize("make", [Switched, Around])
def test_functions_are_made_for_training_and_inference(make):
    with context.eager_mode():
        layer = make()
        collection = LayerCallCollection(layer)
        function = collection.add_function(layer.call, "called")
        assert inspect.signature(function.python_function).parameters["training"].default is False
        np.testing.assert_array_equal(function(INPUTS), INPUTS)
        assert len(signatures_of(function)) == 2
        np.testing.assert_array_equal(function(INPUTS, training=True), INPUTS * 0)
        assert len(signatures_of(function)) == 2


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_a_model_of_an_own_class_has_its_layers_and_losses_again(tmp_path, mode):
    with mode():
        model = Own()
        expected = model.predict(INPUTS)
        again = saved_models.load(saved(model, tmp_path))
        np.testing.assert_allclose(again.predict(INPUTS), expected, rtol=1e-6)
        assert [type(each).__name__ for each in again.layers] == ["Switched", "Dense"]
        assert [each.name for each in again.layers] == [each.name for each in model.layers]
        assert len(again.trainable_weights) == 2
        dense = again.layers[1]
        assert dense.activity_regularizer is not None
        losses = keras.backend.batch_get_value(dense.get_losses_for(None))
        kernel = keras.backend.get_value(model.dense.kernel)
        np.testing.assert_allclose(losses, [0.01 * np.sum(kernel**2)], rtol=1e-5)


class Stacked(keras.Model):
    """Has a stack whose inputs nobody but its call knows."""

    def __init__(self):
        super().__init__()
        self.stack = keras.Sequential([L.Dense(2), L.Dense(3)])

    def call(self, inputs):
        return self.stack(inputs)


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_a_stack_inside_of_a_model_of_an_own_class(tmp_path, mode):
    with mode():
        model = Stacked()
        expected = model.predict(INPUTS)
        again = saved_models.load(saved(model, tmp_path))
        np.testing.assert_allclose(again.predict(INPUTS), expected, rtol=1e-6)
        (stack,) = again.layers
        assert [each.name for each in stack.layers] == [each.name for each in model.stack.layers]
        assert len(again.trainable_weights) == 4


class Listed(keras.Model):
    """Has its layers in a list and in a dictionary."""

    def __init__(self):
        super().__init__()
        self.row = [L.Dense(2), None, L.Dense(3)]
        self.named = {"last": L.Dense(1)}

    def call(self, inputs):
        return self.named["last"](self.row[2](self.row[0](inputs)))


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_layers_in_lists_and_dictionaries(tmp_path, mode):
    with mode():
        model = Listed()
        expected = model.predict(INPUTS)
        again = saved_models.load(saved(model, tmp_path))
        np.testing.assert_allclose(again.predict(INPUTS), expected, rtol=1e-6)
        assert [each and each.name for each in again.row] == [
            each and each.name for each in model.row
        ]
        assert list(again.named) == ["last"]
        assert len(again.layers) == 3 and len(again.trainable_weights) == 6


def test_training_of_a_layer_that_came_back(tmp_path):
    with context.eager_mode():
        layer = Switched()
        layer(INPUTS)
        layer.input_spec = L.InputSpec(shape=(None, 3))
        again = saved_models.load(saved(layer, tmp_path))
        tensor = tf.constant(INPUTS)
        np.testing.assert_array_equal(again(tensor, training=True), INPUTS * 0)
        np.testing.assert_array_equal(again(tensor, training=tf.constant(False)), INPUTS)
        with keras.backend.learning_phase_scope(1):
            np.testing.assert_array_equal(again(tensor), INPUTS * 0)


def test_specs_and_weights_of_a_layer(tmp_path):
    with context.eager_mode():
        layer = L.Dense(2, name="own")
        layer.build([None, 3])
        layer.add_weight("extra", shape=[], initializer=tf.constant_initializer(11.0))
        layer.add_weight("fixed", shape=[], initializer="ones", trainable=False)
        again = saved_models.load(saved(layer, tmp_path))
        assert (again.name, again._expects_training_arg) == ("own", False)
        assert again.input_spec.axes == {-1: 3}
        for one, other in zip(layer.weights, again.weights, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
        assert len(again.trainable_weights) == 3


def test_what_could_not_be_traced_is_refused_when_called(tmp_path):
    with context.eager_mode():
        again = saved_models.load(saved(L.Dense(2), tmp_path))
        with pytest.raises(ValueError, match="call function was not serialized"):
            again.call(tf.constant(INPUTS))


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_losses_that_a_description_does_not_have(tmp_path, mode):
    with mode():
        model = keras.Sequential([L.Dense(2, input_shape=(3,), kernel_regularizer="l2")])
        model.activity_regularizer = keras.regularizers.l2(0.5)
        model.add_loss(lambda: tf.reduce_sum(model.weights[0]))
        model.predict(INPUTS)
        again = saved_models.load(saved(model, tmp_path))
        assert isinstance(again.layers[0], L.Dense)
        assert again.activity_regularizer is not None
        values = [keras.backend.batch_get_value(m.get_losses_for(None)) for m in (model, again)]
        assert len(values[0]) == 2
        np.testing.assert_allclose(sorted(values[0]), sorted(values[1]), rtol=1e-5)


def test_initializers_give_saved_values_in_a_graph(tmp_path):
    with tf.Graph().as_default(), tf.Session().as_default() as session:
        model = keras.Sequential([L.Dense(2, input_shape=(3,))])
        values = model.get_weights()
        again = saved_models.load(saved(model, tmp_path))
        session.run(tf.variables_initializer(again.variables))
        np.testing.assert_array_equal(session.run(again.weights[0]), values[0])


def test_signatures_of_a_program(tmp_path):
    with tf.Graph().as_default(), tf.Session().as_default() as session:
        model = keras.Sequential([L.Dropout(0.5, input_shape=(3,)), L.Dense(2)])
        expected = model.predict(INPUTS)

        @tf.function(input_signature=[tf.TensorSpec((None, 3))])
        def predict(inputs):
            return {"predictions": model(inputs)}

        path = str(tmp_path / "model")
        model.save(path, save_format="tf", signatures={"predict": predict})
        again = keras.models.load_model(path)
        outputs = again.signatures["predict"](tf.constant(INPUTS))
        np.testing.assert_allclose(session.run(outputs["predictions"]), expected, rtol=1e-6)


def test_the_object_as_any_reader_sees_it(tmp_path):
    with context.eager_mode():
        model = Own()
        model.predict(INPUTS)
        losses, updates = model.losses, model.updates
        restored = tf.saved_model.load_v2(saved(model, tmp_path))
        assert len(restored.keras_api.layers) == 2
        assert len(restored.regularization_losses) == 1
        assert len(restored.keras_api.non_trainable_variables) == 0
        parameters = inspect.signature(restored.__dict__["__call__"]).parameters
        assert list(parameters) == ["inputs", "training"]
        assert parameters["training"].default is False
        outputs, conditional = restored.call_and_return_all_conditional_losses(tf.constant(INPUTS))
        assert outputs.shape.as_list() == [2, 2] and len(conditional) == 1
        # Saving leaves the losses of the model alone.
        assert len(model.losses) == len(losses) and len(model.updates) == len(updates)


def test_tables_of_feature_columns_in_eager_mode(tmp_path):
    with context.eager_mode():
        words = tf.feature_column.categorical_column_with_vocabulary_list("b", ["1", "2", "3"])
        columns = [
            tf.feature_column.embedding_column(words, dimension=2),
            tf.feature_column.indicator_column(words),
        ]
        model = keras.Sequential([L.DenseFeatures(columns)])
        features = {"b": np.array(["3", "1"])}
        expected = model.predict(features)
        np.testing.assert_array_equal(expected[:, 2:], [[0, 0, 1], [1, 0, 0]])
        model.save(str(tmp_path / "model"), save_format="tf")
        again = keras.models.load_model(str(tmp_path / "model"))
        np.testing.assert_array_equal(again.predict(features), expected)
