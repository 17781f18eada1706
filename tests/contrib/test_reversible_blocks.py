"""Reversible blocks and recomputed gradients: the values of what computes and keeps everything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.layers.sparse_ids import (
    dense_to_sparse_tensor,
    indicators_to_sparse_ids,
    sparse_row_envelope,
)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def _dense(x: Any, side: Any = None) -> Any:
    y = tf.layers.dense(x, 3, kernel_initializer=tf.ones_initializer())
    return y if side is None else y + side[0]


@pytest.mark.parametrize("with_side_input", [False, True])
def test_gradients_are_those_of_the_plain_block(with_side_input: bool) -> None:
    x = tf.constant([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    side = [tf.constant([1.0, 2.0, 3.0])] if with_side_input else None
    found = []
    for is_training in (True, False):
        with tf.variable_scope(f"block_{is_training}"):
            y1, y2 = tf.contrib.layers.rev_block(
                x, x + 1.0, _dense, _dense, 2, f_side_input=side, is_training=is_training
            )
            variables = tf.trainable_variables(f"block_{is_training}")
        sources = [x, *variables, *(side or [])]
        found.append([y1, y2, *tf.gradients(tf.square(y1) + y2, sources)])
    assert len(found[0]) == 2 + 1 + 8 + with_side_input
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one, other in zip(*session.run(found), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_input_follows_from_the_output() -> None:
    from penstock.contrib.layers.reversible import RevBlock

    block = RevBlock(_dense, _dense, num_layers=3)
    x = [tf.ones([2, 3]), tf.zeros([2, 3])]
    back = block.backward(*block.forward(*x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run([back, x]), atol=1e-2)


def test_recomputed_gradients() -> None:
    calls: list[bool] = []

    @tf.contrib.layers.recompute_grad(tupleize_grads=True)
    def layer(x: Any, is_recomputing: bool = False) -> Any:
        calls.append(is_recomputing)
        return tf.layers.dense(x, 2, activation=tf.tanh, name="d")

    x = tf.ones([1, 3])
    with tf.variable_scope("s", use_resource=True):
        y = layer(x)
    variables = tf.trainable_variables()
    gradients = tf.gradients(y, [x, *variables])
    assert calls == [False, True] and len(variables) == 2
    with tf.variable_scope("s", reuse=True):
        plain = tf.layers.dense(x, 2, activation=tf.tanh, name="d")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(tf.gradients(plain, [x, *variables]))
        for one, other in zip(session.run(gradients), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_recomputed_functions_take_tensors_as_arguments() -> None:
    captured = tf.ones([1])
    with pytest.raises(ValueError, match="closes over Tensor"):
        tf.contrib.layers.recompute_grad(lambda x: x * captured)


def test_sparse_ids() -> None:
    sparse = dense_to_sparse_tensor([["", "a"], ["b", ""]])
    ids = indicators_to_sparse_ids([[0, 0, 5], [7, 0, 9], [0, 0, 0]], dtype=tf.int32)
    rows = tf.SparseTensor([[0, 0], [2, 0], [2, 3]], [1, 1, 1], [4, 5])
    with tf.Session() as session:
        assert session.run(sparse).values.tolist() == [b"a", b"b"]
        value = session.run(ids)
        assert value.indices.tolist() == [[0, 0], [1, 0], [1, 1]]
        assert value.values.tolist() == [2, 0, 2] and value.dense_shape.tolist() == [3, 2]
        assert session.run(sparse_row_envelope(rows)).tolist() == [1, 0, 4, 0]
    with pytest.raises(ValueError, match="not integer"):
        indicators_to_sparse_ids([[1]], dtype=tf.float32)
    with pytest.raises(ValueError, match="same axis"):
        sparse_row_envelope(rows, 1, 1)
