"""GraphDefs: a network with batch normalization and its gradients, a frozen graph, functions."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tensorflow_reads import read_with


def _grid(*shape: int) -> np.ndarray:
    return np.sin(np.arange(int(np.prod(shape)))).reshape(shape).astype(np.float32)


def _network(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    filters = tf.get_variable("filters", initializer=_grid(3, 3, 2, 4), use_resource=True)
    net = tf.nn.conv2d(x, filters, strides=[1, 1, 1, 1], padding="SAME")
    for is_training in (True, False):
        fixed = {} if is_training else {"mean": tf.zeros([4]), "variance": tf.ones([4])}
        net = tf.nn.fused_batch_norm(
            net, tf.ones([4]), tf.zeros([4]), is_training=is_training, **fixed
        )[0]
    net = tf.nn.dropout(tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), keep_prob=1.0)
    rows = tf.Variable(_grid(5, 36), name="rows")
    net = tf.reshape(net, [-1, 36]) + tf.gather(rows, [1])
    weights = tf.Variable(_grid(36, 3), name="weights")
    logits = tf.matmul(net, weights)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.constant([0, 2]))
    )
    tf.identity(loss, name="loss")
    tf.train.AdamOptimizer(0.1).minimize(loss, name="train")


def write(folder: str) -> None:
    """A training graph as binary and as text, the same frozen, and one with functions."""
    import penstock as tf
    from penstock.ops.functions import Defun

    feeds = {"x:0": _grid(2, 6, 6, 2)}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        _network(tf)
        init = tf.global_variables_initializer()
        tf.train.write_graph(graph, folder, "training.pb", as_text=False)
        tf.train.write_graph(graph, folder, "training.pbtxt")
        message = graph.as_graph_def(add_shapes=True)
        tf.train.write_graph(message, folder, "with_shapes.pb", as_text=False)
        session.run(init)
        frozen = tf.graph_util.convert_variables_to_constants(session, message, ["loss"])
        tf.train.write_graph(frozen, folder, "frozen.pb", as_text=False)
        values = [session.run(["loss:0", "train"], feeds)[0] for _ in range(3)]
    np.save(os.path.join(folder, "losses.npy"), values)
    with tf.Graph().as_default() as graph:

        @Defun(tf.float32, tf.float32)
        def gradient(x, dy):
            return 2.0 * dy * x

        @Defun(tf.float32, grad_func=gradient)
        def cube(x):
            return x * x * x

        tf.identity(cube(tf.placeholder(tf.float32, [2], name="x")), name="y")
        tf.train.write_graph(graph, folder, "functions.pb", as_text=False)


def _message(tf: Any, folder: str, name: str) -> Any:
    message = tf.GraphDef()
    with open(os.path.join(folder, name), "rb") as file:
        content = file.read()
    if name.endswith(".pbtxt"):
        from google.protobuf import text_format

        return text_format.Parse(content.decode(), message)
    message.ParseFromString(content)
    return message


def _training(name: str) -> Any:
    def read(tf: Any, folder: str) -> str:
        message = _message(tf, folder, name)
        expected = np.load(os.path.join(folder, "losses.npy"))
        with tf.Graph().as_default(), tf.Session() as session:
            tf.import_graph_def(message, name="")
            session.run("init")
            feeds = {"x:0": _grid(2, 6, 6, 2)}
            losses = [session.run(["loss:0", "train"], feeds)[0] for _ in expected]
        np.testing.assert_allclose(losses, expected, rtol=1e-3)
        return f"{len(message.node)} nodes, trained {len(expected)} steps with the same losses"

    return read


def _frozen(tf: Any, folder: str) -> str:
    message = _message(tf, folder, "frozen.pb")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(message, name="")
        loss = session.run("loss:0", {"x:0": _grid(2, 6, 6, 2)})
    np.testing.assert_allclose(loss, np.load(os.path.join(folder, "losses.npy"))[0], rtol=1e-4)
    return f"{len(message.node)} nodes"


def _functions(tf: Any, folder: str) -> str:
    message = _message(tf, folder, "functions.pb")
    with tf.Graph().as_default(), tf.Session() as session:
        y, x = tf.import_graph_def(message, name="", return_elements=["y:0", "x:0"])
        value, gradient = session.run([y, tf.gradients(y, x)[0]], {x: [2.0, 3.0]})
    assert value.tolist() == [8.0, 27.0] and gradient.tolist() == [4.0, 6.0], (value, gradient)
    return f"{len(message.library.function)} functions, one with a gradient function"


READERS = {
    "GraphDef": _training("training.pb"),
    "GraphDef as text": _training("training.pbtxt"),
    "GraphDef with shapes": _training("with_shapes.pb"),
    "frozen graph": _frozen,
    "functions": _functions,
}


def check(folder: str, python: str) -> list[str]:
    """Writes the files with Penstock and has the TensorFlow of `python` read them."""
    write(folder)
    return read_with(python, __name__, folder)
