"""Models as SavedModels: with their objects (`save_format="tf"`), and as graphs of all modes."""

import os

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.saved_model.loader import get_train_op, parse_saved_model

L = keras.layers

INPUTS = np.linspace(-1.0, 1.0, 12, dtype="f").reshape(3, 4)
LABELS = np.ones((3, 2), "f")


class Own(keras.Model):
    """A model of a program's own class, which has no description."""

    def __init__(self):
        super().__init__()
        self.dense = L.Dense(2)

    def call(self, inputs):
        return self.dense(inputs)


def functional():
    inputs = keras.Input((4,))
    return keras.Model(inputs, L.Dense(2, name="out")(L.BatchNormalization()(inputs)))


def sequential():
    return keras.Sequential([L.Dense(3, input_shape=(4,)), L.Dense(2)])


def trained(make, optimizer="adam"):
    model = make()
    model.compile(optimizer, "mse", metrics=["mae"])
    model.train_on_batch(INPUTS, LABELS)
    return model


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
@pytest.mark.parametrize("make", [functional, sequential])
def test_a_model_comes_back_with_its_training(tmp_path, make, mode):
    with mode():
        model = trained(make)
        model.save(tmp_path / "model", save_format="tf")
        again = keras.models.load_model(str(tmp_path / "model"))
        assert type(again) is type(model)
        np.testing.assert_allclose(again.predict(INPUTS), model.predict(INPUTS), rtol=1e-6)
        # The optimizer goes on where it was, too.
        results = [each.train_on_batch(INPUTS, LABELS) for each in (model, again)]
        np.testing.assert_allclose(results[0], results[1], rtol=1e-5)
        np.testing.assert_allclose(again.predict(INPUTS), model.predict(INPUTS), rtol=1e-5)
        assert keras.models.load_model(str(tmp_path / "model"), compile=False).optimizer is None


def test_without_the_optimizer(tmp_path):
    with context.eager_mode():
        model = trained(functional)
        model.save(str(tmp_path / "model"), save_format="tf", include_optimizer=False)
        assert model.optimizer is not None
        assert keras.models.load_model(str(tmp_path / "model")).optimizer is None


def test_a_model_of_an_own_class_comes_back_as_its_functions(tmp_path):
    with context.eager_mode():
        model = trained(Own)
        model.save(str(tmp_path / "model"), save_format="tf")
        again = keras.models.load_model(str(tmp_path / "model"))
        assert type(again).__name__ == "Own" and type(again) is not Own
        np.testing.assert_allclose(again.predict(INPUTS), model.predict(INPUTS), rtol=1e-6)
        with pytest.raises(NotImplementedError):
            again.get_config()


def test_a_model_without_inputs_is_refused(tmp_path):
    with context.eager_mode(), pytest.raises(ValueError, match="input shapes have not been set"):
        Own().save(str(tmp_path / "model"), save_format="tf")


def test_other_objects_are_not_models(tmp_path):
    with context.eager_mode():
        tf.saved_model.save(tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path / "other"))
        with pytest.raises(OSError, match="not one of a Keras model"):
            keras.models.load_model(str(tmp_path / "other"))


@pytest.mark.parametrize("make_optimizer", [lambda: "adam", lambda: tf.train.AdamOptimizer(0.1)])
def test_graphs_of_all_modes(tmp_path, make_optimizer):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session().as_default():
        model = trained(functional, make_optimizer())
        expected = model.predict(INPUTS)
        keras.experimental.export_saved_model(model, path)
        again = keras.experimental.load_from_saved_model(path)
        np.testing.assert_allclose(again.predict(INPUTS), expected, rtol=1e-6)
    assert sorted(os.listdir(path)) == ["assets", "saved_model.pb", "variables"]
    tags = [list(graph.meta_info_def.tags) for graph in parse_saved_model(path).meta_graphs]
    assert tags == [["train"], ["eval"], ["serve"]]
    with tf.Graph().as_default(), tf.Session() as session:
        served = tf.saved_model.loader.load(session, ["serve"], path)
        signature = served.signature_def["serving_default"]
        feeds = {signature.inputs["input_1"].name: INPUTS}
        np.testing.assert_allclose(
            session.run(signature.outputs["out"].name, feeds), expected, rtol=1e-6
        )
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["train"], path)
        signature = graph.signature_def["train"]
        feeds = {
            signature.inputs["input_1"].name: INPUTS,
            signature.inputs["out_target"].name: LABELS,
        }
        loss = signature.outputs["loss"].name
        before = session.run(loss, feeds)
        session.run(get_train_op(graph), feeds)
        assert session.run(loss, feeds) < before


def test_graphs_that_can_not_be_exported(tmp_path):
    path = str(tmp_path / "model")
    with pytest.raises(NotImplementedError, match="can only be exported for serving"):
        keras.experimental.export_saved_model(Own(), path)
    with pytest.raises(ValueError, match="Weights for sequential model"):
        keras.experimental.export_saved_model(keras.Sequential([L.Dense(1)]), path)


def test_serving_alone(tmp_path):
    path = str(tmp_path / "model")
    with context.eager_mode():
        model = trained(Own)
        keras.experimental.export_saved_model(model, path, serving_only=True)
        outputs = tf.saved_model.load_v2(path).signatures["serving_default"](tf.constant(INPUTS))
        (found,) = outputs.values()
        np.testing.assert_allclose(found.numpy(), model.predict(INPUTS), rtol=1e-6)


@pytest.mark.parametrize("name", ["described", "own"])
def test_models_of_tensorflow(name):
    folder = os.path.join(os.path.dirname(__file__), "recorded", "saved_models", name)
    with context.eager_mode():
        model = keras.models.load_model(folder)
        expected = np.load(os.path.join(folder, "expected.npy"))
        np.testing.assert_allclose(model.predict(INPUTS), expected, rtol=1e-5)
        model.train_on_batch(INPUTS, LABELS)
        assert keras.backend.get_value(model.optimizer.iterations) == (
            2 if name == "described" else 1
        )
