"""`tf.saved_model.save` and what loads it again: objects with functions, variables and tables."""

import os
import shutil

import numpy as np
import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.train.tracking import AutoTrackable


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = tf.Variable([[2.0], [3.0]], use_resource=True, name="weights")
        self.in_list = [tf.Variable(1.0, use_resource=True)]
        self.in_dict = {"k": tf.Variable(7.0, use_resource=True)}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 2], tf.float32),
            tf.TensorSpec([], tf.float32, name="bias"),
        ]
    )
    def predict(self, x, b):
        return {"y": tf.matmul(x, self.weights) + b * self.in_list[0]}

    @tf.function
    def scaled(self, x, scale=2.0):
        return x * scale * self.in_dict["k"]


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "model")


@pytest.fixture
def saved(folder):
    """A model with trained values, and two ways of calling `scaled`."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model()
        session.run(tf.global_variables_initializer())
        model.scaled(tf.constant(1.0))
        model.scaled(tf.constant([1.0, 2.0]), scale=3.0)
        session.run(model.in_list[0].assign(5.0))
        tf.saved_model.save(model, folder, signatures=model.predict)
    return folder


def run_signature(folder, feeds, key="serving_default"):
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.loader.load(session, ["serve"], folder)
        signature = meta_graph.signature_def[key]
        assert set(signature.inputs) == set(feeds)
        outputs = {name: info.name for name, info in signature.outputs.items()}
        named = {signature.inputs[name].name: value for name, value in feeds.items()}
        return session.run(outputs, named)


def test_a_session_loads_the_signature(saved):
    result = run_signature(saved, {"x": [[1.0, 1.0]], "bias": 10.0})
    assert result["y"].tolist() == [[55.0]]


def test_the_object_comes_back_with_its_variables_and_functions(saved):
    with tf.Session() as session:
        loaded = tf.saved_model.load_v2(saved)
        session.run(tf.global_variables_initializer())
        assert session.run(loaded.in_list[0]) == 5.0
        assert session.run(loaded.in_dict["k"]) == 7.0
        called = loaded.predict(tf.constant([[1.0, 2.0]]), tf.constant(1.0))
        assert session.run(called)["y"].tolist() == [[13.0]]
        by_name = loaded.signatures["serving_default"](
            bias=tf.constant(1.0), x=tf.constant([[1.0, 2.0]])
        )
        assert session.run(by_name)["y"].tolist() == [[13.0]]
        assert session.run(loaded.scaled(tf.constant(1.0))) == 14.0
        assert session.run(loaded.scaled(tf.constant([1.0, 2.0]), scale=3.0)).tolist() == [
            21.0,
            42.0,
        ]
        (gradient,) = tf.gradients(loaded.scaled(tf.constant(1.0)), [loaded.in_dict["k"]])
        assert session.run(gradient) == 2.0


def test_a_call_that_was_not_saved_is_refused(saved):
    loaded = tf.saved_model.load_v2(saved)
    with pytest.raises(ValueError, match="Could not find matching function to call"):
        loaded.scaled(tf.constant([1, 2, 3]))


def test_bodies_are_built_with_those_that_they_call(folder):
    with eager_mode():
        model = tf.Module()
        model.weight = tf.Variable(3.0)
        inner = tf.function(lambda x: x * model.weight, input_signature=[tf.TensorSpec([])])
        model.inner = inner
        model.outer = tf.function(lambda x: inner(x) + 1.0, input_signature=[tf.TensorSpec([])])
        tf.saved_model.save(model, folder)
        loaded = tf.saved_model.load_v2(folder)
        (inside,) = loaded.inner.concrete_functions
        assert inside._body is None
        with tf.GradientTape() as tape:
            value = loaded.outer(2.0)
        assert value.numpy() == 7.0
        assert inside._body is not None
        assert tape.gradient(value, loaded.weight).numpy() == 2.0
        assert [each is loaded.weight for each in inside.variables] == [True]


def test_what_was_loaded_can_be_saved_again(saved, tmp_path):
    second = str(tmp_path / "second")
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(saved)
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(loaded, second, signatures=loaded.predict)
    result = run_signature(second, {"x": [[1.0, 1.0]], "bias": 10.0})
    assert result["y"].tolist() == [[55.0]]


def test_its_variables_are_a_checkpoint(saved):
    model = Model()
    path = os.path.join(saved, "variables", "variables")
    with tf.Session() as session:
        tf.train.Checkpoint(weights=model.weights, in_list=model.in_list).restore(
            path
        ).initialize_or_restore(session)
        assert session.run(model.in_list[0]) == 5.0


def test_tables_and_their_files_go_along(folder, tmp_path):
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("alpha\nbeta\ngamma\n")
    index = tf.lookup.TextFileIndex
    root = AutoTrackable()
    root.table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            str(vocabulary), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        ),
        -1,
    )
    root.numbers = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([1, 2], [10, 20]), -1
    )
    root.look_up = tf.function(
        lambda keys: root.table.lookup(keys), input_signature=[tf.TensorSpec(None, tf.string)]
    )
    root.number = tf.function(
        lambda key: root.numbers.lookup(key), input_signature=[tf.TensorSpec([], tf.int32)]
    )
    with tf.Session():
        tf.saved_model.save(root, folder, signatures={"look": root.look_up})
    assert len(tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)) == 2  # none of the functions
    vocabulary.unlink()
    moved = shutil.move(folder, str(tmp_path / "moved"))
    assert run_signature(moved, {"keys": ["beta", "x"]}, "look")["output_0"].tolist() == [1, -1]
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(moved)
        session.run(tf.tables_initializer())
        assert session.run(loaded.look_up(tf.constant(["gamma"]))).tolist() == [2]
        assert session.run(loaded.number(tf.constant(2))) == 20


def test_a_trained_keras_model(folder):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), name="out")])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    expected = model.predict(np.ones((2, 3)))
    tf.saved_model.save(model, folder)
    signed = run_signature(folder, {"out_input": np.ones((2, 3), np.float32)})
    np.testing.assert_allclose(signed["out"], expected, rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(folder)
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(loaded(tf.ones([2, 3]))), expected, rtol=1e-6)
        assert len(loaded.trainable_variables) == 2


def function_of(spec, body):
    root = AutoTrackable()
    root.f = tf.function(body, input_signature=spec)
    return root


X = [tf.TensorSpec(None, tf.float32, name="x")]


def test_constants_that_functions_use_are_copied(folder):
    numbers = tf.constant([5.0, 6.0])
    root = function_of(X, lambda x: x * numbers)
    with tf.Session():
        tf.saved_model.save(root, folder)
    assert run_signature(folder, {"x": 2.0})["output_0"].tolist() == [10.0, 12.0]


@pytest.mark.parametrize(
    ("make", "error", "phrase"),
    [
        (lambda: (3, None), ValueError, "Expected a Trackable object"),
        (
            lambda: (function_of(None, lambda x: x), lambda x: x),
            ValueError,
            "Expected a TensorFlow function to generate a signature",
        ),
        (lambda: nested(lambda x: (x, (x, x))), ValueError, "non-flat outputs"),
        (
            lambda: nested(lambda x: {"a": (x, x)}),
            ValueError,
            "dictionary containing non-Tensor value",
        ),
        (
            lambda: (tf.train.Checkpoint(signatures=tf.Variable(1.0)), None),
            ValueError,
            "del obj.signatures",
        ),
        (lambda: symbolic(), ValueError, "not a simple constant"),
        (lambda: unreachable(), KeyError, "not reachable from root"),
    ],
)
def test_what_cannot_be_saved_is_refused(make, error, phrase, folder):
    obj, signatures = make()
    with tf.Session(), pytest.raises(error, match=phrase):
        tf.saved_model.save(obj, folder, signatures)


def nested(body):
    root = function_of(X, body)
    return root, root.f


def symbolic():
    outside = tf.placeholder(tf.float32)
    return function_of(X, lambda x: x + outside), None


def unreachable():
    outside = tf.Variable(1.0, use_resource=True)
    root = AutoTrackable()
    root.f = tf.function(lambda x: x + outside)
    root.f(tf.constant(1.0))
    return root, None


def test_saving_inside_a_function_is_refused(folder):
    root = tf.train.Checkpoint()

    @tf.function
    def calls_save():
        tf.saved_model.save(root, folder)

    with pytest.raises(AssertionError, match="inside a traced @tf.function"):
        calls_save()


def test_a_checkpoint_has_functions_among_its_attributes(folder):
    root = tf.train.Checkpoint(f=tf.function(lambda x: x + 1.0, input_signature=X))
    with tf.Session():
        tf.saved_model.save(root, folder)
    assert run_signature(folder, {"x": 2.0})["output_0"] == 3.0


def test_a_model_that_is_not_built_is_saved_without_functions(folder):
    root = tf.train.Checkpoint(model=tf.keras.Sequential([tf.keras.layers.Dense(2)]))
    with tf.Session():
        tf.saved_model.save(root, folder)
    assert list(tf.saved_model.load_v2(folder).signatures) == []


def test_tags_must_fit(saved):
    tf.saved_model.load_v2(saved, tags=["serve"])
    with pytest.raises(ValueError, match="incompatible argument tags"):
        tf.saved_model.load_v2(saved, tags="train")


def test_saved_and_loaded_in_eager_mode(folder):
    with eager_mode():
        model = Model()
        assert model.scaled(tf.constant(1.0)).numpy() == 14.0
        model.in_list[0].assign(5.0)
        tf.saved_model.save(model, folder, signatures=model.predict)
        loaded = tf.saved_model.load_v2(folder)
        assert loaded.in_list[0].numpy() == 5.0
        with tf.GradientTape() as tape:
            scaled = loaded.scaled(tf.constant(1.0))
        assert tape.gradient(scaled, loaded.in_dict["k"]).numpy() == 2.0
        with pytest.raises(TypeError, match=r"Missing: \['bias'\]"):
            loaded.signatures["serving_default"](x=tf.constant([[1.0, 1.0]]))
    result = run_signature(folder, {"x": [[1.0, 1.0]], "bias": 10.0})
    assert result["y"].tolist() == [[55.0]]


def test_functions_called_inside_of_others_are_saved(folder):
    class Nested(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(3.0, use_resource=True)

        @tf.function
        def inner(self, x):
            return self.w * x

        @tf.function(input_signature=X)
        def outer(self, x):
            return self.inner(x) ** 2

    with tf.Graph().as_default(), tf.Session() as session:
        model = Nested()
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(model, folder)
    with eager_mode():
        loaded = tf.saved_model.load_v2(folder)
        with tf.GradientTape() as tape:
            squared = loaded.outer(tf.constant(2.0))
        assert squared.numpy() == 36.0
        assert tape.gradient(squared, loaded.w).numpy() == 24.0


def test_results_are_named_by_their_place(folder):
    module = function_of(X, lambda x: {"twice": 2 * x, "all": (x, [-x])})
    with tf.Session():
        tf.saved_model.save(module, folder)
    signature = tf.saved_model.load_v2(folder).f.concrete_functions[0]
    specs = tf.nest.flatten(signature.structured_outputs)
    assert [spec.name for spec in specs] == ["all/0", "all/1/0", "twice"]
    tf.set_random_seed(7)
    assert tf.saved_model.load_v2(folder).f.concrete_functions[0].graph.seed == 7


def test_variables_of_several_devices_are_saved_in_eager_mode(folder):
    class Python(tf.train.experimental.PythonState):
        text = "before"

        def serialize(self):
            return self.text

        def deserialize(self, value):
            self.text = value.decode()

    with eager_mode():
        with tf.device("/cpu:0"):
            variable = tf.contrib.eager.Variable(1.0)
        checkpoint = tf.train.Checkpoint(variable=variable, state=Python())
        path = checkpoint.save(os.path.join(folder, "model"))
        variable.assign(2.0)
        checkpoint.state.text = "after"
        checkpoint.restore(path)
        assert (variable.numpy(), checkpoint.state.text) == (1, "before")
