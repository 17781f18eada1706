"""A constant of one value in a large shape is one value in the graph, and in its files."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize(
    "value", [True, 2.5, 7, np.complex64(1 - 2j), "text", np.float16(3)], ids=str
)
def test_is_written_as_one_value(value: object) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(value, shape=[100, 10], name="c")
    message = graph.as_graph_def()
    assert len(message.node[0].attr["value"].SerializeToString()) < 30
    with tf.Graph().as_default() as again, tf.Session() as session:
        tf.import_graph_def(message, name="")
        found = session.run("c:0")
        assert again.as_graph_def() == message
    assert found.shape == (100, 10)
    expected = value.encode() if isinstance(value, str) else value
    assert (found == expected).all()


def test_fetched_values_are_ones_own() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        c = tf.constant(1.0, shape=[3])
        session.run(c)[0] = 5.0
        assert session.run(c).tolist() == [1.0, 1.0, 1.0]
        v = tf.Variable(c)
        session.run(v.initializer)
        assert session.run(v.assign_add([1.0, 2.0, 3.0])).tolist() == [2.0, 3.0, 4.0]
        assert session.run(c).tolist() == [1.0, 1.0, 1.0]


def test_a_message_that_claims_a_huge_shape_takes_no_memory_to_import() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, shape=[2], name="c")
    message = graph.as_graph_def()
    message.node[0].attr["value"].tensor.tensor_shape.dim[0].size = 1 << 50
    with tf.Graph().as_default() as again:
        tf.import_graph_def(message, name="")
        assert again.get_tensor_by_name("c:0").shape == (1 << 50,)


@pytest.mark.parametrize(("size", "expected"), [(2, [1.0, 2.0]), (0, [])])
def test_values_without_a_place_are_ignored(size: int, expected: list[float]) -> None:
    given = tf.make_tensor_proto([1.0, 2.0, 3.0])
    given.tensor_shape.dim[0].size = size
    given.ClearField("tensor_content")
    given.float_val.extend([1.0, 2.0, 3.0])
    graph_def = tf.GraphDef()
    node = graph_def.node.add(name="c", op="Const")
    node.attr["dtype"].type = given.dtype
    node.attr["value"].tensor.CopyFrom(given)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        assert session.run("c:0").tolist() == expected
