"""Lists of tensors: what is put in comes out, and gradients flow through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.tensor_lists import (
    EmptyTensorList,
    TensorListConcat,
    TensorListConcatLists,
    TensorListConcatV2,
    TensorListElementShape,
    TensorListFromTensor,
    TensorListGather,
    TensorListGetItem,
    TensorListLength,
    TensorListPopBack,
    TensorListPushBack,
    TensorListReserve,
    TensorListResize,
    TensorListScatter,
    TensorListScatterIntoExistingList,
    TensorListScatterV2,
    TensorListSetItem,
    TensorListSplit,
    TensorListStack,
)

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
FLOAT: dict[str, Any] = {"element_dtype": tf.float32}


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def stacked(handle: tf.Tensor) -> Any:
    return run(TensorListStack(handle, [2], **FLOAT)).tolist()


def test_push_and_pop() -> None:
    empty = EmptyTensorList([2], -1, **FLOAT)
    one = TensorListPushBack(empty, [1.0, 2.0])
    two, other = TensorListPushBack(one, [3.0, 4.0]), TensorListPushBack(one, [5.0, 6.0])
    shorter, last = TensorListPopBack(two, [2], **FLOAT)
    assert last.shape.as_list() == [2]
    assert run([last, TensorListLength(two), TensorListLength(empty)])[1:] == [2, 0]
    assert run(last).tolist() == [3, 4]
    stacks = [TensorListStack(each, [2], **FLOAT) for each in (two, other, shorter)]
    found = [value.tolist() for value in run(stacks)]
    assert found == [[[1, 2], [3, 4]], [[1, 2], [5, 6]], [[1, 2]]]


def test_rows_of_a_tensor() -> None:
    rows = TensorListFromTensor(ROWS, [2])
    assert stacked(rows) == ROWS.tolist()
    assert run(TensorListGetItem(rows, 1, [2], **FLOAT)).tolist() == [2, 3]
    assert run(TensorListGather(rows, [2, 0], [2], **FLOAT)).tolist() == [[4, 5], [0, 1]]
    assert stacked(TensorListSetItem(rows, 0, [9.0, 9.0])) == [[9, 9], [2, 3], [4, 5]]
    assert stacked(TensorListResize(rows, 1)) == [[0, 1]]
    assert stacked(TensorListResize(rows, 4))[3] == [0, 0]
    assert stacked(TensorListConcatLists(rows, rows, **FLOAT)) == ROWS.tolist() * 2
    assert run(TensorListElementShape(rows, shape_type=tf.int64)).tolist() == [2]
    grown = TensorListSetItem(rows, 3, [7.0, 7.0], resize_if_index_out_of_bounds=True)
    assert run(TensorListLength(grown)) == 4


def test_reserved_elements_are_zeros() -> None:
    reserved = TensorListReserve([2], 2, **FLOAT)
    assert stacked(reserved) == [[0, 0], [0, 0]]
    assert stacked(TensorListScatterIntoExistingList(reserved, ROWS[:1], [1])) == [[0, 0], [0, 1]]
    assert run(TensorListElementShape(TensorListReserve(-1, 2, **FLOAT), shape_type=tf.int32)) == -1


def test_scatter() -> None:
    assert stacked(TensorListScatter(ROWS[:2], [2, 0], [2])) == [[2, 3], [0, 0], [0, 1]]
    assert stacked(TensorListScatterV2(ROWS[:1], [0], [2], 2)) == [[0, 1], [0, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to scatter at index"):
        stacked(TensorListScatterV2(ROWS, [0, 1, 2], [2], 2))


def test_split_and_concat() -> None:
    parts = TensorListSplit(ROWS, [-1, 2], np.array([2, 1], np.int64))
    for joined, lengths in (
        TensorListConcatV2(parts, [-1, 2], np.array([], np.int64), **FLOAT),
        TensorListConcat(parts, **FLOAT),
    ):
        assert run(joined).tolist() == ROWS.tolist()
        assert run(lengths).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rows: TensorListGetItem(rows, 3, [2], **FLOAT), "Trying to access element 3"),
        # Behind another op a graph doesn't know what a list holds: then the kernel refuses.
        (lambda rows: TensorListPushBack(tf.identity(rows), [1.0]), "incompatible shape"),
        (lambda rows: TensorListPushBack(tf.identity(rows), [1, 2]), "Invalid data types"),
        (
            lambda rows: TensorListStack(rows, [2], num_elements=2, **FLOAT),
            "expected a list",
        ),
        (
            lambda _: TensorListPopBack(EmptyTensorList([2], -1, **FLOAT), [2], **FLOAT),
            "empty list",
        ),
        (lambda _: TensorListPushBack(EmptyTensorList([2], 0, **FLOAT), [1.0, 2.0]), "full list"),
        (lambda _: TensorListStack(EmptyTensorList(-1, 0, **FLOAT), -1, **FLOAT), "non-fully"),
        (lambda _: TensorListReserve([2], -1, **FLOAT), "non negative"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    result = make(TensorListFromTensor(ROWS, [2]))
    result = result[0] if isinstance(result, tuple) else result
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(TensorListLength(result) if result.dtype == tf.variant else result)


def test_gradients() -> None:
    x = tf.constant(ROWS)
    rows = TensorListFromTensor(x, [2])
    longer = TensorListPushBack(TensorListSetItem(rows, 0, x[1] * 5.0), x[2] * 3.0)
    shorter, last = TensorListPopBack(longer, [2], **FLOAT)
    total = (
        tf.reduce_sum(TensorListStack(shorter, [2], **FLOAT))
        + tf.reduce_sum(last)
        + tf.reduce_sum(TensorListGather(rows, [1, 1], [2], **FLOAT))
        + tf.reduce_sum(TensorListGetItem(rows, 0, [2], **FLOAT) * 10.0)
    )
    (grad,) = tf.gradients(total, x)
    assert grad.shape.as_list() == [3, 2]
    # Row 0 was replaced, so that only what GetItem reads of it counts.
    assert run(grad)[:, 0].tolist() == [10, 1 + 5 + 1, 1 + 3]


def test_gradients_of_parts() -> None:
    x = tf.constant(ROWS)
    parts = TensorListSplit(x, [-1, 2], np.array([2, 1], np.int64))
    joined = TensorListConcatV2(parts, [-1, 2], np.array([], np.int64), **FLOAT)[0]
    spread = TensorListStack(TensorListScatter(x, [2, 0, 1], [2]), [2], **FLOAT)
    weights = np.array([[1], [10], [100]], np.float32)
    grads = tf.gradients([joined * weights, spread * weights], x)
    assert run(grads[0])[:, 0].tolist() == [1 + 100, 10 + 1, 100 + 10]
