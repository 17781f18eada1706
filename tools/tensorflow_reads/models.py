"""MetaGraphDefs with their checkpoints, and SavedModels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tensorflow_reads import read_with

X = [[1.0, 2.0]]
# x * 8 times w, plus b and the sum of the parts.
EXPECTED = np.array([[56.0 + 45.5, 80.0 + 44.5]], np.float32)


def _model(tf: Any) -> dict[str, Any]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    b = tf.get_variable("b", initializer=tf.constant([0.5, -0.5]), use_resource=True)
    parts = tf.get_variable(
        "parts",
        initializer=tf.constant(np.arange(10, dtype=np.float32).reshape(5, 2)),
        partitioner=tf.fixed_size_partitioner(2),
    )

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i < 100, lambda: a * 2.0, lambda: a)

    looped = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
    y = tf.add(tf.matmul(looped, w), b + tf.reduce_sum(parts), name="y")
    return {"x": x, "y": y}


def write(folder: str) -> None:
    """A MetaGraphDef with a checkpoint, a SavedModel, and one with a vocabulary and two graphs."""
    import penstock as tf

    with tf.Graph().as_default(), tf.Session() as session:
        tensors = _model(tf)
        session.run(tf.global_variables_initializer())
        tf.add_to_collection("outputs", tensors["y"])
        tf.train.Saver(sharded=True).save(session, os.path.join(folder, "model"), global_step=7)
        tf.saved_model.simple_save(
            session,
            os.path.join(folder, "saved_model"),
            {"x": tensors["x"]},
            {"y": tensors["y"]},
        )
    vocabulary = os.path.join(folder, "words.txt")
    with open(vocabulary, "w") as file:
        file.write("red\ngreen\nblue\n")
    builder = tf.saved_model.Builder(os.path.join(folder, "with_assets"))
    for number, tags in enumerate((["serve"], ["train", "gpu"])):
        with tf.Graph().as_default(), tf.Session() as session:
            words = tf.placeholder(tf.string, [None], name="words")
            table = tf.contrib.lookup.index_table_from_file(vocabulary, num_oov_buckets=1)
            rows = tf.get_variable("rows", initializer=np.eye(4, dtype=np.float32))
            found = tf.gather(rows, table.lookup(words), name="found")
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            arguments = {
                "signature_def_map": {
                    "serving_default": tf.saved_model.predict_signature_def(
                        {"words": words}, {"found": found}
                    )
                },
                "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                "main_op": tf.tables_initializer(),
            }
            if number == 0:
                builder.add_meta_graph_and_variables(session, tags, **arguments)
            else:
                builder.add_meta_graph(tags, **arguments)
    builder.save()
    os.remove(vocabulary)


def _meta_graph(tf: Any, folder: str) -> str:
    prefix = tf.train.latest_checkpoint(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta")
        saver.restore(session, prefix)
        (y,) = tf.get_collection("outputs")
        np.testing.assert_allclose(session.run(y, {"x:0": X}), EXPECTED, rtol=1e-6)
        session.run(tf.gradients(y, tf.trainable_variables()), {"x:0": X})
        names = [variable.name for variable in tf.global_variables()]
    return f"variables {', '.join(names)}; gradients through its loop and branches"


def _saved_model(tf: Any, folder: str) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.loader.load(
            session, ["serve"], os.path.join(folder, "saved_model")
        )
        signature = message.signature_def["serving_default"]
        y = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: X})
        np.testing.assert_allclose(y, EXPECTED, rtol=1e-6)
    return f"signature of {signature.method_name}"


def _with_assets(tf: Any, folder: str) -> str:
    for tags in (["serve"], ["train", "gpu"]):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.loader.load(session, tags, os.path.join(folder, "with_assets"))
            found = session.run("found:0", {"words:0": ["blue", "red", "mauve"]})
            assert found.argmax(1).tolist() == [2, 0, 3], found
    return "a vocabulary, a main op and two graphs by their tags"


READERS = {
    "MetaGraphDef with checkpoint": _meta_graph,
    "SavedModel": _saved_model,
    "SavedModel with assets": _with_assets,
}


def check(folder: str, python: str) -> list[str]:
    """Writes the files with Penstock and has the TensorFlow of `python` read them."""
    write(folder)
    return read_with(python, __name__, folder)
