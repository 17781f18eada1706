"""Traced runs: what `RunMetadata` says of a step."""

import json

import numpy as np
import pytest

import penstock as tf
from penstock.tracing.timeline import Timeline

FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _traced(fetches, feed=None):
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(fetches, feed, options=FULL, run_metadata=metadata)
        assert np.all(values == session.run(fetches, feed))
    return metadata


def test_nodes_with_times_and_outputs():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.nn.relu(tf.matmul(x, tf.Variable(tf.ones([4, 3]))), name="y")
    metadata = _traced(y, {x: np.ones((2, 4))})
    (device,) = metadata.step_stats.dev_stats
    assert device.device.endswith("device:CPU:0")
    nodes = {stats.node_name: stats for stats in device.node_stats}
    assert {"MatMul", "y"} <= set(nodes) and nodes["y"].timeline_label == "y = Relu(MatMul)"
    (output,) = nodes["y"].output
    assert [dim.size for dim in output.tensor_description.shape.dim] == [2, 3]
    assert output.tensor_description.allocation_description.allocated_bytes == 24
    starts = [stats.all_start_nanos for stats in device.node_stats]
    assert starts == sorted(starts) and all(s.all_end_rel_micros for s in device.node_stats)
    assert {node.name for node in metadata.partition_graphs[0].node} >= {"MatMul", "y"}


def test_loops_branches_and_strings():
    x = tf.placeholder(tf.float32, [2], name="x")
    chosen = tf.cond(x[0] > 0, lambda: x * 2.0, lambda: x)
    _, looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, chosen])
    text = tf.string_join([tf.as_string(x[0]), "b"])
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        feed = {x: [1.0, 2.0]}
        found = session.run([looped, text], feed, options=FULL, run_metadata=metadata)
    assert found[0].tolist() == [16.0, 32.0]
    trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())
    names = {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "X"}
    assert {"while/while_context", "cond/mul", "StringJoin"} <= names


def test_references():
    variable = tf.Variable(1.0)
    updated = variable.assign_add(2.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        assert session.run(updated, options=FULL, run_metadata=metadata) == 3.0
    (device,) = metadata.step_stats.dev_stats
    names = {stats.node_name for stats in device.node_stats}
    assert names == {"Variable", "AssignAdd/value", "AssignAdd"}  # as TensorFlow lists them


def test_nothing_is_traced_that_was_not_asked_for():
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.constant(1.0) + 1.0, options=tf.RunOptions(), run_metadata=metadata)
        assert not metadata.step_stats.dev_stats and not metadata.partition_graphs
        with pytest.raises(TypeError, match="must be a tf.RunMetadata"):
            session.run(tf.constant(1.0), options=FULL, run_metadata={})
