"""What TensorFlow's functions and Python's operators do to ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf
from penstock.ir.dispatch import OpDispatcher, dispatch_for_types, dispatched
from tests.ragged.rows import rows

nan = float("nan")


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def numbers() -> Any:
    return tf.ragged.constant([[1, 2], [], [3, 4, 5]])


def nested() -> Any:
    return tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])


def words() -> Any:
    return tf.ragged.constant([["a", "bc"], [], ["d"]])


# name → (what is computed, what TensorFlow 1.15 gives)
CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "cast": (lambda: tf.cast(numbers(), tf.float32), [[1.0, 2.0], [], [3.0, 4.0, 5.0]]),
    "keyword": (lambda: tf.abs(x=-numbers()), [[1, 2], [], [3, 4, 5]]),
    "more arguments": (lambda: tf.clip_by_value(numbers(), 2, 4), [[2, 2], [], [3, 4, 4]]),
    "scalar on the left": (lambda: 10 - numbers(), [[9, 8], [], [7, 6, 5]]),
    "column": (lambda: numbers() + [[10], [20], [30]], [[11, 12], [], [33, 34, 35]]),
    "column on the left": (
        lambda: tf.constant([[10], [20], [30]]) * numbers(),
        [[10, 20], [], [90, 120, 150]],
    ),
    "nested column": (
        lambda: nested() + tf.constant([[[10]], [[20]], [[30]]]),
        [[[11, 12], [13]], [], [[34], [], [35, 36]]],
    ),
    "comparison": (lambda: numbers() > 2, [[False, False], [], [True, True, True]]),
    "logic": (
        lambda: (numbers() > 1) & ~(numbers() > 3),
        [[False, True], [], [True, False, False]],
    ),
    "list": (lambda: tf.add_n([numbers(), numbers()]), [[2, 4], [], [6, 8, 10]]),
    "list with a scalar": (lambda: tf.string_join([words(), "!"]), [[b"a!", b"bc!"], [], [b"d!"]]),
    "strings": (lambda: tf.strings.length(words()), [[1, 2], [], [1]]),
    "value": (lambda: tf.square(tf.ragged.constant_value([[2], [3, 4]])), [[4], [9, 16]]),
    "size": (lambda: tf.size(nested()), 6),
    "rank": (lambda: tf.rank(nested()), 3),
    "one_hot": (lambda: tf.one_hot(tf.ragged.constant([[1], []]), 2), [[[0.0, 1.0]], []]),
    "expand_dims": (lambda: tf.expand_dims(numbers(), 1), [[[1, 2]], [[]], [[3, 4, 5]]]),
    "expand last": (lambda: tf.expand_dims(numbers(), -1), [[[1], [2]], [], [[3], [4], [5]]]),
    "squeeze": (lambda: tf.squeeze(tf.expand_dims(numbers(), 1), [1]), [[1, 2], [], [3, 4, 5]]),
    "tile": (
        lambda: tf.tile(nested(), [1, 2, 1]),
        [[[1, 2], [3], [1, 2], [3]], [], [[4], [], [5, 6], [4], [], [5, 6]]],
    ),
    "tile deep": (
        lambda: tf.tile(tf.ragged.constant([[[[1], [2, 3]]], []]), [1, 2, 2, 2]),
        [[[[1, 1], [2, 3, 2, 3], [1, 1], [2, 3, 2, 3]]] * 2, []],
    ),
    "concat rows": (lambda: tf.concat([numbers(), [[9]]], 0), [[1, 2], [], [3, 4, 5], [9]]),
    "concat columns": (
        lambda: tf.concat([numbers(), numbers()], 1),
        [[1, 2, 1, 2], [], [3, 4, 5, 3, 4, 5]],
    ),
    "concat inner": (
        lambda: tf.concat([nested(), nested()], -1),
        [[[1, 2, 1, 2], [3, 3]], [], [[4, 4], [], [5, 6, 5, 6]]],
    ),
    "stack": (lambda: tf.stack([words(), words()]), [[[b"a", b"bc"], [], [b"d"]]] * 2),
    "stack with a tensor": (
        lambda: tf.ragged.stack([tf.ragged.constant([[1, 2], [3]]), [[4]]]),
        [[[1, 2], [3]], [[4]]],
    ),
    "gather": (lambda: tf.gather(nested(), [2, 0]), [[[4], [], [5, 6]], [[1, 2], [3]]]),
    "gather one": (lambda: tf.gather(numbers(), 2), [3, 4, 5]),
    "gather by ragged": (
        lambda: tf.gather(tf.constant([0, 10, 20, 30, 40, 50]), numbers()),
        [[10, 20], [], [30, 40, 50]],
    ),
    "gather_nd": (lambda: tf.gather_nd(nested(), [[0, 0], [2, 2]]), [[1, 2], [5, 6]]),
    "gather_nd elements": (lambda: tf.gather_nd(nested(), [[0, 0, 1], [2, 2, 0]]), [2, 5]),
    "batch_gather": (
        lambda: tf.batch_gather(numbers(), tf.ragged.constant([[1], [], [2, 0]])),
        [[2], [], [5, 3]],
    ),
    "where": (lambda: tf.where(nested() > 3), [[2, 0, 0], [2, 2, 0], [2, 2, 1]]),
    "where rows": (
        lambda: tf.where([True, True, False], numbers(), -numbers()),
        [[1, 2], [], [-3, -4, -5]],
    ),
    "dynamic_partition": (
        lambda: tf.dynamic_partition(numbers(), [1, 0, 1], 2),
        [[[]], [[1, 2], [3, 4, 5]]],
    ),
    "sum of rows": (lambda: tf.reduce_sum(numbers(), axis=1), [3, 0, 12]),
    "sum of columns": (lambda: tf.reduce_sum(numbers(), axis=0), [4, 6, 5]),
    "sum of all": (lambda: tf.reduce_sum(numbers()), 15),
    "sum of several": (lambda: tf.reduce_sum(nested(), axis=[1, 2]), [6, 0, 15]),
    "product": (lambda: tf.reduce_prod(numbers(), axis=1), [2, 1, 60]),
    "maximum": (lambda: tf.reduce_max(nested(), axis=1), [[3, 2], [], [5, 6]]),
    "mean": (lambda: tf.reduce_mean(tf.ragged.constant([[1.0, 2.0], [6.0]]), 1), [1.5, 6.0]),
    "any": (lambda: tf.reduce_any(numbers() > 4, axis=1), [False, False, True]),
    "all": (lambda: tf.reduce_all(numbers() > 1, axis=1), [False, True, True]),
    "joined": (lambda: tf.reduce_join(words(), axis=1, separator="-"), [b"a-bc", b"", b"d"]),
    "segments": (lambda: tf.unsorted_segment_sum(numbers(), [1, 0, 1], 2), [[], [4, 6, 5]]),
    "range": (lambda: tf.ragged.range([0, 5, 8], [3, 3, 12]), [[0, 1, 2], [], [8, 9, 10, 11]]),
    "ids": (lambda: tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]), [0, 0, 0, 2, 2]),
    "splits": (lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2], 4), [0, 2, 2, 3, 3]),
    "mask": (
        lambda: tf.ragged.boolean_mask(
            numbers(), tf.ragged.constant([[True, False], [], [False, True, True]])
        ),
        [[1], [], [4, 5]],
    ),
    "mask of rows": (
        lambda: tf.ragged.boolean_mask(nested(), [False, True, True]),
        [[], [[4], [], [5, 6]]],
    ),
    "dense mask": (
        lambda: tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]),
        [[1], [3, 4]],
    ),
    "partitions": (
        lambda: tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [0, 2, 0], 3),
        [[b"a", b"c"], [], [b"b"]],
    ),
    "map": (
        lambda: tf.ragged.map_flat_values(tf.multiply, numbers(), 2),
        [[2, 4], [], [6, 8, 10]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_value(name: str) -> None:
    compute, expected = CASES[name]
    assert rows(compute()) == expected


# name → (index, what TensorFlow 1.15 gives for `nested()`)
_all = slice(None)
ITEMS: dict[str, tuple[Any, Any]] = {
    "row": (0, [[1, 2], [3]]),
    "row from the end": (-1, [[4], [], [5, 6]]),
    "row of a row": ((2, 2), [5, 6]),
    "element": ((2, 2, 1), 6),
    "rows": (slice(1, None), [[], [[4], [], [5, 6]]]),
    "no rows": (slice(5, None), []),
    "rows backwards": (slice(None, None, -1), [[[4], [], [5, 6]], [], [[1, 2], [3]]]),
    "columns": ((_all, slice(1, None)), [[[3]], [], [[], [5, 6]]]),
    "all but the last": ((_all, slice(None, -1)), [[[1, 2]], [], [[4], []]]),
    "inner": ((..., slice(None, 1)), [[[1], [3]], [], [[4], [], [5]]]),
    "every second": ((_all, slice(None, None, 2)), [[[1, 2]], [], [[4], [5, 6]]]),
    "new axis": ((_all, None), [[[[1, 2], [3]]], [[]], [[[4], [], [5, 6]]]]),
}


@pytest.mark.parametrize("name", ITEMS)
def test_item(name: str) -> None:
    key, expected = ITEMS[name]
    assert rows(nested()[key]) == expected


def test_items_that_rows_may_not_have() -> None:
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        numbers()[:, 0]
    with pytest.raises(IndexError, match="Too many indices for RaggedTensor"):
        numbers()[..., 0, 0, 0]
    with pytest.raises(TypeError, match="slice offsets must be integers or None"):
        numbers()[:, 1.5:]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="keepdims=True is not supported"):
        tf.reduce_sum(numbers(), axis=1, keepdims=True)
    with pytest.raises(ValueError, match="axis != 0 is not supported for ragged gather yet"):
        tf.gather(numbers(), [0], axis=1)
    with pytest.raises(ValueError, match="mismatched row_splits dtypes"):
        tf.concat([numbers(), tf.ragged.constant([[1]], row_splits_dtype=tf.int32)], 0)
    with pytest.raises(ValueError, match="Inputs must have identical ragged splits"):
        tf.ragged.map_flat_values(tf.add, numbers(), nested())
    with pytest.raises(TypeError):
        tf.matmul(numbers(), numbers())
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 3\)"
    ):
        rows(tf.gather(numbers(), [5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        rows(numbers() + tf.ragged.constant([[1, 2], [], [3]]))
    with pytest.raises(TypeError):
        tf.add(numbers(), numbers().to_sparse())
    other = tf.ragged.constant([[1], [2], [3, 4, 5]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        tf.ragged.map_flat_values(tf.add, numbers(), other)


def test_gradients_reach_the_values() -> None:
    values = tf.placeholder(tf.float32, [3])
    ragged = tf.RaggedTensor.from_row_lengths(values, [2, 0, 1])
    weights = tf.constant([[1.0], [2.0], [3.0]])
    results = [
        tf.reduce_sum(ragged * weights, axis=1),
        tf.gather(ragged, [0, 0]).values,
        ragged.to_tensor(),
        ragged.to_sparse().values,
        tf.reduce_max(ragged, axis=1),
    ]
    grads = [tf.convert_to_tensor(tf.gradients(result, values)[0]) for result in results]
    assert rows(grads, {values: [1.0, 2.0, 4.0]}) == [
        [1.0, 1.0, 3.0],
        [2.0, 2.0, 0.0],
        [1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0],
    ]


def test_functions_can_be_answered_for() -> None:
    class Money:
        pass

    @dispatched
    def worth(value: int) -> str:
        if not isinstance(value, int):
            raise TypeError("no number")
        return "number"

    with pytest.raises(TypeError, match="no number"):
        worth(Money())  # type: ignore[arg-type]

    @dispatch_for_types(worth, Money)
    def _(value: Money) -> str:
        return "money"

    assert [worth(1), worth(Money())] == ["number", "money"]  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="Dispatching not enabled"):
        OpDispatcher().register(len)
