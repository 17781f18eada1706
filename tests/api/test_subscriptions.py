"""Side effects that run whenever a tensor is used: several results of a node, inside a branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.internal_paths.subscriptions import subscribe


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _noting(seen: list[Any]) -> Any:
    def note(value: Any) -> Any:
        seen.append(value)
        return value

    return lambda tensor: tf.py_func(note, [tensor], [tensor.dtype])


def test_what_waits_for_a_node_waits_for_all_its_subscribed_results() -> None:
    parts = tf.split(tf.constant([1, 2, 3]), 3)
    with tf.control_dependencies(parts):
        after = tf.constant(0)
    seen: list[Any] = []
    subscribe(parts, _noting(seen))
    with tf.Session() as sess:
        sess.run(after)
    assert len(seen) == 3


def test_side_effects_are_in_the_branch_of_their_tensor() -> None:
    one = tf.constant(1)
    chosen = tf.cond(one > 0, lambda: tf.add(one, 1, name="then"), lambda: one)
    inside = tf.get_default_graph().get_tensor_by_name("cond/then:0")
    seen: list[Any] = []
    replaced = subscribe(inside, _noting(seen))
    assert replaced.op._get_control_flow_context() is inside.op._get_control_flow_context()
    with tf.Session() as sess:
        assert sess.run(chosen) == 2
    assert seen == [2]
