"""Error messages whose tags tell where nodes were made, and where the program placed them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import penstock as tf
from penstock.internal_paths import error_interpolation


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _told(message: str) -> str:
    return error_interpolation.interpolate(message, tf.get_default_graph())


def test_a_node_is_told_with_its_line() -> None:
    tf.constant(1, name="one")
    told = _told("<{{node one}}|{{node other}}>")
    assert told.startswith("<node one (defined at ")
    assert "test_error_interpolation.py:" in told
    assert told.endswith(" |{{node other}}>")


def test_inputs_from_other_lines_follow_the_message() -> None:
    one = tf.constant(1, name="one")
    tf.negative(one, name="two")
    told = _told("{{node two}}")
    assert "Input Source operations connected to node two:\n one (defined at " in told
    assert "Input Source" not in _told("{{node one}}")


def test_blocks_that_place_a_node_are_told() -> None:
    one = tf.constant(1, name="one")
    with tf.device("/cpu:0"):
        tf.constant(2, name="two")
    with tf.colocate_with(one):
        tf.constant(3, name="three")
    assert "with tf.device(/cpu:0): <" in _told("{{colocation_node two}}")
    beside = _told("{{colocation_node three}}")
    assert "with tf.colocate_with(one): <" in beside
    assert "No device assignments were active during op 'three' creation." in beside
    assert "No node-device colocations were active" in _told("{{colocation_node one}}")
