"""RaggedTensor: how it is made, what it is made of, and its other forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ir.graph import Graph
from tests.ragged.rows import rows

DIGITS = [3, 1, 4, 1, 5, 9]
EXPECTED = [[3, 1, 4], [], [1, 5], [9]]


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("method", "partition"),
    [
        ("from_row_splits", [0, 3, 3, 5, 6]),
        ("from_row_lengths", [3, 0, 2, 1]),
        ("from_row_starts", [0, 3, 3, 5]),
        ("from_row_limits", [3, 3, 5, 6]),
        ("from_value_rowids", [0, 0, 0, 2, 2, 3]),
    ],
)
def test_every_partition_gives_the_same_rows(method: str, partition: list[int]) -> None:
    ragged = getattr(tf.RaggedTensor, method)(DIGITS, partition)
    assert rows(ragged) == EXPECTED
    assert ragged.shape.as_list() == [4, None]
    assert ragged.row_splits.dtype == tf.int64
    forms = [
        ragged.row_lengths(),
        ragged.row_starts(),
        ragged.row_limits(),
        ragged.value_rowids(),
        ragged.nrows(),
        ragged.row_splits,
    ]
    assert rows(forms) == [
        [3, 0, 2, 1],
        [0, 3, 3, 5],
        [3, 3, 5, 6],
        [0, 0, 0, 2, 2, 3],
        4,
        [0, 3, 3, 5, 6],
    ]


@pytest.mark.parametrize(
    ("method", "partition"),
    [
        ("from_row_splits", [0, 3, 2, 6]),
        ("from_row_splits", [1, 6]),
        ("from_row_splits", [0, 5]),
        ("from_row_lengths", [7, -1]),
        ("from_row_lengths", [3]),
        ("from_row_starts", [1, 2]),
        ("from_row_limits", [2, 5]),
        ("from_value_rowids", [0, 0, 2, 1, 2, 2]),
    ],
)
def test_partitions_are_checked_when_the_step_runs(method: str, partition: list[int]) -> None:
    fed = tf.placeholder(tf.int64, [None])
    ragged = getattr(tf.RaggedTensor, method)(DIGITS, fed)
    message = f"Arguments to {method} do not form a valid RaggedTensor"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        rows(ragged, {fed: partition})


def test_unchecked_partitions_add_no_assertions(graph: Graph) -> None:
    tf.RaggedTensor.from_row_splits(DIGITS, [0, 2, 6], validate=False)
    assert not [op for op in graph.get_operations() if op.type == "Assert"]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="constructor is private"):
        tf.RaggedTensor(tf.constant(DIGITS), tf.constant([0, 6]))
    with pytest.raises(TypeError, match="validate must have type bool"):
        tf.RaggedTensor.from_row_splits(DIGITS, [0, 6], validate=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="row_splits tensor may not be empty"):
        tf.RaggedTensor.from_row_splits(DIGITS, [])
    with pytest.raises(ValueError, match="row_splits must have dtype int32 or int64"):
        tf.RaggedTensor.from_row_splits(DIGITS, [0.0, 6.0])
    with pytest.raises(ValueError, match=r"Expected nrows >= value_rowids\[-1\] \+ 1"):
        tf.RaggedTensor.from_value_rowids([1, 2], [0, 3], nrows=2)
    splits: Any = tf.constant([[0, 6]])
    with pytest.raises(TypeError, match="nested_row_splits must be a list of Tensors"):
        tf.RaggedTensor.from_nested_row_splits(DIGITS, splits)
    inner = tf.RaggedTensor.from_row_splits(DIGITS, [0, 6])
    with pytest.raises(ValueError, match="dtype mismatch"):
        tf.RaggedTensor.from_row_splits(inner, tf.constant([0, 1], tf.int32))


def test_nested_dimensions() -> None:
    by_splits = tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 2], [0, 1, 3]])
    by_lengths = tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]])
    by_ids = tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], [2, 2])
    for ragged in (by_splits, by_lengths, by_ids):
        assert rows(ragged) == [[[1], [2, 3]], []]
        assert ragged.ragged_rank == 2
        assert ragged.flat_values.shape.as_list() == [3]
        assert rows(list(ragged.nested_row_lengths())) == [[2, 0], [1, 2]]
        assert rows(list(ragged.nested_value_rowids())) == [[0, 0], [0, 1, 1]]
        assert rows(ragged.bounding_shape()) == [2, 2, 2]
        assert rows(ragged.row_lengths(axis=2)) == [[1, 2], []]


def test_constant_lists() -> None:
    assert rows(tf.ragged.constant([[1, 2], [], [3]])) == [[1, 2], [], [3]]
    inner = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert inner.shape.as_list() == [2, None, 2]
    assert isinstance(tf.ragged.constant([1, 2]), tf.Tensor)
    value = tf.ragged.constant_value([["a"], []], row_splits_dtype="int32")
    assert value.to_list() == [["a"], []]
    assert value.row_splits.dtype == np.int32
    with pytest.raises(ValueError, match="same nesting depth"):
        tf.ragged.constant([1, [2]])
    with pytest.raises(ValueError, match="inner values have inconsistent shape"):
        tf.ragged.constant([[[1, 2]], [[3]]], ragged_rank=1)
    with pytest.raises(ValueError, match="empty list nesting is greater than scalar"):
        tf.ragged.constant([[1], [[]]])


def test_dense_and_back() -> None:
    ragged = tf.ragged.constant([[5, 7], [], [6]])
    assert rows(ragged.to_tensor()) == [[5, 7], [0, 0], [6, 0]]
    assert rows(ragged.to_tensor(default_value=-1)) == [[5, 7], [-1, -1], [6, -1]]
    padded = [[5, 7, 0], [0, 3, 0], [0, 0, 0]]
    assert rows(tf.RaggedTensor.from_tensor(padded, padding=0)) == [[5, 7], [0, 3], []]
    assert rows(tf.RaggedTensor.from_tensor(padded, lengths=[1, 9, 0])) == [[5], [0, 3, 0], []]
    cube = tf.RaggedTensor.from_tensor([[[1], [2]], [[3], [4]]], ragged_rank=2)
    assert rows(cube) == [[[1], [2]], [[3], [4]]]
    assert cube.shape.as_list() == [2, None, None]


def test_sparse_and_back() -> None:
    ragged = tf.ragged.constant([["a", "b"], [], ["c"]])
    sparse = ragged.to_sparse()
    parts = [sparse.indices, sparse.values, sparse.dense_shape]
    assert rows(parts) == [[[0, 0], [0, 1], [2, 0]], [b"a", b"b", b"c"], [3, 2]]
    assert rows(tf.RaggedTensor.from_sparse(sparse)) == [[b"a", b"b"], [], [b"c"]]
    gap = tf.SparseTensor([[0, 1]], [1], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="SparseTensor is not right-ragged"):
        rows(tf.RaggedTensor.from_sparse(gap))


def test_fed_and_fetched_as_one() -> None:
    ragged = tf.ragged.placeholder(tf.float32, ragged_rank=2)
    value = tf.ragged.constant_value([[[1.0, 2.0], []], [[3.0]]], dtype=np.float32)
    assert rows(ragged, {ragged: value}) == [[[1.0, 2.0], []], [[3.0]]]
    with tf.Session():
        doubled = (ragged * 2.0).eval({ragged: value})
    assert str(doubled) == "<tf.RaggedTensorValue [[[2.0, 4.0], []], [[6.0]]]>"
    with pytest.raises(ValueError, match="only supported in eager mode"):
        ragged.to_list()


def test_values_replaced() -> None:
    ragged = tf.ragged.constant([[[1, 2]], [], [[3]]])
    assert rows(ragged.with_flat_values([1, 2, 3] * tf.constant(10))) == [[[10, 20]], [], [[30]]]
    assert ragged.with_row_splits_dtype(tf.int32).nested_row_splits[1].dtype == tf.int32
    with pytest.raises(ValueError, match="incompatible|compatible"):
        ragged.with_values(tf.constant([1, 2, 3]))


def test_spec() -> None:
    ragged = tf.ragged.constant([[1, 2], [3]])
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert spec.is_compatible_with(ragged)
    assert not tf.RaggedTensorSpec([None, None], tf.string).is_compatible_with(ragged)
    assert spec == tf.RaggedTensorSpec(tf.TensorShape([None, None]), tf.int32, ragged_rank=1)
    assert spec.value_type is tf.RaggedTensor
    with pytest.raises(ValueError, match="ragged_rank must be less than rank"):
        tf.RaggedTensorSpec([None], ragged_rank=1)


def test_in_conditions_and_loops() -> None:
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    choice = tf.placeholder(tf.bool, [])
    chosen = tf.cond(choice, lambda: ragged + 1, lambda: ragged)
    assert rows(chosen, {choice: True}) == [[2, 3], [], [4]]
    assert rows(chosen, {choice: False}) == [[1, 2], [], [3]]
    _, grown = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, value: (i + 1, tf.concat([value, value], axis=1)),
        (tf.constant(0), ragged),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, None])),
    )
    assert rows(grown) == [[1, 2] * 4, [], [3] * 4]


def test_is_a_leaf_with_parts() -> None:
    ragged = tf.ragged.constant([[[1]], []])
    assert tf.nest.flatten([ragged]) == [ragged]
    parts = tf.nest.flatten([ragged], expand_composites=True)
    assert parts == [ragged.flat_values, *ragged.nested_row_splits]
    (packed,) = tf.nest.pack_sequence_as([ragged], parts, expand_composites=True)
    assert rows(packed) == [[[1]], []]
    with pytest.raises(TypeError, match="may not be used as a boolean"):
        bool(ragged)
    with pytest.raises(TypeError, match="only iterable when eager"):
        list(ragged)
