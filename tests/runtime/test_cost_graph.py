"""`RunMetadata.cost_graph`: which runs are measured, and what is said about their nodes."""

import pytest

import penstock as tf
from penstock.runtime.cost_graph import MeasuredRuns


@pytest.mark.parametrize(
    ("every", "after", "due"), [(1, 0, [0, 1, 2, 3, 4, 5, 6, 7]), (3, 0, [2, 5]), (3, 2, [4, 7])]
)
def test_every_so_many_runs(every, after, due):
    runs = MeasuredRuns(every, after)
    assert [i for i in range(8) if runs.next_is_due()] == due


def session(**options):
    return tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(**options)))


def test_runs_without_metadata_count_and_traces_come_with_it():
    with tf.Graph().as_default(), session(build_cost_model=2) as sess:
        x = tf.placeholder(tf.float32, [])
        y = x + 1.0
        has_graph, has_stats = [], []
        for run in range(6):
            if run % 3 == 0:
                sess.run(y, {x: 1.0})
                continue
            metadata = tf.RunMetadata()
            sess.run(y, {x: 1.0}, run_metadata=metadata)
            has_graph.append(metadata.HasField("cost_graph"))
            has_stats.append(metadata.HasField("step_stats"))
    assert has_graph == has_stats == [True, False, False, True]


def test_none_unless_asked_for():
    with tf.Graph().as_default(), session() as sess:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(tf.constant(1.0) + 1.0, options=options, run_metadata=metadata)
    assert not metadata.HasField("cost_graph")


def test_nodes_with_their_edges_sizes_and_times():
    with tf.Graph().as_default(), session(build_cost_model=1) as sess:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.control_dependencies([x]):
            y = tf.exp(x, name="y")
        z = tf.matmul(y, x, transpose_b=True, name="z")
        metadata = tf.RunMetadata()
        sess.run(z, {x: [[1.0] * 4] * 3}, run_metadata=metadata)
    nodes = {node.name: node for node in metadata.cost_graph.node}
    assert list(nodes) == ["_SOURCE", "_SINK", "_arg_x_0_0", "y", "z"]
    assert [node.id for node in nodes.values()] == [0, 1, 2, 3, 4]
    assert [entry.preceding_node for entry in nodes["z"].input_info] == [3, 2]
    assert list(nodes["_arg_x_0_0"].control_input) == [0]
    (output,) = nodes["z"].output_info
    assert output.size == 3 * 3 * 4 and output.alias_input_port == -1
    assert [dim.size for dim in output.shape.dim] == [3, 3]
    assert nodes["z"].compute_cost > 0 and nodes["z"].device.endswith("CPU:0")
