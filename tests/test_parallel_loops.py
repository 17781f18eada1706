"""`pfor`: iterations that know of each other, and the shapes of what is stacked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.parallel_loops import PForConfig, for_loop, pfor, vectorized_map

ROWS = np.arange(12.0).reshape(4, 3)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _centred(i: Any, pfor_config: PForConfig, unused: int = 0) -> Any:
    row: Any = tf.gather(ROWS, i)
    return row - pfor_config.reduce_mean(row)


def _by_sums(i: Any, pfor_config: PForConfig) -> Any:
    row: Any = tf.gather(ROWS, i)
    return row - pfor_config.reduce_sum(row / 4.0)


def _by_concatenation(i: Any, pfor_config: PForConfig) -> Any:
    row: Any = tf.gather(ROWS, i)
    return row - pfor_config.reduce(lambda rows: tf.reduce_mean(rows, 0), row)


def _twice(i: Any, pfor_config: PForConfig) -> Any:
    """A value of all iterations that depends on another one."""
    row = _centred(i, pfor_config)
    return row + pfor_config.reduce_mean(row)


@pytest.mark.parametrize(
    "loop_fn",
    [_centred, _by_sums, _by_concatenation, _twice, functools.partial(_centred, unused=1)],
)
def test_iterations_know_values_of_all(loop_fn: Callable[..., Any]) -> None:
    result = pfor(loop_fn, 4)
    assert result.shape.as_list() == [4, 3]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(result), ROWS - ROWS.mean(0))


def test_as_many_iterations_as_are_fed() -> None:
    count = tf.placeholder(tf.int32, [])
    result = pfor(_centred, count)
    assert result.shape.as_list() == [None, 3]
    with tf.Session() as session:
        found = session.run(result, {count: 2})
    np.testing.assert_allclose(found, ROWS[:2] - ROWS[:2].mean(0))


def test_how_many_at_a_time() -> None:
    with pytest.raises(ValueError, match="parallel_iterations currently unsupported"):
        pfor(_centred, 4, parallel_iterations=2)
    with pytest.raises(TypeError, match="positive integer"):
        for_loop(lambda i: i, tf.int32, 4, parallel_iterations=0)


def test_static_shapes() -> None:
    mapped = vectorized_map(lambda row: tf.tensordot(row, row, 0), tf.constant(ROWS))
    assert mapped.shape.as_list() == [4, 3, 3]
    assert pfor(lambda i: tf.ones([2]), tf.constant(5)).shape.as_list() == [5, 2]


def test_slices_are_made_dense() -> None:
    def one_hot(i: Any) -> Any:
        values = tf.reshape(i + 1, [1])
        return tf.IndexedSlices(values, i, [3, 1])  # type: ignore[arg-type]

    with tf.Session() as session:
        assert session.run(pfor(one_hot, 2))[..., 0].tolist() == [[1, 0, 0], [0, 2, 0]]


def test_op_types_without_a_converter_are_refused_unless_the_flag_is_set() -> None:
    from absl import flags

    def largest(i: Any) -> Any:
        return tf.nn.top_k(tf.gather(ROWS, i))

    with pytest.raises(ValueError, match="No converter defined for TopKV2"):
        pfor(largest, 4)
    flag = flags.FLAGS["op_conversion_fallback_to_while_loop"]
    flag.value = True
    try:
        values, places = pfor(largest, 4)
    finally:
        flag.value = False
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(values), ROWS[:, 2:])
        np.testing.assert_array_equal(session.run(places), [[2]] * 4)


def test_an_op_type_with_a_registered_converter_is_taken() -> None:
    from penstock.parallel_conversion import RegisterPFor

    @RegisterPFor("InTopKV2")
    def _convert(pfor_input: Any) -> Any:
        raise AssertionError("the iterations run one after the other")

    found = pfor(lambda i: tf.nn.in_top_k(tf.cast(ROWS[:1], tf.float32), [i], 1), 3)
    with tf.Session() as session:
        assert session.run(found).tolist() == [[False], [False], [True]]


def test_only_the_scopes_of_gradients_take_any_op_type() -> None:
    matrices = tf.constant(np.ones([3, 2, 2], np.float32))
    with (
        tf.name_scope("upgrade"),
        pytest.raises(ValueError, match="No converter defined for Svd"),
    ):
        pfor(lambda i: tf.linalg.svd(tf.gather(matrices, i), compute_uv=False), 3)


def test_a_stack_from_outside_takes_nothing() -> None:
    handle = tf.raw_ops.StackV2(max_size=4, elem_type=tf.int32)
    with pytest.raises(ValueError, match="StackPushV2 not allowed on stacks created outside pfor"):
        pfor(lambda i: tf.raw_ops.StackPushV2(handle=handle, elem=i), 2)


@pytest.mark.parametrize("count", [3, 12])
def test_sparse_outputs_get_a_dimension(count: int) -> None:
    def diagonal(i: Any) -> Any:
        place = tf.expand_dims(tf.cast(i, tf.int64), 0)
        return tf.SparseTensor(tf.expand_dims(place, 0), place, place + 1)

    result = pfor(diagonal, count)
    with tf.Session() as session:
        indices, values, shape = session.run(result)
    assert indices.tolist() == [[i, i] for i in range(count)]
    assert values.tolist() == list(range(count))
    assert shape.tolist() == [count, count]


def test_jacobians_go_through_loops() -> None:
    x = tf.constant([[1.0, 2.0, 3.0]])
    matrix = tf.constant(np.arange(9.0).reshape(3, 3) / 8.0, tf.float32)
    _, end = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, tf.matmul(v, matrix)), [0, x])
    jacobian = pfor(lambda i: tf.gradients(tf.gather(tf.reshape(end, [-1]), i), x)[0], 3)
    with tf.Session() as session:
        expected = np.linalg.matrix_power(np.arange(9.0).reshape(3, 3) / 8.0, 3).T
        np.testing.assert_allclose(session.run(jacobian)[:, 0], expected, rtol=1e-5)


def test_eager_calls_are_functions() -> None:
    from penstock.eager import context

    with context.eager_mode():
        squares, nothing = pfor(lambda i: (tf.gather(ROWS, i) ** 2, None), 4)
        np.testing.assert_array_equal(squares.numpy(), ROWS**2)
        assert nothing is None
        mapped = vectorized_map(lambda row: tf.reduce_mean(row, 0, keepdims=True), ROWS)
        np.testing.assert_array_equal(mapped.numpy(), ROWS.mean(1, keepdims=True))


def test_batch_jacobians_of_unknown_shapes_are_checked_when_they_run() -> None:
    from penstock.jacobians import batch_jacobian

    x = tf.placeholder(tf.float32)
    squares = batch_jacobian(x * x, x)
    twice = batch_jacobian(tf.concat([x, x], 0), x)
    with tf.Session() as session:
        found = session.run(squares, {x: [[1, 2], [3, 4]]})
        np.testing.assert_array_equal(found, [[[2, 0], [0, 4]], [[6, 0], [0, 8]]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(twice, {x: [[1, 2], [3, 4]]})
