"""Watched tensors (tfdbg) of sessions on servers: each task writes what its devices compute."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penstock.python import debug as tfdbg

import penstock as tf
from tests.cluster.nursery import free_ports

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
ON_PS, ON_WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph
    tf.config.set_graph_file_roots(None)


@pytest.fixture
def target(start_server: Callable[..., Any]) -> str:
    """The worker of a cluster in this process."""
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    cluster = {"ps": [ps], "worker": [worker]}
    start_server(cluster, job_name="ps", task_index=0)
    target: str = start_server(cluster, job_name="worker", task_index=0).target
    return target


def _options(folder: Path, **watches: Any) -> Any:
    options = tf.RunOptions(output_partition_graphs=True)
    graph = tf.get_default_graph()
    tfdbg.watch_graph(options, graph, debug_urls=f"file://{folder}", **watches)
    return options


def _watched(sess: Any, fetches: Any, folder: Path, feeds: Any = None, **watches: Any) -> Any:
    metadata = tf.RunMetadata()
    results = sess.run(fetches, feeds, options=_options(folder, **watches), run_metadata=metadata)
    graphs = [graph.node[-1].device for graph in metadata.partition_graphs]
    assert len(set(graphs)) == len(graphs) > 0
    return results, tfdbg.DebugDumpDir(str(folder))


def _values(dump: Any) -> dict[str, list[Any]]:
    """What was written, by device and tensor."""
    found: dict[str, list[Any]] = {}
    for datum in dump.dumped_tensor_data:
        key = f"{datum.device_name.split('/')[1][4:]}/{datum.tensor_name}"
        found.setdefault(key, []).append(np.asarray(datum.get_tensor()).tolist())
    return found


def test_a_server_of_one_task(
    start_server: Callable[..., Any], by_grpc: Any, tmp_path: Path
) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
    y = tf.add(v * x, x, name="y")
    with tf.Session(start_server().target, config=by_grpc) as sess:
        sess.run(v.initializer)
        value, dump = _watched(sess, y, tmp_path, {x: [3.0, 4.0]})
        np.testing.assert_array_equal(value, [6.0, 12.0])
        assert _values(dump) == {
            "local/v:0": [[1.0, 2.0]],
            "local/v/read:0": [[1.0, 2.0]],
            "local/mul:0": [[3.0, 8.0]],
            "local/y:0": [[6.0, 12.0]],
        }
        assert dump.node_inputs("y") == ["mul", "_arg_x_0_0"]
        about = dump.core_metadata
        assert about.input_names == ["x:0"] and about.output_names == ["y:0"]
        assert (about.session_run_index, about.executor_step_index) == (0, 0)
        # Unwatched again, and with what else options ask for.
        np.testing.assert_array_equal(sess.run(y, {x: [0.0, 1.0]}), [0.0, 3.0])


@pytest.mark.usefixtures("cpus_alone")
def test_each_task_writes_what_it_computes(target: str, by_grpc: Any, tmp_path: Path) -> None:
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.add(v * x, x, name="y")
    with tf.device(PS):
        update = tf.assign_add(v, y, name="update")
    with tf.Session(target, config=by_grpc) as sess:
        sess.run(v.initializer)
        (value, after), dump = _watched(sess, [y, update], tmp_path, {x: [3.0, 4.0]})
        assert dump.devices() == [ON_PS, ON_WORKER]
        assert value.tolist() == [6.0, 12.0] and after.tolist() == [7.0, 14.0]
        assert _values(dump) == {
            "ps/v:0": [[1.0, 2.0]],
            "ps/v/read:0": [[1.0, 2.0]],
            "worker/mul:0": [[3.0, 8.0]],
            "worker/y:0": [[6.0, 12.0]],
            "ps/update:0": [[7.0, 14.0]],
        }
        assert dump.nodes(ON_PS) == ["v", "v/read", "update"]
        assert dump.nodes(ON_WORKER) == ["_arg_x_0_0", "mul", "y"]
        assert dump.node_inputs("mul") == ["v/read", "_arg_x_0_0"]
        # The same step, unwatched, and watched once more: state goes on.
        assert sess.run(update, {x: [0.0, 0.0]}).tolist() == [7.0, 14.0]
        _, dump = _watched(sess, [y, update], tmp_path / "2", {x: [1.0, 1.0]})
        assert _values(dump)["ps/update:0"] == [[15.0, 29.0]]


def test_runs_are_counted_by_form_and_watches(target: str, by_grpc: Any, tmp_path: Path) -> None:
    with tf.device(PS):
        a = tf.constant([1.0], name="a") + 1.0
    with tf.device(WORKER):
        b = tf.identity(a * 2.0, name="b")
    with tf.Session(target, config=by_grpc) as sess:
        for _ in range(3):
            _, dump = _watched(sess, b, tmp_path / "same")
        assert [each.session_run_index for each in dump.core_metadata] == [0, 1, 2]
        assert [each.executor_step_index for each in dump.core_metadata] == [0, 1, 2]
        assert _values(dump)["worker/b:0"] == [[4.0]] * 3
        _, dump = _watched(sess, b, tmp_path / "other", node_name_regex_whitelist="b$")
        assert dump.core_metadata.session_run_index == 0
        assert list(_values(dump)) == ["worker/b:0"]


def test_loops_and_branches_over_tasks(target: str, by_grpc: Any, tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i: Any, p: Any) -> tuple[Any, Any]:
        with tf.device(PS):
            p = tf.multiply(p, 2.0, name="twice")
        with tf.device(WORKER):
            return i + 1, tf.add(p, x, name="more")

    with tf.device(WORKER):
        _, looped = tf.while_loop(lambda i, p: i < 3, body, [0, x])
        chosen = tf.cond(
            x > 0.0,
            lambda: tf.multiply(looped, 2.0, name="yes"),
            lambda: tf.multiply(looped, 3.0, name="no"),
        )
    with tf.Session(target, config=by_grpc) as sess:
        value, dump = _watched(sess, chosen, tmp_path, {x: 1.0})
        assert value == 30.0
        found = _values(dump)
        assert found["ps/while/twice:0"] == [2.0, 6.0, 14.0]
        assert found["worker/while/more:0"] == [3.0, 7.0, 15.0]
        assert found["worker/while/Less:0"] == [True, True, True, False]
        assert found["worker/cond/yes:0"] == [30.0]
        assert found["worker/cond/Merge:0"] == [30.0]
        assert not [key for key in found if "cond/no" in key]


@pytest.mark.usefixtures("cpus_alone")
def test_all_nodes_of_a_step_on_another_task(target: str, by_grpc: Any, tmp_path: Path) -> None:
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [], name="x")
        unused = tf.constant(5.0, name="unused")
        with tf.control_dependencies([unused]):
            looped = tf.while_loop(lambda p: p < 3.0, lambda p: p * 2.0, [tf.identity(x)])
    with tf.Session(target, config=by_grpc) as sess:
        value, dump = _watched(sess, looped, tmp_path, {x: 1.0})
        found = _values(dump)
        assert value == 4.0 and dump.devices() == [ON_PS]
        assert found["ps/unused:0"] == [5.0]
        assert found["ps/while/Enter:0"] == [1.0] and found["ps/while/Exit:0"] == [4.0]
        assert found["ps/while/Merge:0"] == [1.0, 2.0, 4.0]


def test_constants_are_written_where_they_are_placed(
    target: str, by_grpc: Any, tmp_path: Path
) -> None:
    with tf.device(PS):
        a = tf.constant(1.0, name="a")
        v = tf.identity(tf.placeholder_with_default(2.0, [], name="p"), name="v")
    with tf.device(WORKER):
        b = tf.add(a + a, v, name="b")
        looped = tf.while_loop(lambda p: p < 3.0 + a, lambda p: p + a, [b], name="loop")
    with tf.Session(target, config=by_grpc) as sess:
        value, dump = _watched(sess, looped, tmp_path)
        found = _values(dump)
        assert value == 4.0 and found["ps/a:0"] == [1.0]
        assert "worker/a:0" not in found
        value, dump = _watched(sess, a + a, tmp_path / "2")
        assert value == 2.0 and _values(dump)["ps/a:0"] == [1.0]


def test_a_step_that_fails_has_written_what_came_before(
    target: str, by_grpc: Any, tmp_path: Path
) -> None:
    with tf.device(PS):
        v = tf.Variable([1.0], name="v", use_resource=False)
    with tf.device(WORKER):
        a = tf.constant([2.0], name="a")
        y = v + a
    with tf.Session(target, config=by_grpc) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            _watched(sess, y, tmp_path)
        dump = tfdbg.DebugDumpDir(str(tmp_path))
        (value,) = dump.get_tensors("v", 0, "DebugIdentity")
        assert isinstance(value, tfdbg.InconvertibleTensorProto) and not value.initialized
        sess.run(v.initializer)
        assert sess.run(y).tolist() == [3.0]


def test_a_training_step_is_the_same_watched_or_not(
    target: str, by_grpc: Any, tmp_path: Path
) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=WORKER)):
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    batch = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)

    def trained(run: Callable[[Any, int], Any]) -> Any:
        with tf.Session(target, config=by_grpc) as sess:
            sess.run(tf.global_variables_initializer())
            losses = [run(sess, i)[0] for i in range(3)]
            return losses, sess.run(w)

    plain = trained(lambda sess, i: sess.run([loss, train], {x: batch}))

    def watched(sess: Any, i: int) -> Any:
        found, dump = _watched(sess, [loss, train], tmp_path / str(i), {x: batch})
        assert dump.get_tensors("loss", 0, "DebugIdentity") == [found[0]]
        assert dump.find(tfdbg.has_inf_or_nan) == []
        assert dump.core_metadata.target_nodes == [train.name]
        return found

    seen = trained(watched)
    np.testing.assert_allclose(seen[0], plain[0], rtol=1e-6)
    np.testing.assert_allclose(seen[1], plain[1], rtol=1e-6)


def test_callables_are_watched(target: str, by_grpc: Any, tmp_path: Path) -> None:
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [], name="x")
        a = tf.multiply(x, 2.0, name="a")
    with tf.device(WORKER):
        b = tf.add(a, 1.0, name="b")
    with tf.Session(target, config=by_grpc) as sess:
        call = sess.make_callable(b, [x], accept_options=True)
        assert call(1.0) == 3.0
        assert call(2.0, options=_options(tmp_path)) == 5.0
        found = _values(tfdbg.DebugDumpDir(str(tmp_path)))
        assert found["ps/a:0"] == [4.0] and found["worker/b:0"] == [5.0]


@pytest.mark.usefixtures("cpus_alone")
def test_wrapped_sessions_and_those_of_the_own_process(target: str, tmp_path: Path) -> None:
    with tf.device(PS):
        a = tf.Variable(2.0, name="a")
    with tf.device(WORKER):
        b = tf.multiply(a, 3.0, name="b")
    with tf.Session(target) as sess:
        sess.run(a.initializer)
        dumping = tfdbg.DumpingDebugWrapperSession(sess, str(tmp_path))
        assert dumping.run(b) == 6.0
        assert dumping.run(b) == 6.0
    folders = sorted(tmp_path.glob("run_*"))
    assert len(folders) == 2
    for folder in folders:
        dump = tfdbg.DebugDumpDir(str(folder))
        assert _values(dump)["worker/b:0"] == [6.0] and dump.devices() == [ON_PS, ON_WORKER]


# What is refused --------------------------------------------------------------------------------


def test_tensors_go_to_files_alone(target: str, by_grpc: Any) -> None:
    with tf.device(PS):
        a = tf.identity(1.0, name="a")
    options = tf.RunOptions()
    tfdbg.add_debug_tensor_watch(options, "a", debug_urls="grpc://localhost:1")
    with (
        tf.Session(target, config=by_grpc) as sess,
        pytest.raises(tf.errors.UnimplementedError, match=r"file://.*not at 'grpc://localhost:1'"),
    ):
        sess.run(a, options=options)


def test_debug_ops_of_another_task_that_can_not_be(
    target: str, by_grpc: Any, tmp_path: Path
) -> None:
    with tf.device(PS):
        text = tf.identity(tf.constant("word"), name="text")
    with tf.device(WORKER):
        there = tf.identity(text, name="there")
    with tf.Session(target, config=by_grpc) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="numbers, not string"):
            _watched(sess, there, tmp_path, debug_ops=["DebugNumericSummary"])
        assert sess.run(there) == b"word"


@pytest.mark.parametrize("tasks", [1, 2])
def test_clients_write_where_their_graphs_may(
    start_server: Callable[..., Any], target: str, by_grpc: Any, tmp_path: Path, tasks: int
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    tf.config.set_graph_file_roots([inside])
    if tasks == 1:
        target = start_server().target
        a = tf.identity(1.0, name="a")
    else:
        with tf.device(PS):
            a = tf.identity(1.0, name="a")
        with tf.device(WORKER):
            a = tf.identity(a, name="b")
    with tf.Session(target, config=by_grpc) as sess:
        with pytest.raises(tf.errors.PermissionDeniedError, match="outside of the allowed folders"):
            _watched(sess, a, outside)
        assert not outside.exists()
        value, dump = _watched(sess, a, inside / "dump")
        assert value == 1.0 and dump.size >= 1


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_name_does_not_lead_out_of_the_folder(
    start_server: Callable[..., Any], target: str, by_grpc: Any, tmp_path: Path, tasks: int
) -> None:
    inside = tmp_path / "inside"
    tf.config.set_graph_file_roots([inside])
    name = "../../../../evil"
    if tasks == 1:
        target = start_server().target
        a = tf.identity(1.0, name=name)
    else:
        with tf.device(PS):
            a = tf.identity(tf.identity(1.0), name=name)
        with tf.device(WORKER):
            a = tf.identity(a, name="b")
    with (
        tf.Session(target, config=by_grpc) as sess,
        pytest.raises(tf.errors.PermissionDeniedError, match="outside of the allowed folders"),
    ):
        _watched(sess, a, inside / "dump")
    assert os.listdir(tmp_path) == ["inside"]


def test_the_allowance_of_a_task(
    target: str, by_grpc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tf.device(PS):
        large = tf.identity(tf.zeros([1000]), name="large")
    with tf.device(WORKER):
        total = tf.reduce_sum(large)
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "100")
    with tf.Session(target, config=by_grpc) as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="byte-size allowance"):
            _watched(sess, total, tmp_path, reset_disk_byte_usage=True)
        assert sess.run(total) == 0.0
