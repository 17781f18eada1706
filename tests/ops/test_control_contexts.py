"""Contexts of control flow that a class outside of Penstock is made of."""

from __future__ import annotations

import penstock as tf
from penstock.ops.control_contexts import ControlFlowContext


def test_known_tensors_move_to_another_scope() -> None:
    with tf.Graph().as_default():
        tf.constant(0, name="a")
        tf.constant(2, name="inner/a")
        outside = tf.constant(1, name="b")
        moved = tf.constant(3, name="inner/b")
        context = ControlFlowContext()
        context._values = ["a", "b"]
        context._external_values = {"a": outside}
        message = context._to_values_def()
        again = ControlFlowContext(values_def=message, import_scope="inner")
        assert again._values == {"inner/a", "inner/b"}
        assert again._external_values == {"inner/a": moved}
        assert again._to_values_def(export_scope="inner") == message
