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
from penstock.runtime import value_bytes

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


def _unlike(rows: Any, element: Any = (1.0,)) -> Any:
    """A list of any elements: one like those of `rows`, and another."""
    first = TensorListGetItem(rows, 0, -1, **FLOAT)
    given = [element] if first.shape.ndims == 2 else element
    return TensorListPushBack(TensorListPushBack(EmptyTensorList(-1, -1, **FLOAT), first), given)


def _wide(rows: Any) -> Any:
    return TensorListFromTensor(ROWS[:, None], [1, 2])


def _stack(handle: Any) -> Any:
    return TensorListStack(handle, -1, **FLOAT)


def _gather(handle: Any, indices: Any) -> Any:
    return TensorListGather(handle, np.array(indices, np.int32), -1, **FLOAT)


def _concat(handle: Any) -> Any:
    return TensorListConcatV2(handle, -1, np.array([], np.int64), **FLOAT)


def _hidden(handle: tf.Tensor) -> Any:
    """The list, of which the graph has lost sight."""
    return tf.stack([handle, handle])[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rows: TensorListGetItem(rows, 3, [2], **FLOAT), "Trying to access element 3"),
        (lambda rows: TensorListPushBack(rows, [1.0]), "incompatible shape"),
        # Behind another op a graph doesn't know what a list holds: then the kernel refuses.
        (lambda rows: TensorListPushBack(_hidden(rows), [1, 2]), "Invalid data types"),
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
        (lambda _: _stack(TensorListReserve(-1, 2, **FLOAT)), "only contains uninitialized"),
        (lambda rows: _stack(_unlike(rows)), r"shapes during merge: \[2\] vs. \[1\]"),
        (lambda rows: _stack(_unlike(rows, 5.0)), "ranks during merge: 1 vs. 0"),
        (lambda rows: TensorListGather(rows, [3], -1, **FLOAT), "Index 3 out of range"),
        (lambda _: _gather(TensorListReserve(-1, 2, **FLOAT), [0]), "gather uninitialized"),
        (lambda _: _gather(EmptyTensorList(-1, -1, **FLOAT), []), "gather 0-elements"),
        (
            lambda _: TensorListPopBack(TensorListReserve([-1, 2], 1, **FLOAT), [1, 3], **FLOAT)[1],
            r"during merge: \[1,3\] vs. \[\?,2\]",
        ),
        (lambda _: TensorListScatter(ROWS, [0, 1], [2]), "Expected: 2 Actual: 3"),
        (lambda _: TensorListScatterV2(ROWS[:1], [0], [2], -2), ">= -1, found: -2"),
        (
            lambda _: _concat(TensorListFromTensor([1.0], np.array([], np.int32))),
            "found scalars instead",
        ),
        (lambda _: _concat(TensorListReserve([-1, 2], 1, **FLOAT)), "leading_dims has only 0"),
        (lambda _: _concat(TensorListReserve(-1, 1, **FLOAT)), "element_shape_except_first_dim_"),
        (lambda rows: _concat(_unlike(_wide(rows))), r"shapes during merge: \[2\] vs. \[1\]"),
        (
            lambda rows: tf.add_n([_hidden(rows), _hidden(TensorListReserve([3], 3, **FLOAT))]),
            "incompatible element shapes. One is",
        ),
        (
            lambda rows: TensorListConcatLists(
                rows, _hidden(TensorListReserve([3], 1, **FLOAT)), **FLOAT
            ),
            "not identical at index 0",
        ),
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


def test_what_a_gather_leaves_out_may_have_another_shape() -> None:
    mixed = _unlike(TensorListFromTensor(ROWS, [2]))
    assert run(TensorListGather(mixed, [1, 1], -1, **FLOAT)).tolist() == [[1], [1]]


def test_elements_that_were_never_set_have_as_many_rows_as_the_others() -> None:
    reserved = TensorListReserve([-1, 2], 2, **FLOAT)
    one_set = TensorListSetItem(reserved, 1, ROWS[:2])
    assert run(_concat(one_set)[0]).tolist() == [[0, 0], [0, 0], [0, 1], [2, 3]]
    named = TensorListConcatV2(reserved, [-1, 2], np.array([1, 2], np.int64), **FLOAT)
    assert run(named[1]).tolist() == [1, 2]


def test_a_variable_of_lists() -> None:
    rows = TensorListFromTensor(ROWS, [2])
    variable: Any = tf.Variable(tf.stack([rows, rows]), use_resource=True)
    changed = tf.scatter_update(variable, [1], [TensorListResize(rows, 1)])
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(changed.op)
        counts = [TensorListLength(each) for each in (variable[0], variable.sparse_read(1))]
        assert session.run([*counts, TensorListLength(tf.gather(variable, 1))]) == [3, 1, 1]


def test_the_way_of_a_list_to_another_task() -> None:
    reserved = TensorListReserve([-1], 2, **FLOAT)
    with tf.Session() as session:
        sent = session.run(TensorListSetItem(reserved, 1, [1.0, 2.0]))
    head, parts = value_bytes.encoded(sent)
    (kind, shape), data = head, np.frombuffer(b"".join(parts), np.uint8)
    came = value_bytes.decoded(kind, shape, data.copy(), 0, len(data))
    assert (came.dtype, came.element_shape, came.most) == (tf.float32, (None,), -1)
    assert came.elements[0] is None
    assert came.elements[1].tolist() == [1, 2]
