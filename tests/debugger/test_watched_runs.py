"""Watched runs: what `RunOptions.debug_options` writes, and how a dump is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penstock.python import debug as tfdbg
from penstock.python.ops import collective_ops

import penstock as tf


def _watched(sess: Any, fetches: Any, folder: Path, feeds: Any = None, **watches: Any) -> Any:
    options = tf.RunOptions(output_partition_graphs=True)
    tfdbg.watch_graph(options, sess.graph, debug_urls=f"file://{folder}", **watches)
    metadata = tf.RunMetadata()
    results = sess.run(fetches, feeds, options=options, run_metadata=metadata)
    return results, tfdbg.DebugDumpDir(str(folder), partition_graphs=metadata.partition_graphs)


def test_every_tensor_is_written_in_order(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="in/x")
        v = tf.Variable([1.0, 2.0], name="v")
        y = tf.add(x * v, v * 0.0, name="y")
        sess.run(v.initializer)
        value, dump = _watched(sess, y, tmp_path, {x: [3.0, 4.0]})
        np.testing.assert_array_equal(value, [3.0, 8.0])
        np.testing.assert_array_equal(dump.get_tensors("mul", 0, "DebugIdentity"), [[3.0, 8.0]])
        # Neither merged nor folded: both products are there, each after its inputs.
        names = [datum.node_name for datum in dump.dumped_tensor_data]
        assert names.index("v/read") < names.index("mul_1") < names.index("y")
        assert dump.node_inputs("mul") == ["_arg_in/x_0_0", "v/read"]
        assert dump.node_op_type("y") == "AddV2" or dump.node_op_type("y") == "Add"
        assert dump.find_some_path("v", "y") == ["v", "v/read", "mul", "y"]
        about = dump.core_metadata
        assert (about.session_run_index, about.executor_step_index) == (0, 0)
        assert about.input_names == ["in/x:0"] and about.output_names == ["y:0"]
        dump.set_python_graph(sess.graph)
        assert os.path.basename(dump.node_traceback("y:0")[-1][0]) == os.path.basename(__file__)


def test_a_value_for_each_iteration(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        _, product = tf.while_loop(
            lambda i, p: i < 4, lambda i, p: (i + 1, tf.multiply(p, 2.0, name="twice")), [0, 1.0]
        )
        value, dump = _watched(sess, product, tmp_path)
        assert value == 16.0
        assert dump.get_tensors("while/twice", 0, "DebugIdentity") == [2.0, 4.0, 8.0, 16.0]


def test_only_what_matches_is_watched(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.constant([1.0], name="a")
        b = tf.identity(tf.cast(a, tf.int32), name="b")
        _, dump = _watched(sess, b, tmp_path / "1", tensor_dtype_regex_whitelist="int.*")
        assert {datum.node_name for datum in dump.dumped_tensor_data} == {"Cast", "b"}
        options = tf.RunOptions()
        tfdbg.watch_graph_with_blacklists(
            options, sess.graph, debug_urls=f"file://{tmp_path}/2", op_type_regex_blacklist="Const"
        )
        sess.run(b, options=options)
        dump = tfdbg.DebugDumpDir(str(tmp_path / "2"))
        assert [datum.watch_key for datum in dump.dumped_tensor_data] == [
            "Cast:0:DebugIdentity",
            "b:0:DebugIdentity",
        ]


def test_uninitialized_variables_and_failures_are_seen(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0], name="v")
        with pytest.raises(tf.errors.FailedPreconditionError):
            _watched(sess, v * 2.0, tmp_path)
        dump = tfdbg.DebugDumpDir(str(tmp_path))
        (value,) = dump.get_tensors("v", 0, "DebugIdentity")
        assert isinstance(value, tfdbg.InconvertibleTensorProto) and not value.initialized
        assert not tfdbg.has_inf_or_nan(None, value)


def test_nodes_that_wait_for_each_other(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session(config=_two_devices()) as sess:
        queue = tf.FIFOQueue(4, [tf.float32], shapes=[[]])
        taken = queue.dequeue(name="taken")
        put = queue.enqueue(tf.constant(2.0))
        options = tf.RunOptions(timeout_in_ms=60000)
        tfdbg.watch_graph(options, sess.graph, debug_urls=f"file://{tmp_path}/1")
        assert sess.run([taken, put], options=options)[0] == 2.0
        dump = tfdbg.DebugDumpDir(str(tmp_path / "1"))
        assert dump.get_tensors("taken", 0, "DebugIdentity") == [2.0]
        sums = []
        for number in range(2):
            with tf.device(f"/cpu:{number}"):
                value = tf.constant([1.0 + number])
                sums.append(collective_ops.all_reduce(value, 2, 1, 1, "Add", "Id"))
        options.debug_options.Clear()
        tfdbg.watch_graph(options, sess.graph, debug_urls=f"file://{tmp_path}/2")
        assert [each.tolist() for each in sess.run(sums, options=options)] == [[3.0], [3.0]]
        dump = tfdbg.DebugDumpDir(str(tmp_path / "2"))
        assert len(dump.devices()) == 2
        for each in sums:
            assert dump.get_tensors(each.op.name, 0, "DebugIdentity")[0].tolist() == [3.0]


def _two_devices() -> Any:
    return tf.ConfigProto(device_count={"CPU": 2})


def test_numeric_summary(tmp_path: Path) -> None:
    numbers = [np.nan, -np.inf, np.inf, np.inf, -2.0, 0.0, 0.0, 4.0]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.Variable(numbers, name="x")
        sess.run(x.initializer)
        _, dump = _watched(sess, x, tmp_path / "1", debug_ops=["DebugNumericSummary"])
        (found,) = dump.get_tensors("x", 0, "DebugNumericSummary")
        assert found[:8].tolist() == [1, 8, 1, 1, 1, 2, 1, 2]
        assert found[8:11].tolist() == [-2.0, 4.0, 0.5]
        assert found[12:].tolist() == [tf.float32.as_datatype_enum, 1, 8]
        op = "DebugNumericSummary(lower_bound=-1.0; mute_if_healthy=true)"
        healthy = tf.constant([0.5], name="healthy")
        _, dump = _watched(sess, [x, healthy], tmp_path / "2", debug_ops=[op])
        assert dump.debug_watch_keys("healthy") == []
        (found,) = dump.get_tensors("x", 0, "DebugNumericSummary")
        assert found[3:5].tolist() == [2, 0]  # -2 counts as too low


def test_debug_ops_that_can_not_be(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        text = tf.identity(tf.constant("word"), name="text")
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"1 attribute key\(s\).*: foo"):
            _watched(sess, text, tmp_path, debug_ops=["DebugNumericSummary(foo=1)"])
        with pytest.raises(tf.errors.FailedPreconditionError, match="numbers, not string"):
            _watched(sess, text, tmp_path, debug_ops=["DebugNumericSummary"])
        value, dump = _watched(
            sess,
            text,
            tmp_path / "tolerant",
            debug_ops=["DebugNumericSummary"],
            tolerate_debug_op_creation_failures=True,
        )
        assert value == b"word" and dump.size == 0
        with pytest.raises(ValueError, match="debug_urls must not be empty"):
            tfdbg.watch_graph(tf.RunOptions(), sess.graph)
        options = tf.RunOptions()
        tfdbg.add_debug_tensor_watch(options, "text", debug_urls="grpc://localhost:1")
        with pytest.raises(tf.errors.UnimplementedError, match="file://"):
            sess.run(text, options=options)


def test_dumps_that_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        tfdbg.DebugDumpDir(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="naming pattern"):
        tfdbg.DebugTensorDatum(str(tmp_path), "_tfdbg_device_,job_a/short_name")
    with tf.Graph().as_default(), tf.Session() as sess:
        _, dump = _watched(sess, tf.constant(1.0, name="c"), tmp_path)
    with pytest.raises(ValueError, match=r"None of the 1 device\(s\) has a node named 'd'"):
        dump.node_inputs("d")
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("c")
    # A tensor that was written before its inputs was not computed from them.
    (datum,) = dump.dumped_tensor_data
    assert datum.get_tensor() == 1.0 and datum.dump_size_bytes == os.path.getsize(datum.file_path)


def test_gradients_are_known_by_their_tensors() -> None:
    tfdbg.clear_gradient_debuggers()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        u = tf.constant(3.0, name="u")
        v = tf.constant(2.0, name="v")
        product = tf.multiply(u, v, name="product")
        debugger = tfdbg.GradientsDebugger()
        debugger.watch_gradients_by_tensors(graph, u)
        tf.gradients(tf.square(product), [v])
        with pytest.raises(LookupError, match="x-tensor u:0"):
            debugger.gradient_tensor(u)
        tf.gradients(tf.square(product), [u])
        assert sess.run(debugger.gradient_tensor("u:0")) == 24.0
    tfdbg.clear_gradient_debuggers()


def test_nodes_of_tensorflows_debugger_are_left_out() -> None:
    graph = tf.GraphDef()
    graph.node.add(name="a", op="Const")
    graph.node.add(name="__copy_a_0", op="Copy", input=["a"])
    graph.node.add(name="__dbg_a:0_0_DebugIdentity", op="DebugIdentity", input=["__copy_a_0"])
    graph.node.add(name="b", op="Neg", input=["__copy_a_0", "^__dbg_a:0_0_DebugIdentity"])
    plain = tfdbg.reconstruct_non_debug_graph_def(graph)
    assert [(node.name, list(node.input)) for node in plain.node] == [("a", []), ("b", ["a"])]


def test_handles_of_variables_have_no_values(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
        sess.run(v.initializer)
        value, dump = _watched(sess, v + 1.0, tmp_path)
        np.testing.assert_array_equal(value, [2.0, 3.0])
        (handle,) = dump.get_tensors("v", 0, "DebugIdentity")
        assert type(handle).__name__ == "InconvertibleTensorProto"
