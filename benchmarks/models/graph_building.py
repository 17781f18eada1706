"""Building a graph of 10,000 nodes with gradients; running it is not part of the step."""

from typing import Any

from benchmarks.model import Model, Program, sessions

LAYERS = 394  # about 10,000 nodes in all
WIDTH, BATCH = 16, 8


def build_graph(tf: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        value = tf.placeholder(tf.float32, [BATCH, WIDTH])
        weights = tf.Variable(tf.zeros([WIDTH, WIDTH]))
        bias = tf.Variable(tf.zeros([WIDTH]))
        for _ in range(LAYERS):
            value = tf.tanh(tf.matmul(value, weights) + bias)
        tf.gradients(tf.reduce_mean(value), [weights, bias])
    return graph


def build_session(tf: Any) -> Program:
    return Program(
        step=lambda: build_graph(tf), observe=lambda: len(build_graph(tf).get_operations())
    )


MODEL = Model(
    title="building 10,000 nodes with gradients",
    steps=1,
    builders=sessions(build_session),
    check_steps=0,
    tolerance=0.05,
)
