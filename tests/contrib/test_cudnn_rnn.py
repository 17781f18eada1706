"""`tf.contrib.cudnn_rnn`: names of weights, and results next to cells written out in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

cudnn_rnn = tf.contrib.cudnn_rnn

INPUTS = np.random.default_rng(0).normal(size=[5, 2, 3]).astype(np.float32)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def names() -> list[str]:
    return [variable.op.name for variable in tf.trainable_variables()]


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_lstm() -> None:
    layer = cudnn_rnn.CudnnLSTM(2, 4)
    outputs, (h, c) = layer(INPUTS)
    prefix = "cudnn_lstm/rnn/multi_rnn_cell/cell_{}/cudnn_compatible_lstm_cell/"
    assert names() == [prefix.format(i) + part for i in (0, 1) for part in ("kernel", "bias")]
    assert layer.trainable_variables == tf.trainable_variables()
    outputs, h, c, weights = run([outputs, h, c, layer.trainable_variables])
    assert outputs.shape == (5, 2, 4)
    assert h.shape == c.shape == (2, 2, 4)
    steps = list(INPUTS)
    for index in range(2):
        kernel, bias = weights[2 * index : 2 * index + 2]
        state, memory = np.zeros([2, 4]), np.zeros([2, 4])
        for time, step in enumerate(steps):
            gates = np.concatenate([step, state], 1) @ kernel + bias
            i, new, forget, out = np.split(gates, 4, 1)
            memory = sigmoid(forget) * memory + sigmoid(i) * np.tanh(new)
            state = sigmoid(out) * np.tanh(memory)
            steps[time] = state
        np.testing.assert_allclose(h[index], state, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(c[index], memory, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(outputs, steps, rtol=1e-4, atol=1e-6)


def test_gru_resets_after_the_projection() -> None:
    layer = cudnn_rnn.CudnnGRU(1, 4)
    outputs, (h,) = layer(INPUTS)
    prefix = "cudnn_gru/rnn/multi_rnn_cell/cell_0/cudnn_compatible_gru_cell/"
    parts = "gates/kernel gates/bias candidate/input_projection/kernel "
    parts += "candidate/hidden_projection/kernel candidate/input_projection/bias "
    parts += "candidate/hidden_projection/bias"
    assert names() == [prefix + part for part in parts.split()]
    variables = tf.trainable_variables()
    with tf.Session() as session:
        draw = np.random.default_rng(2)
        for variable in variables:
            session.run(variable.initializer)
            variable.load(draw.normal(size=variable.shape.as_list()).astype("f"), session)
        outputs, h, weights = session.run([outputs, h, variables])
    gate_kernel, gate_bias, w, r, w_bias, r_bias = weights
    state = np.zeros([2, 4])
    for time, step in enumerate(INPUTS):
        gates = sigmoid(np.concatenate([step, state], 1) @ gate_kernel + gate_bias)
        reset, update = np.split(gates, 2, 1)
        new = np.tanh(step @ w + w_bias + reset * (state @ r + r_bias))
        state = (1 - update) * new + update * state
        np.testing.assert_allclose(outputs[time], state, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(h[0], state, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu"])
def test_both_directions(kind: str) -> None:
    layer = getattr(cudnn_rnn, kind)(2, 4, direction="bidirectional")
    outputs, states = layer(INPUTS, training=False)
    assert layer.num_dirs == 2
    assert all("/bidirectional_rnn/" in name for name in names())
    assert "/stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/" in names()[0]
    outputs, states = run([outputs, states])
    assert outputs.shape == (5, 2, 8)
    assert all(state.shape == (4, 2, 4) for state in states)
    # States are those of each layer, forward then backward.
    np.testing.assert_allclose(outputs[-1, :, :4], states[0][2], rtol=1e-5)
    np.testing.assert_allclose(outputs[0, :, 4:], states[0][3], rtol=1e-5)


def test_states_lengths_and_batches_first() -> None:
    layer = cudnn_rnn.CudnnLSTM(1, 4)
    whole, ends = layer(INPUTS)
    _, middle = layer(INPUTS[:2])
    _, continued = layer(INPUTS[2:], initial_state=middle)
    swapped, swapped_ends = layer(
        INPUTS.transpose(1, 0, 2), sequence_lengths=[5, 2], time_major=False
    )
    assert len(tf.trainable_variables()) == 2
    whole, ends, continued, swapped, swapped_ends = run(
        [whole, ends, continued, swapped, swapped_ends]
    )
    np.testing.assert_allclose(continued, ends, rtol=1e-5)
    np.testing.assert_allclose(swapped[0], whole[:, 0], rtol=1e-5)
    np.testing.assert_array_equal(swapped[1, 2:], np.zeros([3, 4]))
    np.testing.assert_allclose(swapped_ends[0][1, 0], whole[1, 1], rtol=1e-5)


def test_dropout_only_while_training() -> None:
    layer = cudnn_rnn.CudnnRNNTanh(2, 8, dropout=0.5)
    train, evaluate = layer(INPUTS, training=True)[0], layer(INPUTS, training=False)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.any(session.run(train) != session.run(train))
        np.testing.assert_array_equal(session.run(evaluate), session.run(evaluate))


def test_checkpoints_are_those_of_cells(tmp_path: Path) -> None:
    outputs, _ = cudnn_rnn.CudnnLSTM(2, 4, name="net")(INPUTS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(outputs)
        path = tf.train.Saver().save(session, str(tmp_path / "layer"))
    with tf.Graph().as_default(), tf.variable_scope("net"):
        cells = [cudnn_rnn.CudnnCompatibleLSTMCell(4) for _ in range(2)]
        stack = tf.nn.rnn_cell.MultiRNNCell(cells)
        outputs, _ = tf.nn.dynamic_rnn(
            stack, tf.constant(INPUTS), time_major=True, dtype=tf.float32
        )
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            np.testing.assert_allclose(session.run(outputs), expected, rtol=1e-5)


def test_arguments() -> None:
    with pytest.raises(ValueError, match="Invalid direction"):
        cudnn_rnn.CudnnLSTM(1, 4, direction="up")
    with pytest.raises(ValueError, match="Only support float16, float32, float64"):
        cudnn_rnn.CudnnLSTM(1, 4, dtype=tf.int32)
    with pytest.raises(ValueError, match="'input_size' is unknown"):
        _ = cudnn_rnn.CudnnLSTM(1, 4).input_size
    with pytest.raises(TypeError, match="expecting tuple"):
        cudnn_rnn.CudnnGRU(1, 4)(INPUTS, initial_state=[np.zeros([1, 2, 4])])
