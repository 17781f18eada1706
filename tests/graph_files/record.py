"""Writes graphs, MetaGraphDefs and SavedModels with a real TensorFlow, and what they compute.

    TF_ENV/bin/python tests/graph_files/record.py     # TF_ENV: an environment with tensorflow 1.15

The files go to `data/` beside this script; `outputs.json` there has, for each of them, the feeds
and the values of the fetches.
"""

from __future__ import annotations

import json
import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow.compat.v1 as tf

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
OUTPUTS: dict[str, dict[str, object]] = {}


def path(*parts: str) -> str:
    return os.path.join(DATA, *parts)


def record(name: str, session: tf.Session, fetches: list[str], feeds: dict[str, object]) -> None:
    values = session.run(fetches, feeds)
    OUTPUTS[name] = {
        "feeds": {key: np.asarray(value).tolist() for key, value in feeds.items()},
        "fetches": {key: as_json(value) for key, value in zip(fetches, values)},  # noqa: B905,
    }


def as_json(value: np.ndarray) -> object:
    array = np.asarray(value)
    if array.dtype == object:
        return json.loads(json.dumps(array.tolist(), default=bytes.decode))
    return array.tolist()


def grid(*shape: int) -> np.ndarray:
    """Values that look different in every place."""
    return (np.sin(np.arange(int(np.prod(shape)))).reshape(shape)).astype(np.float32)


def image_model() -> None:
    """A frozen convolutional network with batch normalization, pooling and dropout left over."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")
        filters = tf.get_variable("filters", initializer=grid(3, 3, 2, 3), use_resource=True)
        net = tf.nn.conv2d(x, filters, strides=[1, 1, 1, 1], padding="SAME", name="conv")
        scale, offset = tf.constant([0.5, 1.0, 2.0]), tf.constant([0.1, 0.2, 0.3])
        mean, variance = tf.constant([0.0, 0.1, -0.1]), tf.constant([1.0, 0.5, 2.0])
        net, _, _ = tf.nn.fused_batch_norm(
            net, scale, offset, mean, variance, is_training=False, name="norm"
        )
        net = tf.nn.max_pool(tf.nn.relu(net), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        table = tf.Variable(grid(5, 3), name="table")
        net += tf.gather(table, tf.cast(tf.argmax(net, -1), tf.int32))
        tf.nn.softmax(tf.reduce_mean(net, [1, 2]), name="y")
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), ["y"]
        )
        tf.train.write_graph(frozen, DATA, "image_model.pb", as_text=False)
        tf.train.write_graph(frozen, DATA, "image_model.pbtxt", as_text=True)
        record("image_model", session, ["y:0"], {"x:0": grid(2, 6, 6, 2)})


def meta_graph() -> None:
    """A MetaGraphDef with loops, branches, partitioned variables, a queue, and its checkpoint."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        parts = tf.get_variable(
            "parts", initializer=tf.constant(grid(4, 3)), partitioner=tf.fixed_size_partitioner(2)
        )
        bias = tf.get_variable("bias", initializer=grid(3), use_resource=True)
        hidden = tf.matmul(x, tf.identity(parts)) + bias

        def body(i: tf.Tensor, state: tf.Tensor) -> list[tf.Tensor]:
            branch = tf.cond(tf.equal(i % 2, 0), lambda: tf.tanh(state), lambda: state * 1.5)
            return [i + 1, branch + bias]

        _, looped = tf.while_loop(lambda i, s: i < 5, body, [tf.constant(0), hidden], name="loop")
        rnn = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(2, initializer=tf.constant_initializer(0.3)),
            tf.reshape(looped, [-1, 3, 1]),
            dtype=tf.float32,
        )[0]
        loss = tf.reduce_sum(tf.square(rnn), name="loss")
        step = tf.train.get_or_create_global_step()
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step, name="train")
        queue = tf.FIFOQueue(4, [tf.float32], [[]], name="queue")
        runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)])
        tf.train.add_queue_runner(runner)
        tf.add_to_collection("train", train)
        tf.add_to_collection("x", x)
        tf.add_to_collection("note", "recorded")
        session.run(tf.global_variables_initializer())
        tf.train.Saver(sharded=True, max_to_keep=3).save(
            session, path("meta", "model"), write_state=False
        )
        graph.finalize()
        feeds = {"x:0": grid(2, 4)}
        before, _ = session.run([loss, train], feeds)
        OUTPUTS["meta"] = {
            "feeds": {"x:0": grid(2, 4).tolist()},
            "losses": [float(before), float(session.run(loss, feeds))],
            "variables": sorted(v.name for v in graph.get_collection("variables")),
        }


def saved_model() -> None:
    """A SavedModel with a vocabulary among its assets, a main op, and two graphs by their tags."""
    os.chdir(DATA)
    vocabulary = "words.txt"  # the graph keeps this text: no folder of this machine in it
    with open(vocabulary, "w") as file:
        file.write("red\ngreen\nblue\n")
    builder = tf.saved_model.Builder(path("saved_model"))
    for tags in (["serve"], ["train", "gpu"]):
        with tf.Graph().as_default(), tf.Session() as session:
            serialized = tf.placeholder(tf.string, [None], name="serialized")
            features = tf.parse_example(
                serialized, {"word": tf.FixedLenFeature([], tf.string, default_value="?")}
            )
            table = tf.lookup.StaticVocabularyTable(
                tf.lookup.TextFileInitializer(
                    vocabulary,
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                num_oov_buckets=1,
            )
            ids = table.lookup(features["word"])
            embedding = tf.get_variable("embedding", initializer=grid(4, 2))
            scores = tf.nn.softmax(tf.nn.embedding_lookup(embedding, ids), name="scores")
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            signature = tf.saved_model.predict_signature_def(
                {"examples": serialized}, {"scores": scores, "ids": ids}
            )
            signatures = {"serving_default": signature}
            assets = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
            main_op = tf.tables_initializer()
            if tags == ["serve"]:
                builder.add_meta_graph_and_variables(
                    session, tags, signatures, assets, main_op=main_op
                )
                examples = [
                    tf.train.Example(
                        features=tf.train.Features(
                            feature={
                                "word": tf.train.Feature(
                                    bytes_list=tf.train.BytesList(value=[word])
                                )
                            }
                        )
                    ).SerializeToString()
                    for word in (b"blue", b"red", b"mauve")
                ]
                values = session.run([scores, ids], {serialized: examples})
                OUTPUTS["saved_model"] = {
                    "words": ["blue", "red", "mauve"],
                    "scores": values[0].tolist(),
                    "ids": values[1].tolist(),
                }
            else:
                builder.add_meta_graph(tags, signatures, assets, main_op=main_op)
    builder.save()
    os.remove(vocabulary)


def function_graph() -> None:
    """A GraphDef with functions of its own, one with a gradient function."""
    from tensorflow.python.framework import function

    with tf.Graph().as_default() as graph, tf.Session() as session:

        @function.Defun(tf.float32, tf.float32)
        def double_gradient(x: tf.Tensor, dy: tf.Tensor) -> tf.Tensor:
            return 2.0 * dy * x

        @function.Defun(tf.float32, grad_func=double_gradient, func_name="Cube")
        def cube(x: tf.Tensor) -> tf.Tensor:
            return x * x * x

        x = tf.placeholder(tf.float32, [2], name="x")
        tf.identity(cube(x) + 1.0, name="y")
        gradient = tf.gradients(graph.get_tensor_by_name("y:0"), x)[0]
        tf.identity(gradient, name="dy")
        tf.train.write_graph(graph, DATA, "functions.pb", as_text=False)
        record("functions", session, ["y:0", "dy:0"], {"x:0": [2.0, 3.0]})


def main() -> None:
    for name in ("saved_model", "meta"):
        shutil.rmtree(path(name), ignore_errors=True)
    os.makedirs(path("meta"))
    image_model()
    meta_graph()
    saved_model()
    function_graph()
    with open(path("outputs.json"), "w") as file:
        json.dump({"tensorflow": tf.__version__, **OUTPUTS}, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    main()
