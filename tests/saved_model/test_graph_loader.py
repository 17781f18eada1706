"""`tf.saved_model.load_v2` of SavedModels that a builder wrote: graphs without objects."""

import os

import numpy as np
import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.ops.functions import Defun
from penstock.ops.graph_lifting import UnliftableError
from penstock.platform import versions


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "model")


def write(folder, build, **kwargs):
    """Writes the graph whose inputs and outputs `build` gives; it may add arguments."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, outputs, *init = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        if init:
            kwargs["legacy_init_op"] = init[0]
        tf.saved_model.simple_save(session, folder, inputs, outputs, **kwargs)


def scaled(use_resource):
    def build():
        x = tf.placeholder(tf.float32, name="x")
        factor = tf.get_variable("factor", initializer=3.0, use_resource=use_resource)
        local = tf.Variable(
            1.0, trainable=False, use_resource=True, collections=[tf.GraphKeys.LOCAL_VARIABLES]
        )
        return {"x": x}, {"y": x * factor * local}, local.initializer

    return build


def test_variables_are_those_of_the_object(folder):
    write(folder, scaled(use_resource=True))
    with eager_mode():
        loaded = tf.saved_model.load_v2(folder)
        predict = loaded.signatures["serving_default"]
        assert predict(tf.constant(2.0))["y"].numpy() == 6.0
        factor, local = loaded.variables
        assert (factor.trainable, local.trainable) == (True, False)
        factor.assign(4.0)
        with tf.GradientTape() as tape:
            result = predict(x=tf.constant(2.0))["y"]
        assert result.numpy() == 8.0
        assert tape.gradient(result, factor).numpy() == 2.0
        assert loaded.tensorflow_version == versions.VERSION
        assert loaded.prune("x:0", "mul:0")(tf.constant(5.0)).numpy() == 20.0


def test_each_load_has_variables_of_its_own(folder):
    write(folder, scaled(use_resource=True))
    with eager_mode():
        first, second = tf.saved_model.load_v2(folder), tf.saved_model.load_v2(folder)
        first.variables[0].assign(10.0)
        assert second.signatures["serving_default"](tf.constant(1.0))["y"].numpy() == 3.0


@pytest.mark.parametrize("use_resource", [True, False])
def test_in_a_graph_initializers_restore(folder, use_resource):
    write(folder, scaled(use_resource))
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(folder)
        result = loaded.signatures["serving_default"](tf.constant(2.0))["y"]
        session.run(tf.tables_initializer())
        assert session.run(result) == 6.0
    with eager_mode():
        loaded = tf.saved_model.load_v2(folder)
        assert loaded.signatures["serving_default"](tf.constant(2.0))["y"].numpy() == 6.0


@pytest.mark.parametrize("is_named", [True, False])
def test_tables_and_their_files(folder, tmp_path, is_named):
    words = tmp_path / "words.txt"
    words.write_text("alpha\nbeta\ngamma\n")

    def build():
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )
        given = tf.placeholder(tf.string)
        if not is_named:
            table.resource_handle.op._clear_attr("shared_name")
        return {"words": given}, {"ids": table.lookup(given)}, tf.tables_initializer()

    write(folder, build)
    words.unlink()
    with eager_mode():
        loaded = tf.saved_model.load_v2(folder)
        again = str(tmp_path / "again")
        tf.saved_model.save(loaded, again, signatures=loaded.signatures)
        os.rename(folder, f"{folder}_moved")
        for each in (loaded, tf.saved_model.load_v2(again)):
            ids = each.signatures["serving_default"](words=tf.constant(["gamma", "alpha"]))
            np.testing.assert_array_equal(ids["ids"].numpy(), [2, 0])


def test_loops_branches_and_functions(folder):
    def build():
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(lambda i, s: i <= n, lambda i, s: (i + 1, s + i), [0, 0])

        @Defun(tf.int32)
        def one_more(x):
            return x + 1

        return {"n": n}, {"total": total, "branch": tf.cond(n > 4, lambda: one_more(n), lambda: 0)}

    write(folder, build)
    with eager_mode():
        predict = tf.saved_model.load_v2(folder).signatures["serving_default"]
        for n, total, branch in ((4, 10, 0), (5, 15, 6)):
            results = predict(tf.constant(n))
            assert (results["total"].numpy(), results["branch"].numpy()) == (total, branch)


def test_one_of_several_graphs(folder):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        narrowed = tf.identity(x)
        narrowed.set_shape([1])
        build_info = tf.saved_model.build_tensor_info
        builder = tf.saved_model.Builder(folder)
        for tag, output in (("first", narrowed), ("second", x * 2)):
            signature = tf.saved_model.build_signature_def(
                {"x": build_info(x)}, {"y": build_info(output)}
            )
            if tag == "first":
                builder.add_meta_graph_and_variables(session, [tag], {"key": signature})
            else:
                builder.add_meta_graph([tag], {"key": signature})
        builder.save()
    with eager_mode():
        with pytest.raises(ValueError, match="2 MetaGraphs"):
            tf.saved_model.load_v2(folder)
        first = tf.saved_model.load_v2(folder, tags="first").signatures["key"]
        assert first.outputs[0].shape == [1]
        second = tf.saved_model.load_v2(folder, tags={"second"}).signatures["key"]
        assert second(x=tf.constant([1.0]))["y"].numpy() == [2.0]
        with pytest.raises(TypeError, match="x"):
            second(z=tf.constant([1.0]))


def test_a_signature_that_lacks_an_input(folder):
    with tf.Graph().as_default(), tf.Session() as session:
        output = tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, []) * 2)
        signature = tf.saved_model.build_signature_def({}, {"y": output})
        builder = tf.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(session, ["serve"], {"key": signature})
        builder.save()
    wanted = "needs an input for each placeholder.*\n\nUnable to lift"
    with eager_mode(), pytest.raises(UnliftableError, match=wanted):
        tf.saved_model.load_v2(folder)


@pytest.mark.parametrize("trainable", [True, False])
def test_releases_before_1_9_say_in_collections_what_is_trainable(folder, monkeypatch, trainable):
    monkeypatch.setattr(versions, "__version__", "1.7.0")

    def build():
        v = tf.get_variable("v", initializer=1.0, use_resource=True, trainable=trainable)
        return {"x": tf.placeholder(tf.float32, [])}, {"y": v + 1}

    write(folder, build)
    with eager_mode():
        loaded = tf.saved_model.load_v2(folder)
    assert loaded.tensorflow_version == "1.7.0"
    assert loaded.variables[0].trainable is trainable
