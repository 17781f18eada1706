"""Placeholders: what is told without a feed, and what old GraphDefs hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry


def test_placeholder_v2() -> None:
    spec = registry.find("PlaceholderV2")
    assert spec is not None
    with tf.Graph().as_default() as graph:
        x = spec(dtype=tf.float32, shape=[None, 2])
    assert x.shape.as_list() == [None, 2]
    with tf.Session(graph=graph) as session:
        np.testing.assert_array_equal(session.run(x, {x: [[1.0, 2.0]]}), [[1.0, 2.0]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
            session.run(x)


@pytest.mark.parametrize(
    ("shape", "told"),
    [(None, "with dtype float$"), ([], "with dtype float$"), ([None, 10], r"and shape \[\?,10\]$")],
)
def test_a_missing_feed_tells_a_shape_that_says_something(shape, told):
    x = tf.placeholder(tf.float32, shape, name="x")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as raised:
        session.run(tf.identity(x))
    assert re.search(told, raised.value.message.split("\n")[0])


@pytest.mark.parametrize(("producer", "shape"), [(21, None), (22, ())])
def test_old_graphs_have_no_scalar_placeholders(producer, shape):
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [], name="x")
    message = graph.as_graph_def()
    message.versions.producer = producer
    with tf.Graph().as_default():
        (imported,) = tf.import_graph_def(message, return_elements=["x:0"], name="")
    assert imported._shape == shape
