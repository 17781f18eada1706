"""`tf.contrib.recurrent`: beside loops unrolled by hand, and `tf.nn.dynamic_rnn`."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import recurrent

State = collections.namedtuple("State", "h")
RANDOM = np.random.RandomState(0)
WEIGHTS, BIAS, START = RANDOM.rand(8, 4) - 0.5, RANDOM.rand(4), RANDOM.rand(3, 4)
INPUTS = RANDOM.rand(5, 3, 4)


def _cell(theta, state, inputs):
    h = tf.sigmoid(tf.matmul(tf.concat([inputs, state.h], 1), theta[0]) + theta[1])
    return State(h), State(h)


def _gradient(theta, state, inputs, extras, later):
    d = later.h * extras.h * (1 - extras.h)
    by_weights = tf.matmul(tf.concat([inputs, state.h], 1), d, transpose_a=True)
    by_h = tf.matmul(d, theta[0][4:], transpose_b=True)
    by_inputs = tf.matmul(d, theta[0][:4], transpose_b=True)
    return [by_weights, tf.reduce_sum(d, 0)], State(by_h), by_inputs


@pytest.mark.parametrize("cell_grad", [None, _gradient])
@pytest.mark.parametrize(("steps", "made"), [(5, None), (1, None), (5, 3)])
def test_a_recurrence_equals_the_unrolled_one(cell_grad, steps, made):
    arguments = [tf.constant(each) for each in (WEIGHTS, BIAS, START, INPUTS[:steps])]
    weights, bias, start, inputs = arguments
    state, rows = State(start), []
    for step in range(made or steps):
        state, _ = _cell([weights, bias], state, inputs[step])
        rows.append(state.h)
    rows += [tf.zeros_like(start)] * (steps - len(rows))
    history, final = recurrent.Recurrent(
        [weights, bias],
        State(start),
        inputs,
        _cell,
        cell_grad,
        max_input_length=made and tf.constant(made),
    )
    expected = [tf.stack(rows), state.h]
    found = [history.h, final.h]
    for results in (expected, found):
        loss = tf.reduce_sum(results[0] ** 2) + tf.reduce_sum(results[1])
        results.extend(tf.convert_to_tensor(each) for each in tf.gradients(loss, arguments))
    with tf.Session() as session:
        for one, other in zip(*session.run((found, expected)), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_last_steps_alone():
    def add(theta, state, inputs):
        return State(state.h + theta * inputs), []

    inputs = tf.constant([1.0, 2.0, 3.0])
    history, final = recurrent.Recurrent(
        2.0, State(0.0), inputs, add, max_input_length=tf.constant(2), aligned_end=True
    )
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(history.h), [0, 4, 10])
        assert session.run(final.h) == 10


def _same_weights(session):
    session.run(tf.global_variables_initializer())
    for variable in tf.global_variables():
        size = variable.shape.num_elements()
        values = (0.37 * np.arange(size) % 1 - 0.5).reshape(variable.shape.as_list())
        variable.load(values.astype("f"), session)


@pytest.mark.parametrize("kind", [tf.nn.rnn_cell.BasicRNNCell, tf.nn.rnn_cell.LSTMCell])
@pytest.mark.parametrize(("time_major", "lengths"), [(False, None), (True, [3, 1, 5])])
def test_networks_equal_dynamic_ones(kind, time_major, lengths):
    inputs = tf.constant(INPUTS.astype("f"))
    if not time_major:
        inputs = tf.transpose(inputs, [1, 0, 2])
    settings = {"sequence_length": lengths, "dtype": tf.float32, "time_major": time_major}
    found = recurrent.functional_rnn(kind(2), inputs, **settings)
    expected = tf.nn.dynamic_rnn(kind(2), inputs, scope="dynamic", **settings)
    assert found[0].shape == expected[0].shape
    cells = kind(2), kind(2)
    both = recurrent.bidirectional_functional_rnn(*cells, inputs, **settings)
    both_expected = tf.nn.bidirectional_dynamic_rnn(
        kind(2), kind(2), inputs, scope="bidirectional_dynamic", **settings
    )
    names = [variable.op.name for variable in tf.trainable_variables()]
    assert names[0].startswith("rnn/")
    assert "bidirectional_rnn/bw/" in " ".join(names)
    gradients = [tf.gradients(tf.nest.flatten(each), inputs)[0] for each in (found, expected)]
    with tf.Session() as session:
        _same_weights(session)
        results = session.run(
            [[found, both, gradients[0]], [expected, both_expected, gradients[1]]]
        )
    for one, other in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
