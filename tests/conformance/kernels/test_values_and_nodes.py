"""Values, types and nodes of TensorFlow 1.15 that are easily got otherwise."""

import numpy as np
import pytest

import penstock as tf


def run(*tensors):
    with tf.Session() as session:
        return session.run(tensors if len(tensors) > 1 else tensors[0])


def types_of(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


def test_an_axis_named_twice_is_reduced_once():
    x = [[1, 2], [3, 4]]
    axes = tf.placeholder_with_default(np.array([0, -2]), [2])
    static, fed = run(tf.reduce_sum(x, [0, 0]), tf.reduce_sum(x, axes))
    assert static.tolist() == fed.tolist() == [4, 6]


def test_strings_are_padded():
    empty, marked = run(tf.pad(["a"], [[1, 2]]), tf.pad(["a"], [[1, 0]], constant_values="x"))
    assert empty.tolist() == [b"", b"a", b"", b""]
    assert marked.tolist() == [b"x", b"a"]
    assert all(type(entry) is bytes for entry in [*empty, *marked])


def test_quotients_of_integers_stay_integers():
    quotient = run(tf.realdiv(tf.constant([5, -5]), 2))
    assert quotient.dtype == np.int32 and quotient.tolist() == [2, -2]


@pytest.mark.parametrize("known", [True, False])
def test_the_spectral_norm(known):
    matrices = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    x = tf.constant(matrices) if known else tf.placeholder_with_default(matrices, None)
    norm, kept = run(
        tf.norm(x, ord=2, axis=[0, -1]), tf.norm(x, ord=2, axis=[0, -1], keepdims=True)
    )
    wanted = np.linalg.norm(matrices, ord=2, axis=(0, 2))
    np.testing.assert_allclose(norm, wanted, rtol=1e-5)
    assert kept.shape == (1, 3, 1)


def test_the_main_diagonal_has_the_older_ops():
    assert tf.matrix_diag([1, 2]).op.type == "MatrixDiag"
    assert tf.matrix_diag_part([[1, 2], [3, 4]]).op.type == "MatrixDiagPart"
    assert tf.matrix_set_diag([[1, 2], [3, 4]], [5, 6]).op.type == "MatrixSetDiag"
    above = tf.matrix_diag([1, 2], k=1)
    assert above.op.type == "MatrixDiagV2"
    assert run(above).tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]


def test_the_function_and_the_operator_add_with_different_ops():
    x = tf.constant([1.0, 2.0])
    assert (tf.add(x, x).op.type, (x + x).op.type) == ("Add", "AddV2")
    wide = tf.add(tf.constant([65535], tf.uint16), tf.constant([2], tf.uint16))
    assert wide.op.type == "AddV2" and run(wide).tolist() == [1]


def test_accumulate_n_is_one_node():
    total = tf.accumulate_n([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])
    assert total.op.type == "AccumulateNV2" and run(total).tolist() == [4.0, 6.0]


def test_numbers_take_the_default_type_of_an_ops_argument():
    assert tf.fft([1 + 0j, 2]).dtype == tf.complex64
    assert tf.reduce_sum(tf.ones([2]), np.array([0])).op.inputs[1].dtype == tf.int32


class TestRandomNumbers:
    """The nodes and numbers are those of TensorFlow 1.15; seeds count the nodes of a graph."""

    def test_uniform(self):
        tf.set_random_seed(7)
        drawn = tf.random_uniform([3])
        assert types_of(drawn.graph)[1:] == [
            ("random_uniform/min", "Const"),
            ("random_uniform/max", "Const"),
            ("random_uniform/RandomUniform", "RandomUniform"),
            ("random_uniform/sub", "Sub"),
            ("random_uniform/mul", "Mul"),
            ("random_uniform", "Add"),
        ]
        wanted = [0.4010878801345825, 0.37683892250061035, 0.3092927932739258]
        assert run(drawn).tolist() == wanted

    def test_seeds_count_nodes(self):
        tf.set_random_seed(7)
        first, second = tf.random_normal([3]), tf.random_normal([3])
        seeds = [t.op.inputs[0].op.inputs[0].op.get_attr("seed2") for t in (first, second)]
        assert seeds == [3, 9]
        np.testing.assert_allclose(
            run(first), [0.9447038173675537, -0.9667906761169434, 0.8051716685295105], rtol=1e-6
        )

    def test_dropout(self):
        tf.set_random_seed(7)
        dropped = tf.nn.dropout(tf.ones([2, 3]), keep_prob=0.5)
        assert dropped.name == "dropout/mul_1:0"
        assert run(dropped).tolist() == [[2.0, 0.0, 2.0], [0.0, 2.0, 0.0]]

    def test_bounds_that_change_nothing_cost_nothing(self):
        drawn = tf.random_uniform([3], seed=1)
        assert "Mul" not in tf.explain(drawn)
        assert "Mul" in tf.explain(tf.random_uniform([3], 0.0, 2.0, seed=1))
