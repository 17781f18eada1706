"""Recurrent networks whose variables and outputs TensorFlow 1.15 recorded.

Each gets the module to build with and its inputs, and returns what to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

NETWORKS: dict[str, Callable[..., Any]] = {}
LENGTHS = [4, 2]


def network(build: Callable[..., Any]) -> Callable[..., Any]:
    NETWORKS[build.__name__] = build
    return build


def inputs() -> np.ndarray:
    """Two sequences of four steps."""
    return (np.sin(np.arange(40) * 0.7).reshape(2, 4, 5) * 0.8).astype(np.float32)


def parts(result: Any) -> list[Any]:
    """The tensors of a nested result, in order."""
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in parts(part)]
    return [result]


@network
def basic_lstm(tf, x):
    return tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), x, LENGTHS, dtype=tf.float32)


@network
def peepholes_and_projection(tf, x):
    cell = tf.nn.rnn_cell.LSTMCell(
        4, use_peepholes=True, num_proj=3, cell_clip=0.6, proj_clip=0.5, forget_bias=0.7
    )
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)


@network
def sharded(tf, x):
    cell = tf.nn.rnn_cell.LSTMCell(4, num_proj=3, num_unit_shards=2, num_proj_shards=3)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)


@network
def stacked(tf, x):
    cells = tf.nn.rnn_cell
    stack = [cells.GRUCell(3), cells.ResidualWrapper(cells.BasicRNNCell(3)), cells.LSTMCell(2)]
    return tf.nn.dynamic_rnn(cells.MultiRNNCell(stack), x, LENGTHS, dtype=tf.float32)


@network
def bidirectional(tf, x):
    cells = tf.nn.rnn_cell
    return tf.nn.bidirectional_dynamic_rnn(
        cells.LSTMCell(3), cells.GRUCell(2), x, LENGTHS, dtype=tf.float32
    )


@network
def unrolled(tf, x):
    steps = tf.unstack(x, axis=1)
    return tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(3), steps, dtype=tf.float32, scope="encoder")


@network
def block_cells(tf, x):
    rnn = tf.contrib.rnn
    cell = rnn.MultiRNNCell([rnn.LSTMBlockCell(3, use_peephole=True), rnn.GRUBlockCellV2(2)])
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)


@network
def normalized(tf, x):
    return tf.nn.dynamic_rnn(tf.contrib.rnn.LayerNormBasicLSTMCell(3), x, dtype=tf.float32)


@network
def attention(tf, x):
    seq2seq = tf.contrib.seq2seq
    mechanism = seq2seq.BahdanauAttention(3, x, LENGTHS, normalize=True)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism, attention_layer_size=4)
    decoder = seq2seq.BasicDecoder(
        cell,
        seq2seq.TrainingHelper(x, LENGTHS),
        cell.zero_state(2, tf.float32),
        output_layer=tf.layers.Dense(2),
    )
    decoded, _, lengths = seq2seq.dynamic_decode(decoder)
    return decoded, lengths
