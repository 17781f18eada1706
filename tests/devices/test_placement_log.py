"""`log_device_placement`: a line for each node on stderr, as the graph is written."""

import pytest

import penstock as tf

TASK = "/job:localhost/replica:0/task:0"


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_line_for_each_node_also_where_it_is_folded(capfd):
    a = tf.constant([[1.0, 2.0]], name="a")
    b = tf.constant([[1.0], [2.0]], name="b")
    with tf.device("/cpu:1"):
        c = tf.matmul(a, b, name="c")
    config = tf.ConfigProto(log_device_placement=True, device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        assert sess.run(c) == 5.0
        lines = capfd.readouterr().err.splitlines()
        assert f"c: (MatMul): {TASK}/device:CPU:1" in lines
        assert {line.split(":")[0] for line in lines} == {"a", "b", "c"}
        sess.run([c, tf.identity(a, name="d")])
    assert capfd.readouterr().err.splitlines() == [f"d: (Identity): {TASK}/device:CPU:0"]


def test_nothing_is_said_unasked(capfd):
    with tf.Session() as sess:
        sess.run(tf.constant(1.0) + 1.0)
    assert capfd.readouterr().err == ""
