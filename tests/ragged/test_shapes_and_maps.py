"""Ragged shapes, broadcasting, mapped rows: what programs reach by TensorFlow's inner paths."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.ragged.broadcasts import broadcast_dynamic_shape, broadcast_to
from penstock.ragged.dense_conversion import ragged_to_dense
from penstock.ragged.dynamic_shape import RaggedTensorDynamicShape
from penstock.ragged.gathering import batch_gather_with_default
from penstock.ragged.mapping import map_fn
from penstock.ragged.tensor_spec import RaggedTensorType
from penstock.testing.ragged_test_case import RaggedTensorTestCase
from tests.ragged.rows import rows


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_shape_of_a_tensor() -> None:
    ragged = tf.ragged.constant([[[1, 2]], [], [[3, 4], [5, 6]]], ragged_rank=1)
    shape = RaggedTensorDynamicShape.from_tensor(ragged)
    assert (shape.rank, shape.num_partitioned_dimensions, shape.num_inner_dimensions) == (3, 2, 1)
    assert [shape.is_ragged(axis) for axis in range(3)] == [False, True, False]
    assert rows([*shape.partitioned_dim_sizes, shape.inner_dim_sizes]) == [3, [1, 0, 2], [2]]


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="outermost partitioned dimension must be uniform"):
        RaggedTensorDynamicShape([[1]], [1])
    with pytest.raises(ValueError, match="innermost partitioned dimension must be ragged"):
        RaggedTensorDynamicShape([1], [1])
    with pytest.raises(ValueError, match="Expected axis=3 < rank=2"):
        RaggedTensorDynamicShape.from_dim_sizes([2, [1, 2]]).is_ragged(3)


@pytest.mark.parametrize(
    ("value", "sizes", "expected"),
    [
        (5, [2, [1, 2]], [[5], [5, 5]]),
        ([[10], [20]], [2, [0, 3]], [[], [20, 20, 20]]),
        (5, [2, [1, 2], 2], [[[5, 5]], [[5, 5], [5, 5]]]),
        ([1, 2], [2, [1, 2], 2], [[[1, 2]], [[1, 2], [1, 2]]]),
    ],
)
def test_broadcast_to(value: Any, sizes: list[Any], expected: Any) -> None:
    shape = RaggedTensorDynamicShape.from_dim_sizes(sizes)
    if value == 5 and len(sizes) == 3:
        value = [value, value]
    assert rows(broadcast_to(value, shape)) == expected


def test_common_shape() -> None:
    uniform = RaggedTensorDynamicShape.from_dim_sizes([2, 1])
    ragged = RaggedTensorDynamicShape.from_dim_sizes([2, [1, 3]])
    common = broadcast_dynamic_shape(uniform, ragged)
    assert rows(list(common.partitioned_dim_sizes)) == [2, [1, 3]]
    other = RaggedTensorDynamicShape.from_dim_sizes([2, [1, 2]])
    mismatch = broadcast_dynamic_shape(ragged, other).inner_dim_sizes
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        rows(mismatch)


def test_map_fn() -> None:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert rows(map_fn(tf.reduce_sum, ragged)) == [3, 0, 3]
    kind = RaggedTensorType(tf.int32, ragged_rank=1)
    doubled = map_fn(lambda row: row * 2, ragged, dtype=kind, infer_shape=False)
    assert rows(doubled) == [[2, 4], [], [6]]
    nested = tf.ragged.constant([[[1, 2], []], [], [[3]]])
    sums = map_fn(lambda row: tf.reduce_sum(row, 1), nested, dtype=kind, infer_shape=False)
    assert rows(sums) == [[3, 0], [], [3]]
    with pytest.raises(ValueError, match="declared ragged rank"):
        map_fn(lambda row: row, ragged, dtype=RaggedTensorType(tf.int32, 2))


def test_gather_with_default() -> None:
    params = tf.ragged.constant([["a", "b"], ["c"]])
    result = batch_gather_with_default(params, [[0, -1], [0, -1]], "x")
    assert rows(result) == [[b"a", b"x"], [b"c", b"x"]]
    dense = batch_gather_with_default([["a", "b"], ["c", "d"]], [[0, -1], [3, 1]], "x")
    assert rows(dense) == [[b"a", b"x"], [b"x", b"d"]]


def test_dense_of_a_given_shape() -> None:
    ragged = tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)
    dense = ragged_to_dense(ragged, default_value=9, shape=[None, 1])
    assert rows(dense) == [[1], [9], [3], [9]]
    assert dense.shape.as_list() == [None, 1]


class TestAssertions(RaggedTensorTestCase):
    def test_ragged_values_are_compared(self) -> None:
        ragged = tf.ragged.constant([[1.0, 2.0], []])
        self.assertAllEqual(ragged, [[1.0, 2.0], []])
        self.assertRaggedEqual(ragged, [[1.0, 2.0], []])
        self.assertAllClose(ragged, tf.ragged.constant([[1.0, 2.0 + 1e-7], []]))
        assert self.eval_to_list(ragged) == [[1.0, 2.0], []]
        with pytest.raises(AssertionError):
            self.assertAllEqual(ragged, [[1.0], [2.0]])
        with pytest.raises(AssertionError):
            self.assertRaggedAlmostEqual(ragged, [[1.0, 2.5], []])
