"""Steps that CallableOptions describe: names that are not there, and calls with other feeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import proto

INVALID, MISSING = tf.errors.InvalidArgumentError, tf.errors.NotFoundError


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.multiply(tf.placeholder(tf.float32, [None], name="x"), 2.0, name="y")
        yield session


def options(feed: Any = (), fetch: Any = (), target: Any = ()) -> Any:
    return proto.CallableOptions(feed=feed, fetch=fetch, target=target)


def test_a_name_without_a_number_is_the_first_output(session: Any) -> None:
    (found,) = session._make_callable_from_options(options(["x"], ["y"]))(np.ones(2, np.float32))
    np.testing.assert_array_equal(found, [2.0, 2.0])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (options(["z:0"], ["y:0"]), INVALID, "Tensor z:0"),
        (options(["x:0"], ["z:0"]), INVALID, "Tensor z:0"),
        (options(["x:0"], ["y:7"]), INVALID, "Tensor y:7"),
        (options(["x:0"], [], ["z"]), MISSING, "target nodes not found: z"),
        (options(), INVALID, "at least one target"),
        (options(["x:0", "x:0"], ["y:0"]), INVALID, "fed more than once"),
    ],
)
def test_wrong_options(given: Any, error: Any, words: str, session: Any) -> None:
    with pytest.raises(error, match=words):
        session._make_callable_from_options(given)


@pytest.mark.parametrize("count", [0, 2])
def test_another_number_of_feeds(count: int, session: Any) -> None:
    call = session._make_callable_from_options(options(["x:0"], ["y:0"]))
    with pytest.raises(INVALID, match=f"Expected 1 feed tensors, but got {count}"):
        call(*[np.ones(2, np.float32)] * count)


def test_tensors_are_not_connected(session: Any) -> None:
    given = options([], ["y:0"])
    given.tensor_connection.add(from_tensor="y:0", to_tensor="x:0")
    with pytest.raises(tf.errors.UnimplementedError, match="tensor_connection"):
        session._make_callable_from_options(given)
