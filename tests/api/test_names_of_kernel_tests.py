"""What TensorFlow's own tests of kernels import from inside: helpers, and ops as functions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import penstock as tf


def _module(path: str) -> Any:
    return importlib.import_module(f"penstock.{path}")


def test_block_lstm_is_the_cell_step_by_step() -> None:
    ops = _module("contrib.rnn.python.ops.lstm_ops")
    random = np.random.RandomState(1)
    with tf.Graph().as_default(), tf.Session() as sess:
        steps = [tf.constant(random.randn(2, 3), tf.float32) for _ in range(3)]
        weights, biases = tf.constant(random.randn(7, 16), tf.float32), tf.zeros([16])
        *_, outputs = ops._block_lstm(tf.constant(3, tf.int64), steps, weights, biases)
        state = output = tf.zeros([2, 4])
        single = []
        for step in steps:
            parts = ops._lstm_block_cell(step, state, output, weights, biases)
            state, output = parts[1], parts[6]
            single.append(output)
        together, one_by_one = sess.run([outputs, single])
    np.testing.assert_allclose(together, one_by_one, rtol=1e-5)


def test_block_lstm_needs_the_size_of_its_biases() -> None:
    ops = _module("contrib.rnn.python.ops.lstm_ops")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="`b` shape"):
        ops._block_lstm(1, [tf.ones([1, 1])], tf.ones([2, 4]), tf.placeholder(tf.float32, [None]))


def test_timing_of_steps() -> None:
    timing = _module("contrib.rnn.python.kernel_tests.benchmarking")
    assert list(timing.dict_product({"a": [1, 2], "b": [3]})) == [
        {"a": 1, "b": 3},
        {"a": 2, "b": 3},
    ]
    with tf.Graph().as_default(), tf.Session() as sess:
        with timing.device():
            count = tf.Variable(0).assign_add(1)
        sess.run(tf.global_variables_initializer())
        assert timing.seconds_per_run(count, sess, num_runs=3) > 0.0
        assert sess.run(count) == 6


def test_optimized_graph_computes_what_constants_determine() -> None:
    optimized = _module("python.kernel_tests.signal.test_util")
    with tf.Graph().as_default() as graph:
        parts = tf.split(tf.ones([4]) * 2.0, 2)  # two results: computed, but not replaced itself
        known = tf.add(parts[0], parts[1], name="known")
        fed = tf.placeholder(tf.float32, [2], name="fed")
        result = tf.multiply(known, fed, name="result")
        tf.add(known, 1.0, name="not_asked_for")
        nodes = {node.name: node for node in optimized.grappler_optimize(graph, [result]).node}
    assert {name: node.op for name, node in nodes.items()} == {
        "known": "Const",
        "fed": "Placeholder",
        "result": "Mul",
    }
    assert tf.make_ndarray(nodes["known"].attr["value"].tensor).tolist() == [4.0, 4.0]


def test_draws_between_bounds() -> None:
    random_ops = _module("python.ops.random_ops")
    with tf.Graph().as_default(), tf.Session() as sess:
        means, lowest = [0.0, 5.0], [-1.0, 5.0]
        drawn = random_ops.parameterized_truncated_normal([2, 50], means, 1.0, lowest, 6.0)
        assert drawn.op.name == "parameterized_truncated_normal/ParameterizedTruncatedNormal"
        low, high = sess.run(drawn)
    assert low.min() >= -1.0
    assert low.mean() < 2.0
    assert 5.0 <= high.min() <= high.max() <= 6.0


def test_references_of_linear_operators() -> None:
    util = _module("python.ops.linalg.linear_operator_util")
    with tf.Graph().as_default():
        variable = tf.Variable([1.0])
        assert util.is_ref(variable)
        assert not util.is_ref([1.0])
        assert util.convert_nonref_to_tensor(variable, dtype=tf.float32) is variable
        assert util.convert_nonref_to_tensor(None) is None
        assert util.convert_nonref_to_tensor([1], dtype_hint=tf.float64).dtype is tf.float64
        with pytest.raises(TypeError, match='"float64" but is "float32"'):
            util.convert_nonref_to_tensor(variable, dtype=np.float64)


def test_cells_of_a_stack_have_names_of_their_own_in_checkpoints() -> None:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2) for _ in range(2)])
    assert [entry.name for entry in cell._checkpoint_dependencies] == ["cell-0", "cell-1"]
