"""A small program that makes every call of the master service, for TensorFlow and for Penstock.

`record_grpc.py` runs it as a script with a real TensorFlow.
"""

import json
import sys

import numpy as np


def outcome(tf, run):
    """The result of a run as JSON: values, or the class and the node of the error."""
    try:
        return plain(run())
    except tf.errors.OpError as error:
        return {"error": type(error).__name__, "op": getattr(error.op, "name", None)}


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind == "S":
        return [each.decode() for each in array.reshape(-1)]
    return [str(array.dtype), array.astype(np.float64).tolist()]


def run_program(tf, target, callable_options):
    """The outcomes of all runs, by what they are about."""
    with tf.Graph().as_default():
        return _run(tf, target, callable_options)


def _run(tf, target, callable_options):
    found = {}
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    y = tf.matmul(x, v, name="y")
    row = np.array([[1.0, 1.0]], np.float32)
    init = v.initializer
    session = tf.Session(target)
    found["not initialized"] = outcome(tf, lambda: session.run(v))
    found["init"] = outcome(tf, lambda: session.run(init))
    found["feed and fetch"] = outcome(tf, lambda: session.run([y, x, v], {x: row}))

    words = tf.placeholder(tf.string, [None], name="words")
    joined = tf.string_join([words, words], name="joined")
    found["strings"] = outcome(tf, lambda: session.run(joined, {words: ["a", "bcd"]}))
    numbers = tf.placeholder(tf.bfloat16, [None], name="numbers")
    halves = tf.cast(numbers, tf.float16, name="halves")
    fed = np.array([0.5, 1.0, -2.0]).astype(tf.bfloat16.as_numpy_dtype)
    found["half floats"] = outcome(tf, lambda: session.run(halves, {numbers: fed}))
    large = tf.placeholder(tf.int64, [None], name="large")
    added = tf.add(large, 1, name="added")
    found["large"] = outcome(tf, lambda: session.run(added, {large: np.arange(2000)}))[1][-1]
    with tf.colocate_with(v.op):
        total = tf.reduce_sum(v, name="total")
    found["colocated with an older node"] = outcome(tf, lambda: session.run(total))

    other = tf.placeholder(tf.float32, [None, None], name="other")
    wrong = tf.matmul(y, other, name="wrong")
    feeds = {x: row, other: np.ones([3, 3], np.float32)}
    found["error of a node"] = outcome(tf, lambda: session.run(wrong, feeds))
    found["missing feed"] = outcome(tf, lambda: session.run(y))

    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.placeholder(tf.float32, [], name="b")
    c = tf.add(a, 1.0, name="c")
    d = tf.multiply(c, b, name="d")
    handle = session.partial_run_setup([c, d], [a, b])
    found["first part"] = outcome(tf, lambda: session.partial_run(handle, c, {a: 1.0}))
    found["second part"] = outcome(tf, lambda: session.partial_run(handle, d, {b: 3.0}))

    callable_options.feed.append("x:0")
    callable_options.fetch.extend(["y:0", "v:0"])
    # A callable that nobody has any more is released at the server.
    found["callable"] = outcome(
        tf, lambda: session._make_callable_from_options(callable_options)(row)
    )
    names = [device.name for device in session.list_devices() if device.device_type == "CPU"]
    found["devices"] = names
    with tf.device("/job:nowhere/task:7"):
        tf.constant(1.0, name="nowhere")
    last = tf.identity(total, name="last")
    found["refused nodes"] = outcome(tf, lambda: session.run(last))
    tf.Session.reset(target)
    found["after a reset"] = outcome(tf, lambda: session.run(last))
    return found


if __name__ == "__main__":
    import tensorflow.compat.v1 as tensorflow
    from tensorflow.core.protobuf import config_pb2

    tensorflow.disable_v2_behavior()
    json.dump(run_program(tensorflow, sys.argv[1], config_pb2.CallableOptions()), sys.stdout)
