"""Small programs that are trained on a GPU and on the host, and must learn the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf

Program = Callable[[], Any]  # builds a loss


def _data(*shape: int) -> Any:
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype(np.float32)


def perceptron() -> Any:
    """Two layers, a sparse cross entropy."""
    x, labels = tf.constant(_data(8, 6)), tf.constant([0, 1, 2, 0, 1, 2, 0, 1])
    hidden = tf.layers.dense(x, 5, tf.nn.tanh, kernel_initializer=_initializer(1))
    logits = tf.layers.dense(hidden, 3, kernel_initializer=_initializer(2))
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def convolutions() -> Any:
    """Convolution, normalisation, both kinds of pooling."""
    x = tf.constant(_data(2, 8, 8, 3))
    maps = tf.layers.conv2d(
        x, 4, 3, padding="same", use_bias=False, kernel_initializer=_initializer(3)
    )
    maps = tf.nn.relu(tf.layers.batch_normalization(maps, training=True))
    maps = tf.layers.max_pooling2d(maps, 2, 2)
    maps = tf.layers.average_pooling2d(maps, 3, 1, padding="same")
    return tf.reduce_mean(tf.square(maps))


def recurrent() -> Any:
    """A dynamic loop over steps of time, with lengths of its own for each row."""
    cell = tf.nn.rnn_cell.LSTMCell(4, initializer=_initializer(4))
    outputs, _ = tf.nn.dynamic_rnn(
        cell, tf.constant(_data(3, 5, 2)), sequence_length=[5, 2, 4], dtype=tf.float32
    )
    return tf.reduce_sum(tf.square(outputs))


def embedding() -> Any:
    """Rows of a table, some of them several times: their gradients are added up."""
    table = tf.get_variable("table", [7, 3], initializer=_initializer(5))
    rows = tf.nn.embedding_lookup(table, tf.constant([1, 5, 1, 0]))
    return tf.reduce_sum(tf.square(rows - 0.5))


PROGRAMS: dict[str, Program] = {
    "perceptron": perceptron,
    "convolutions": convolutions,
    "recurrent": recurrent,
    "embedding": embedding,
}

ON_HOST = tf.ConfigProto(device_count={"GPU": 0})


def _initializer(seed: int) -> Any:
    return tf.random_uniform_initializer(-0.5, 0.5, seed=seed)


def learned(program: Program, optimizer: Any, config: Any = None, steps: int = 3) -> list[Any]:
    """The losses of some steps of training, then the trained variables."""
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        loss = program()
        train = optimizer().minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(steps)]
        return [*losses, *session.run(tf.trainable_variables())]
