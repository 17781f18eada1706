"""Sessions of clients at a server, by gRPC over the loopback interface."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.runtime.local import LocalRuntime

LOCAL = "/job:local/replica:0/task:0"


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def target(start_server: Callable[..., Any]) -> str:
    found: str = start_server().target
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for what other threads do; a test that waits in vain fails."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


# Values ---------------------------------------------------------------------------------------

TYPES = [
    tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.uint8, tf.int16, tf.uint16,
    tf.int32, tf.int64, tf.bool, tf.complex64, tf.complex128,
]  # fmt: skip


@pytest.mark.parametrize("size", [0, 3, 5000])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
def test_numbers_travel_both_ways(dtype: Any, size: int, target: str, by_grpc: Any) -> None:
    given = (np.arange(size) % 7).astype(dtype.as_numpy_dtype)
    x = tf.placeholder(dtype, [None])
    with tf.Session(target, config=by_grpc) as session:
        found = session.run(tf.identity(x), {x: given})
    assert found.dtype == given.dtype and found.flags.writeable
    np.testing.assert_array_equal(found, given)


@pytest.mark.parametrize("value", [7, [1, 2, 250], range(5000)], ids=["one", "few", "many"])
def test_quantized_numbers_are_fetched_as_integers(value: Any, target: str, by_grpc: Any) -> None:
    given = np.array(value).astype(np.uint8)
    x = tf.placeholder(tf.quint8)
    with tf.Session(target, config=by_grpc) as session:
        found = session.run(tf.identity(x), {x: given.astype(tf.quint8.as_numpy_dtype)})
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, given)


def test_strings_and_scalars(target: str, by_grpc: Any) -> None:
    x = tf.placeholder(tf.string, [None, 1])
    text = [[b""], [b"\x00\xff"], ["é".encode()], [b"x" * 9000]]
    with tf.Session(target, config=by_grpc) as session:
        assert session.run(tf.identity(x), {x: text}).tolist() == text
        assert session.run(tf.constant("word")) == b"word"
        number = session.run(tf.constant(2.5))
        assert type(number) is np.float32 and number == 2.5


def test_values_that_can_not_travel(target: str, by_grpc: Any) -> None:
    of_step = tf.TensorArray(tf.float32, 3).handle
    dataset = tf.data.Dataset.range(3)._variant_tensor
    with tf.Session(target, config=by_grpc) as session:
        with pytest.raises(tf.errors.UnimplementedError, match="resource can't be sent"):
            session.run(of_step)
        with pytest.raises(tf.errors.UnimplementedError, match="variant can't be sent"):
            session.run(dataset)


def test_handles_are_those_of_their_resources(target: str, by_grpc: Any) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    handle = tf.placeholder(tf.resource, [])
    read = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)
        fetched = session.run(v.handle)
        assert session.run(read, {handle: fetched}) == 1.0
        number = tf.placeholder(tf.float32, [])
        options = proto.CallableOptions(feed=[handle.name], fetch=[read.name])
        assert session._make_callable_from_options(options)(fetched) == [1.0]
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
            session.run(number + 1.0, {number: fetched})


# Graphs ---------------------------------------------------------------------------------------


def test_a_graph_grows(target: str, by_grpc: Any) -> None:
    v = tf.Variable(1.0, name="v")
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)
        for step in range(3):
            with tf.control_dependencies([v.op]):
                added = tf.assign_add(v, 1.0, name=f"added_{step}")
            assert session.run(added) == 2.0 + step
        loop = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])
        assert session.run(loop) == 5


def test_datasets_and_functions(target: str, by_grpc: Any) -> None:
    numbers = tf.data.Dataset.range(4).map(lambda n: n * n)
    following = numbers.make_one_shot_iterator().get_next()
    with tf.Session(target, config=by_grpc) as session:
        found = [session.run(following) for _ in range(4)]
        assert found == [0, 1, 4, 9]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)


def test_a_partial_run_ends_with_its_last_feed_and_fetch(target: str, by_grpc: Any) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    c = a + 1.0
    d = c * 2.0
    with tf.Session(target, config=by_grpc) as session:
        handle = session.partial_run_setup([c, d], [a, b])
        assert session.partial_run(handle, c, {a: 1.0}) == 2.0
        assert session.partial_run(handle, d) == 4.0
        assert session.partial_run(handle, [], {b: 3.0}) == []
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run PartialRunSetup"):
            session.partial_run(handle, [], {})


def test_a_part_fetches_what_the_server_has_never_heard_of(target: str, by_grpc: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with tf.Session(target, config=by_grpc) as session:
        handle = session.partial_run_setup([y], [x])
        with pytest.raises(tf.errors.InvalidArgumentError, match="fetch mul:0 was not specified"):
            session.partial_run(handle, tf.multiply(y, 2.0, name="mul"), {x: 1.0})
        assert session.partial_run(handle, y, {x: 1.0}) == 2.0


def test_a_device_that_is_not_there(target: str, by_grpc: Any) -> None:
    with tf.Session(target, config=by_grpc) as session:
        one = tf.constant(1)
        assert session.run(one) == 1
        with tf.device("/job:elsewhere/task:3"):
            tf.constant(2, name="far")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device.*far"):
            session.run(tf.identity(one))
        assert session.run(one) == 1


def test_python_functions_stay_at_home(target: str, by_grpc: Any) -> None:
    calls = []
    inside = tf.py_func(lambda: calls.append("node") or np.float32(1), [], tf.float32)
    mapped = tf.data.Dataset.range(1).map(
        lambda n: tf.py_func(lambda: calls.append("map") or np.int64(1), [], tf.int64)
    )
    following = mapped.make_one_shot_iterator().get_next()
    with tf.Session(target, config=by_grpc) as session:
        for fetch in (inside, following):
            with pytest.raises(tf.errors.InvalidArgumentError, match="don't travel"):
                session.run(fetch)
    assert calls == []


def test_files_of_clients_can_be_limited(target: str, by_grpc: Any, tmp_path: Any) -> None:
    (tmp_path / "secret").write_text("s")
    read = tf.read_file(str(tmp_path / "secret"))
    with tf.Session(target, config=by_grpc) as session:
        assert session.run(read) == b"s"
    tf.config.set_graph_file_roots([])
    try:
        with (
            tf.Session(target, config=by_grpc) as session,
            pytest.raises(tf.errors.PermissionDeniedError),
        ):
            session.run(read)
    finally:
        tf.config.set_graph_file_roots(None)


# Waiting and cancelling -----------------------------------------------------------------------


def test_a_deadline(target: str, by_grpc: Any) -> None:
    empty = tf.FIFOQueue(1, tf.int32)
    with tf.Session(target, config=by_grpc) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(empty.dequeue(), options=tf.RunOptions(timeout_in_ms=50))
        assert session.run(empty.size()) == 0


def test_nobody_listens(by_grpc: Any) -> None:
    by_grpc.operation_timeout_in_ms = 50
    session = tf.Session("grpc://127.0.0.1:1", config=by_grpc)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(tf.constant(1))
    session.close()
    with pytest.raises(tf.errors.DeadlineExceededError):
        tf.Session.reset("grpc://127.0.0.1:1", config=by_grpc)


def test_steps_wait_for_each_other(target: str, by_grpc: Any) -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[()])
    number = tf.placeholder(tf.int32, [])
    enqueue, dequeue = queue.enqueue(number), queue.dequeue()
    found: list[int] = []
    with tf.Session(target, config=by_grpc) as session:
        threads = [
            threading.Thread(target=lambda: found.append(int(session.run(dequeue))))
            for _ in range(12)
        ]
        for thread in threads:
            thread.start()
        for each in range(12):
            session.run(enqueue, {number: each})
        for thread in threads:
            thread.join(20)
    assert sorted(found) == list(range(12))


def test_closing_ends_the_steps_of_a_session(
    target: str, by_grpc: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = LocalRuntime.close

    def close_slowly(self: LocalRuntime) -> None:
        close(self)
        time.sleep(0.3)  # as with a GPU: steps see that their queue is gone before this returns

    monkeypatch.setattr(LocalRuntime, "close", close_slowly)
    empty = tf.FIFOQueue(1, tf.int32)
    dequeue = empty.dequeue()
    session = tf.Session(target, config=by_grpc)
    session.run(empty.size())
    raised: list[Exception] = []

    def wait() -> None:
        try:
            session.run(dequeue)
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: dequeue in session._runs or (dequeue,) in session._runs)
    session.close()
    thread.join(20)
    assert isinstance(raised[0], tf.errors.CancelledError)


def _count_is_still(session: Any, counter: Any) -> bool:
    first = session.run(counter)
    time.sleep(0.05)
    return bool(session.run(counter) == first)


def test_a_client_that_leaves_cancels_its_step(target: str, by_grpc: Any) -> None:
    counter = tf.Variable(0, name="counter")

    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(counter, 1)]):
            return i * 1

    endless = tf.while_loop(lambda i: i > 0, body, [tf.constant(1)])
    with tf.Session(target, config=by_grpc) as session:
        session.run(counter.initializer)
        leaving = tf.Session(target, config=by_grpc)
        leaving.run(counter)
        form = leaving._compiled([], [endless], [])._form.description
        request = proto.RunStepRequest(session_handle=form["session"], fetch=form["fetches"])
        call = leaving._runtime._client._method("RunStep").future(request.SerializeToString())
        wait_until(lambda: session.run(counter) > 0)
        call.cancel()
        wait_until(lambda: _count_is_still(session, counter))
        leaving.close()


# Sessions on one server -----------------------------------------------------------------------


def test_sessions_share_the_servers_state(target: str, by_grpc: Any) -> None:
    v = tf.Variable(3.0, name="v")
    isolated = tf.ConfigProto()
    isolated.CopyFrom(by_grpc)
    isolated.isolate_session_state = True
    with tf.Session(target) as inside, tf.Session(target, config=by_grpc) as outside:
        inside.run(v.initializer)
        assert outside.run(tf.assign_add(v, 1.0)) == 4.0
        assert inside.run(v) == 4.0
    with tf.Session(target, config=isolated) as alone:
        with pytest.raises(tf.errors.FailedPreconditionError):
            alone.run(v)
        alone.run(v.initializer)
    with tf.Session(target, config=by_grpc) as outside:
        assert outside.run(v) == 4.0


def test_containers_are_reset(target: str, by_grpc: Any) -> None:
    with tf.container("kept"):
        kept = tf.Variable(1.0, name="kept")
    with tf.container("cleared"):
        cleared = tf.Variable(2.0, name="cleared")
    nowhere = tf.Variable(3.0, name="nowhere")
    session = tf.Session(target, config=by_grpc)
    session.run(tf.global_variables_initializer())
    tf.Session.reset(target, ["cleared"], config=by_grpc)
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        session.run(kept)
    session.close()
    with tf.Session(target, config=by_grpc) as session:
        assert session.run([kept, nowhere]) == [1.0, 3.0]
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(cleared)
    tf.Session.reset(target, config=by_grpc)
    with tf.Session(target, config=by_grpc) as session:
        assert session.run(kept) == 1.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(nowhere)


def test_the_default_container_is_named_after_the_job(
    start_server: Callable[..., Any], by_grpc: Any
) -> None:
    v = tf.Variable(1.0, name="v")
    targets = [start_server({job: ["localhost:0"]}).target for job in ("sun", "moon")]
    for target in targets:
        with tf.Session(target, config=by_grpc) as session:
            session.run(v.initializer)
        tf.Session.reset(target, ["moon"], config=by_grpc)
    with tf.Session(targets[0], config=by_grpc) as session:
        assert session.run(v) == 1.0
    with (
        tf.Session(targets[1], config=by_grpc) as session,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        session.run(v)


def test_many_clients_at_once(target: str, by_grpc: Any) -> None:
    v = tf.Variable(0, name="v", use_resource=True)
    add = v.assign_add(1)
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)

        def work() -> None:
            with tf.Session(target, graph=v.graph, config=by_grpc) as own:
                for _ in range(10):
                    own.run(add.op)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert session.run(v) == 60


@pytest.mark.usefixtures("cpus_alone")
def test_what_a_traced_run_tells(target: str, by_grpc: Any) -> None:
    product = tf.matmul(tf.random_normal([4, 4]), tf.ones([4, 4]), name="product")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    with tf.Session(target, config=by_grpc) as session:
        session.run(product, options=options, run_metadata=metadata)
    names = [n.node_name for each in metadata.step_stats.dev_stats for n in each.node_stats]
    assert "product" in names
    assert [each.device for each in metadata.step_stats.dev_stats] == [f"{LOCAL}/device:CPU:0"]
    assert any(node.name == "product" for node in metadata.partition_graphs[0].node)


def test_kept_tensors(target: str, by_grpc: Any) -> None:
    with tf.Session(target, config=by_grpc) as session:
        handle = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
        assert handle.eval().tolist() == [1.0, 2.0]
        handle.delete()


def test_a_callable(target: str, by_grpc: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.Session(target, config=by_grpc) as session:
        double = session.make_callable(x * 2, [x])
        assert double(4.0) == 8.0


@pytest.mark.usefixtures("cpus_alone")
def test_devices(target: str, by_grpc: Any) -> None:
    with tf.Session(target, config=by_grpc) as session:
        (device,) = session.list_devices()
    assert (device.name, device.device_type) == (f"{LOCAL}/device:CPU:0", "CPU")
    with grpc.insecure_channel(target.removeprefix("grpc://")) as channel:
        answer = channel.unary_unary("/tensorflow.WorkerService/GetStatus")(b"")
    (status,) = proto.GetStatusResponse.FromString(answer).device_attributes
    assert (status.name, status.incarnation) == (device.name, device.incarnation)


# Life of a server -----------------------------------------------------------------------------


def _sockets() -> int:
    found = 0
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:")
        except OSError:
            continue  # the one that lists the others
    return found


def test_nothing_is_left_behind(start_server: Callable[..., Any], by_grpc: Any) -> None:
    def use_a_server() -> None:
        server = start_server()
        with tf.Session(server.target, config=by_grpc) as session:
            session.run(tf.constant(1))
        server.stop()
        server.join()

    use_a_server()
    gc.collect()
    wait_until(lambda: not _own_threads())
    sockets = _sockets()
    for _ in range(3):
        use_a_server()
    gc.collect()
    wait_until(lambda: not _own_threads())
    wait_until(lambda: _sockets() <= sockets)


def test_a_dropped_session_is_closed_at_the_server(
    start_server: Callable[..., Any], by_grpc: Any
) -> None:
    server = start_server()
    session = tf.Session(server.target, config=by_grpc)
    session.run(tf.constant(1))
    assert len(server._master._sessions) == 1
    del session
    gc.collect()
    wait_until(lambda: not server._master._sessions)


def _own_threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "penstock-grpc"]


def test_a_server_that_stops(start_server: Callable[..., Any], by_grpc: Any) -> None:
    server = start_server()
    session = tf.Session(server.target, config=by_grpc)
    one = tf.constant(1)
    session.run(one)
    server.stop()
    server.stop()
    with pytest.raises(tf.errors.UnavailableError):
        session.run(one)
    session.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="was stopped"):
        server.start()
    again = start_server({"local": [server.target.removeprefix("grpc://")]})
    assert again.target == server.target


def test_training_goes_on_after_a_restart(
    start_server: Callable[..., Any], by_grpc: Any, tmp_path: Any
) -> None:
    server = start_server()
    step = tf.train.get_or_create_global_step()
    following = tf.assign_add(step, 1)
    seen = []
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        config=by_grpc,
        checkpoint_dir=str(tmp_path),
        save_checkpoint_steps=2,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
        hooks=[tf.train.StopAtStepHook(last_step=8)],
    ) as session:
        while not session.should_stop():
            seen.append(int(session.run(following)))
            if len(seen) == 5:
                server.stop()
                server = start_server({"local": [server.target.removeprefix("grpc://")]})
    assert seen[:5] == [1, 2, 3, 4, 5]
    assert seen[5] in (5, 6) and seen[-1] == 8  # the last checkpoint, and the steps after it
