"""Building a graph of 10,000 nodes with gradients; running it is not part of the step."""

from typing import Any

from benchmarks.model import Model, Program, sessions

LAYERS = 907  # 11 nodes each with their gradients, in TensorFlow 9,999 in all
NODES = 10_000
TOLERANCE = 0.1  # another system may need a few nodes more or less
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


def count_nodes(tf: Any) -> float:
    """How many nodes the graph has; fails where that is far from what the title says."""
    nodes = len(build_graph(tf).get_operations())
    if abs(nodes - NODES) > TOLERANCE * NODES:
        raise ValueError(f"the graph should have about {NODES} nodes, and has {nodes}")
    return nodes


def build_session(tf: Any) -> Program:
    return Program(step=lambda: build_graph(tf), observe=lambda: count_nodes(tf))


MODEL = Model(
    title="building 10,000 nodes with gradients",
    steps=1,
    builders=sessions(build_session),
    check_steps=0,
    tolerance=TOLERANCE,
)
