"""What crosses devices: one pair of Send and Recv per value and device, under guards, in loops."""

from collections import Counter

import pytest

import penstock as tf
from penstock.partition.split import partition
from penstock.passes.structure import structured


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def parts_of(fetches, feeds=(), targets=(), devices=2):
    config = tf.ConfigProto(device_count={"CPU": devices})
    with tf.Session(config=config) as sess:
        graph = sess._runtime._placed(list(feeds), fetches, list(targets), sess._runtime.options)
    if graph.has_control_flow:
        graph = structured(graph)
    return {part.device[-1]: part for part in partition(graph)}


def types_in(graph):
    found = Counter()
    for node in graph.nodes:
        found[node.type] += 1
        if (loop := node.attrs.get("loop")) is not None:
            found += types_in(loop.header) + types_in(loop.body)
    return found


def on(index):
    return tf.device(f"/device:CPU:{index}")


def test_a_value_is_sent_once_to_each_device_that_uses_it():
    x = tf.placeholder(tf.float32, [2])
    with on(0):
        a = tf.exp(x)
    with on(1):
        uses = [tf.sin(a), tf.cos(a), tf.tan(a)]
    with on(2):
        other = tf.sqrt(a)
    parts = parts_of([*uses, other], [x], devices=3)
    assert types_in(parts["0"].graph)["_Send"] == 2
    assert types_in(parts["1"].graph)["_Recv"] == 1
    assert types_in(parts["2"].graph)["_Recv"] == 1


def test_feeds_and_constants_are_not_sent():
    x = tf.placeholder(tf.float32, [2])
    constant = tf.constant([1.0, 2.0])
    with on(0):
        a = tf.exp(x) * constant
    with on(1):
        b = tf.sin(x) * constant
    parts = parts_of([a, b], [x])
    assert not any(types_in(part.graph)["_Send"] for part in parts.values())
    assert [part.feeds for part in parts.values()] == [[0], [0]]


def test_a_control_edge_between_devices_is_a_pair_too():
    with on(0):
        first = tf.Variable(1.0)
        update = first.assign_add(1.0)
    x = tf.placeholder(tf.float32, [])
    with on(1), tf.control_dependencies([update]):
        second = tf.exp(x)
    parts = parts_of([second], [x])
    assert types_in(parts["0"].graph)["_Send"] == types_in(parts["1"].graph)["_Recv"] == 1


def test_a_loop_over_devices_runs_on_each_and_sends_its_condition():
    def body(i, a, b):
        with on(0):
            a = a + 1.0
        with on(1):
            b = b * a
        return i + 1, a, b

    with on(0):
        start = [tf.constant(0), tf.constant(1.0), tf.constant(2.0)]
        result = tf.while_loop(lambda i, *_: i < 5, body, start)
    parts = parts_of([result[2]])
    assert types_in(parts["0"].graph)["_While"] == types_in(parts["1"].graph)["_While"] == 1
    loop = next(node.attrs["loop"] for node in parts["0"].graph.nodes if node.type == "_While")
    nodes = [node for region in (loop.header, loop.body) for node in region.nodes]
    sent = [node.attrs["tensor_name"] for node in nodes if node.type == "_Send"]
    assert {name.rpartition("/")[2] for name in sent} == {"Less:0", "Identity_2:0", "add:0"}
    assert len(sent) == 3


def test_parts_overlap():
    """Each of two devices waits for the other half-way, so one after the other would not do."""
    import threading

    barrier = threading.Barrier(2, timeout=30)
    results = []
    for index in range(2):
        with on(index):
            results.append(tf.py_func(lambda: barrier.wait() * 0, [], tf.int64))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        assert sess.run(results) == [0, 0]


def test_the_failure_of_one_part_is_the_error_of_the_step():
    queue = tf.FIFOQueue(1, tf.float32)
    with on(0):
        broken = tf.check_numerics(tf.log(tf.constant(-1.0)), "is not a number")
        used = queue.dequeue()
    with on(1):
        waits = tf.exp(broken)
    with (
        tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="is not a number"),
    ):
        sess.run([waits, used])


def test_an_update_does_not_wait_for_those_who_use_the_old_value_elsewhere():
    x = tf.placeholder(tf.float32, [2])
    with on(0):
        weights = tf.Variable([1.0, 2.0])
        counts = tf.Variable(0.0)
    with on(1):
        loss = tf.reduce_sum(tf.square(weights - x)) + counts
    with on(0):
        update = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[weights])
    parts = parts_of([loss], [x], [update])
    assert types_in(parts["0"].graph)["_Send"] == 2  # both variables
    received = [node for node in parts["0"].graph.nodes if node.type == "_Recv"]
    assert [node.attrs["tensor_name"][0] for node in received] != ["^"] and len(received) == 1
    apply = next(node for node in parts["0"].graph.nodes if node.type == "ApplyGradientDescent")
    assert [node.type for node in apply.controls] == ["_Send"]


def test_a_reader_that_writes_something_else_has_read_when_the_value_was_sent():
    with on(0):
        step = tf.Variable(1.0, use_resource=False)
    with on(1):
        total = tf.Variable(0.0, use_resource=False)
        added = tf.assign_add(total, step)
    with on(0):
        advanced = tf.assign(step, tf.constant(5.0))
    parts = parts_of([added, advanced])
    assert types_in(parts["0"].graph)["_Recv"] == 0
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        assert session.run([added, advanced]) == [1.0, 5.0]
        assert session.run([added, advanced]) == [6.0, 5.0]


def test_a_control_dependency_of_the_user_is_kept():
    x = tf.placeholder(tf.float32, [2])
    with on(0):
        weights = tf.Variable([1.0, 2.0], use_resource=False)
    with on(1):
        checked = tf.check_numerics(weights + x, "a number is missing")
    with on(0), tf.control_dependencies([checked]):
        update = tf.assign_add(weights, [1.0, 1.0])
    parts = parts_of([update], [x])
    received = [node for node in parts["0"].graph.nodes if node.type == "_Recv"]
    assert [node.attrs["tensor_name"] for node in received] == ["^CheckNumerics"]


def test_a_value_that_has_come_tells_that_its_node_has_run():
    x = tf.placeholder(tf.float32, [2])
    with on(0):
        a = tf.exp(x)
    with on(1):
        b = tf.sin(a)
        with tf.control_dependencies([a.op]):
            c = tf.cos(x)
    parts = parts_of([b, c], [x])
    assert types_in(parts["0"].graph)["_Send"] == 1
