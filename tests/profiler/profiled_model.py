"""A small model whose profile TensorFlow has printed, written for any `tf` module."""

from __future__ import annotations

from typing import Any

REPORTS = ("params", "flops", "op", "depth", "file")


def build(tf: Any) -> None:
    # Random values would be sums of another op type in each release.
    with tf.variable_scope("", initializer=tf.ones_initializer()):
        _build(tf)


def _build(tf: Any) -> None:
    images = tf.placeholder(tf.float32, [8, 28, 28, 1], name="x")
    with tf.variable_scope("conv"):
        filters, bias = tf.get_variable("w", [5, 5, 1, 4]), tf.get_variable("b", [4])
        hidden = tf.nn.conv2d(images, filters, [1, 2, 2, 1], "SAME")
        hidden = tf.nn.relu(tf.nn.bias_add(hidden, bias))
        hidden = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.variable_scope("fc"):
        weights, bias = tf.get_variable("w", [7 * 7 * 4, 10]), tf.get_variable("b", [10])
        logits = tf.matmul(tf.reshape(hidden, [8, -1]), weights) + bias
    tf.get_variable("not_trained", [3], trainable=False)
    loss = tf.reduce_mean(tf.square(logits))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def report(tf: Any, name: str, path: str) -> Any:
    """Profiles the model of the default graph and returns the message; prints it or to `path`."""
    builder = tf.profiler.ProfileOptionBuilder
    graph = tf.get_default_graph()
    params, flops = builder.trainable_variables_parameter(), builder.float_operation()
    if name == "params":
        return tf.profiler.profile(graph, options=params)
    if name == "flops":
        return tf.profiler.profile(graph, options=flops)
    if name == "op":
        return tf.profiler.profile(graph, cmd="op", options=flops)
    if name == "depth":
        options = builder(params).with_max_depth(2).order_by("params")
        return tf.profiler.profile(graph, options=options.select(["params", "float_ops"]).build())
    options = builder(params).with_node_names(show_name_regexes=[".*w"]).with_file_output(path)
    return tf.profiler.profile(graph, options=options.build())
