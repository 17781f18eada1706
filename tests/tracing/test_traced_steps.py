"""What a traced step leaves in RunMetadata."""

from __future__ import annotations

import itertools
import json
import threading
import time
from typing import Any

import numpy as np
from penstock.python.client import timeline

import penstock as tf

FULL_TRACE = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


def _nodes(metadata: Any) -> list[Any]:
    return [node for device in metadata.step_stats.dev_stats for node in device.node_stats]


def _traced(sess: Any, fetches: Any, feeds: Any = None, options: Any = FULL_TRACE) -> Any:
    metadata = tf.RunMetadata()
    sess.run(fetches, feeds, options=options, run_metadata=metadata)
    return metadata


def test_nodes_have_times_outputs_and_labels() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(tf.ones([3, 2]), name="w")
        y = tf.nn.relu(tf.matmul(x, w, name="h"), name="y")
        sess.run(w.initializer)
        metadata = _traced(sess, y, {x: np.ones([4, 3])})
    # As in TensorFlow, nodes that take no time are there too.
    labels = {node.node_name: node.timeline_label for node in _nodes(metadata)}
    assert labels == {
        "_arg_x_0_0": "_arg_x_0_0 = _Arg()",
        "w": "w = VariableV2()",
        "w/read": "w/read = Identity(w)",
        "h": "h = MatMul(_arg_x_0_0, w/read)",
        "y": "y = Relu(h)",
    }
    nodes = {node.node_name: node for node in _nodes(metadata)}
    output = nodes["h"].output[0].tensor_description
    assert [dim.size for dim in output.shape.dim] == [4, 2]
    assert output.allocation_description.requested_bytes == 32
    assert nodes["h"].memory[0].total_bytes == 32
    assert nodes["w"].memory_stats.persistent_memory_size == 24
    assert nodes["h"].all_start_micros + nodes["h"].all_end_rel_micros > 0


def test_memory_is_given_back_when_values_die() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [1000], name="x")
        first = tf.exp(x, name="first")
        second = tf.reduce_sum(tf.sort(first), name="second")
        y = tf.fill([1000], second, name="last")
        metadata = _traced(sess, y, {x: np.ones(1000)})
    in_use = {
        node.node_name: node.memory[0].allocator_bytes_in_use
        for node in _nodes(metadata)
        if node.memory
    }
    assert in_use["first"] == 4000
    assert in_use["last"] <= 4000 + 100  # of the values before it at most the sum is left


def test_each_iteration_of_a_loop_is_there() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 2])
        _, y = tf.while_loop(
            lambda i, a: i < 5, lambda i, a: (i + 1, tf.matmul(a, a, name="m")), [0, x]
        )
        metadata = _traced(sess, y, {x: np.eye(2)})
    names = [node.node_name for node in _nodes(metadata)]
    assert names.count("while/m") == 5 and names.count("while/Less") == 6


def test_nodes_of_a_function_are_there() -> None:
    @tf.function
    def twice(value: Any) -> Any:
        return tf.add(value, value, name="inside")

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        metadata = _traced(sess, twice(x) * 2.0, {x: [1.0, 2.0]})
    assert any(
        node.timeline_label.endswith(")") and "inside" in node.node_name
        for node in _nodes(metadata)
    )


def test_waiting_for_a_queue_is_told_from_working() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(1, [tf.float32])
        enqueue, value = queue.enqueue([1.0]), queue.dequeue(name="take")

        def fill() -> None:
            time.sleep(0.05)
            sess.run(enqueue)

        thread = threading.Thread(target=fill)
        thread.start()
        metadata = _traced(sess, value + 1.0)
        thread.join()
    (take,) = [node for node in _nodes(metadata) if node.timeline_label.startswith("take = ")]
    assert 10_000 < take.op_start_rel_micros <= take.all_end_rel_micros


def test_partition_graphs_can_be_imported_again() -> None:
    options = tf.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([1.0, 4.0], name="x")
        v = tf.Variable([2.0, 3.0], name="v")
        y = tf.cond(tf.reduce_sum(v) > 1.0, lambda: tf.sqrt(x * v), lambda: x, name="choice")
        sess.run(v.initializer)
        (graph_def,) = _traced(sess, y, options=options).partition_graphs
        expected = sess.run(y)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        np.testing.assert_array_equal(
            sess.run("choice/Merge:0", {"v/read:0": [2.0, 3.0]}), expected
        )


def test_callables_are_traced() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [], name="x")
        call = sess.make_callable(tf.exp(x, name="y"), [x], accept_options=True)
        metadata = tf.RunMetadata()
        call(0.0, options=FULL_TRACE, run_metadata=metadata)
        assert "y" in [node.node_name for node in _nodes(metadata)]


def test_viewers_get_what_they_need() -> None:
    """The form that Perfetto reads: complete bars, named processes, numbers in counters."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 2])
        metadata = _traced(sess, tf.matmul(x, x) + x, {x: np.eye(2)})
    made = timeline.Timeline(metadata.step_stats)
    events = json.loads(made.generate_chrome_trace_format(show_memory=True))["traceEvents"]
    named = {event["pid"] for event in events if event["ph"] == "M"}
    for event in events:
        assert event["pid"] in named and isinstance(event["name"], str)
        assert event["ph"] == "M" or isinstance(event["ts"], int)
        assert event["ph"] != "X" or event["dur"] >= 0
        assert event["ph"] != "C" or all(isinstance(v, int) for v in event["args"].values())
    bars = sorted((e["tid"], e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X")
    for (row, _, end), (next_row, begin, _) in itertools.pairwise(bars):
        assert row != next_row or begin >= end  # bars of a row don't overlap


def test_each_device_has_its_nodes() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        with tf.device("/cpu:0"):
            first = tf.Variable(1.0, name="first")
        with tf.device("/cpu:1"):
            second = tf.Variable(2.0, name="second")
            total = tf.add(first, second, name="total")
        sess.run(tf.global_variables_initializer())
        metadata = _traced(sess, total)
    found = {
        device.device.rpartition(":")[2]: {node.node_name for node in device.node_stats}
        for device in metadata.step_stats.dev_stats
    }
    assert {"first", "first/read"} <= found["0"] and {"second", "total"} <= found["1"]
    analysis = timeline.Timeline(metadata.step_stats).analyze_step_stats()
    maximum = analysis.allocator_maximums["cpu"]
    assert maximum.num_bytes >= 8
    assert maximum.tensors & {"first", "first/read"} and maximum.tensors & {"second", "second/read"}
