"""What a graph knows of the elements of a tensor list before it runs, and refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from penstock.python.ops import list_ops as lists

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _pair() -> Any:
    return lists.tensor_list_reserve([2], 3, tf.float32)


def test_elements_have_the_shape_of_their_list() -> None:
    changed = lists.tensor_list_set_item(_pair(), 0, [1.0, 2.0])
    changed = lists.tensor_list_resize(changed, 5)
    assert lists.tensor_list_get_item(changed, 0, tf.float32).shape.as_list() == [2]
    assert lists.tensor_list_stack(changed, tf.float32).shape.as_list() == [None, 2]
    _, last = lists.tensor_list_pop_back(changed, tf.float32)
    assert last.shape.as_list() == [2]
    rows = lists.empty_tensor_list([None, 2], tf.float32)
    assert lists.tensor_list_concat(rows, tf.float32).shape.as_list() == [None, 2]


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("Expected list with element dtype int32", lambda: lists.tensor_list_stack(_pair(), tf.int32)),
    (
        "List has type float but trying to push element with type int32",
        lambda: lists.tensor_list_push_back(_pair(), tf.constant([1, 2])),
    ),
    (
        "Dimension 0 in both shapes must be equal",
        lambda: lists.tensor_list_set_item(_pair(), 0, [1.0, 2.0, 3.0]),
    ),
    ("must be equal", lambda: lists.tensor_list_from_tensor([[1.0, 2.0]], [3])),
    ("rank 1", lambda: lists.tensor_list_split([1.0], element_shape=[None], lengths=1)),
]


@pytest.mark.parametrize(("message", "build"), REFUSED)
def test_refused_while_building(message: str, build: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("message", "lengths"),
    [
        ("Invalid value in lengths: -1", [-1, 4]),
        ("Unused values in tensor. Length of tensor: 3 Values used: 2", [1, 1]),
        (r"Attempting to slice \[2, 4\] from tensor with length 3", [2, 2]),
    ],
)
def test_lengths_must_fit(message: str, lengths: list[int]) -> None:
    made = lists.tensor_list_split([1.0, 2.0, 3.0], element_shape=[None], lengths=lengths)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        session.run(lists.tensor_list_length(made))


def test_parts_of_a_concatenation_must_fit() -> None:
    empty = lists.empty_tensor_list(None, tf.float32)
    number = lists.tensor_list_push_back(empty, 1.0)
    unlike = lists.tensor_list_push_back(lists.tensor_list_push_back(empty, [[1.0]]), [[1.0, 2.0]])
    with tf.Session() as session:
        for made, message in ((number, "scalar shape at index 0"), (unlike, "Incompatible shapes")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(lists.tensor_list_concat(made, tf.float32))
