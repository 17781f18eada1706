"""Steps that span tasks: values, state, loops, failures, over real sockets."""

import threading
import time

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.distributed import step_part
from penstock.distributed.connection import Connection
from penstock.distributed.meeting import Meeting
from penstock.passes.pipeline import PassOptions
from penstock.runtime.binding import bind_all
from penstock.runtime.fusion import regions
from penstock.runtime.step import Step
from tests.distributed.in_process_cluster import InProcessCluster

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture
def cluster():
    before = set(threading.enumerate())
    with tf.Graph().as_default(), InProcessCluster(["ps:0", "worker:0"]) as made:
        yield made
    limit = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < limit:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


def run(runtime, fetches=(), targets=(), feeds=()):
    tensors = [tensor for tensor, _ in feeds]
    step = runtime.compile(tensors, list(fetches), list(targets))
    return step.run([torch.as_tensor(value) for _, value in feeds])


def test_a_worker_reads_and_updates_what_a_parameter_server_keeps(cluster):
    with tf.device(PS):
        weights = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32))
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [6])
        loss = tf.reduce_sum(weights * x)
    update = tf.train.GradientDescentOptimizer(0.5).minimize(loss, var_list=[weights])
    runtime = cluster.runtime()
    run(runtime, targets=[tf.global_variables_initializer()])
    values = np.ones(6, np.float32)
    assert run(runtime, [loss], feeds=[(x, values)]) == (15.0,)
    run(runtime, targets=[update], feeds=[(x, values)])
    (found,) = run(runtime, [weights.value()])
    np.testing.assert_array_equal(found, np.arange(6) - 0.5)
    runtime.close()


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_is_fetched_of_a_parameter_server_is_read_before_it_waits(cluster, use_resource):
    """The value that a synchronous replica's step began with, not that after its gradient."""
    runtime, other = cluster.runtime(), cluster.runtime()

    def meanwhile(value):
        run(other, targets=[update.op])
        return value

    with tf.device(PS):
        sent = tf.get_variable("sent", initializer=1.0)
    with tf.device(WORKER):
        answer = tf.py_func(meanwhile, [sent], tf.float32)
        answer.set_shape(())
    with tf.device(PS):
        answered = sent.assign(answer)
        step = tf.get_variable("step", initializer=0, use_resource=use_resource)
        update = step.assign_add(1)
        read = step.value() if use_resource else step._ref()
    run(runtime, targets=[tf.global_variables_initializer()])
    for number in range(3):
        assert run(runtime, [read], [answered.op]) == (number,)
    runtime.close()
    other.close()


def test_strings_and_empty_tensors_cross(cluster):
    with tf.device(PS):
        words = tf.string_join([tf.placeholder(tf.string, [2], name="a"), "!"])
        nothing = tf.placeholder(tf.float32, [0, 3], name="n") + 1.0
    with tf.device(WORKER):
        joined = tf.reduce_join(words, 0)
        size = tf.shape(nothing)
    runtime = cluster.runtime()
    graph = tf.get_default_graph()
    names = [graph.get_tensor_by_name(name) for name in ("a:0", "n:0")]
    step = runtime.compile(names, [joined, size], [])
    text = np.array([b"x", b"yz"], object)
    found = step.run([text, torch.empty(0, 3)])
    assert found[0] == b"x!yz!"
    assert found[1].tolist() == [0, 3]
    runtime.close()


def test_a_loop_over_tasks(cluster):
    def body(i, a, b):
        with tf.device(PS):
            a = a + b
        with tf.device(WORKER):
            b = b * 0.5
        return i + 1, a, b

    start = [tf.constant(0), tf.constant(1.0), tf.constant(1.0)]
    result = tf.while_loop(lambda i, *_: i < 10, body, start)
    runtime = cluster.runtime()
    i, a, b = run(runtime, result)
    assert (i, b) == (10, 0.5**10)
    assert a == pytest.approx(1 + 2 * (1 - 0.5**10))
    runtime.close()


def rows_of_an_embedding(ids):
    """Rows that the parameter server looks up for a worker, added up there."""
    with tf.device(PS):
        embedding = tf.get_variable("e", initializer=np.arange(12, dtype=np.float32).reshape(6, 2))
        rows = tf.gather(embedding, ids)
    with tf.device(WORKER):
        return tf.reduce_sum(rows)


def random_rows(cluster):
    """A runtime, and its step that reads rows by numbers which the worker draws."""
    with tf.device(WORKER):
        ids = tf.random_uniform([3], maxval=6, dtype=tf.int32)
    total = rows_of_an_embedding(ids)
    runtime = cluster.runtime()
    run(runtime, targets=[tf.global_variables_initializer()])
    return runtime, runtime.compile([], [ids, total], [])


def test_what_the_masters_part_sends_first_goes_with_the_order(cluster, monkeypatch):
    runtime, step = random_rows(cluster)
    sent = []
    note = Connection.note

    def noted(self, fields, values=()):
        sent.append((fields.get("do"), len(fields.get("keys", ()))))
        note(self, fields, values)

    monkeypatch.setattr(Connection, "note", noted)
    monkeypatch.setattr(step_part, "_SOON_SECONDS", 1e9)  # however slow this machine is
    monkeypatch.setattr(step_part, "FEW_PROCESSORS", True)
    for _ in range(3):
        found, value = step.run([])
        assert value == sum(4 * i + 1 for i in found)
    steps = [each for each in sent if each[0] in ("run", "take")]
    assert steps == 3 * [("run", 1)]
    runtime.close()


def test_orders_do_not_wait_for_a_part_that_takes_long(cluster, monkeypatch):
    runtime, step = random_rows(cluster)
    monkeypatch.setattr(step_part, "_SOON_SECONDS", 0.0)
    for _ in range(2):
        found, value = step.run([])
        assert value == sum(4 * i + 1 for i in found)
    assert step._known().part.orders_wait_for == ()
    runtime.close()


def test_one_run_that_was_held_up_does_not_keep_orders_from_waiting(cluster, monkeypatch):
    monkeypatch.setattr(step_part, "FEW_PROCESSORS", True)
    runtime, step = random_rows(cluster)
    part = step._known().part
    for _ in range(3):
        part.took(0.0, 50e-6)
    part.took(10.0, 10.0)
    assert part.orders_wait_for
    for _ in range(3):
        part.took(10.0, 10.0)
    assert not part.orders_wait_for
    for _ in range(20):
        part.took(10.0, None)
    assert part.orders_wait_for
    runtime.close()


def test_with_many_processors_orders_do_not_wait(cluster, monkeypatch):
    monkeypatch.setattr(step_part, "FEW_PROCESSORS", False)
    runtime, step = random_rows(cluster)
    found, value = step.run([])
    assert value == sum(4 * i + 1 for i in found)
    assert not step._known().part.orders_wait_for
    runtime.close()


def test_a_part_that_fails_before_orders_were_given_ends_the_step(cluster):
    with tf.device(WORKER):
        ids = tf.placeholder(tf.int32, [None])
        checked = tf.Assert(tf.reduce_all(ids < 6), [ids])
        with tf.control_dependencies([checked]):
            sent = tf.identity(ids)
    total = rows_of_an_embedding(sent)
    runtime = cluster.runtime()
    run(runtime, targets=[tf.global_variables_initializer()])
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        run(runtime, [total], feeds=[(ids, np.array([7], np.int32))])
    assert run(runtime, [total], feeds=[(ids, np.array([1], np.int32))]) == (5.0,)
    runtime.close()


def test_the_error_of_another_task_names_its_node_and_later_steps_run(cluster):
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        checked = tf.check_numerics(tf.log(x), "not a number")
    with tf.device(WORKER):
        result = checked + 1.0
    runtime = cluster.runtime()
    step = runtime.compile([x], [result], [])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"task:0:\nCheckNumerics"):
        step.run([torch.tensor(-1.0)])
    assert step.run([torch.tensor(1.0)]) == (1.0,)
    runtime.close()


def test_a_step_that_waits_ends_with_its_time(cluster):
    with tf.device(PS):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
        taken = queue.dequeue()
    with tf.device(WORKER):
        result = taken + 1.0
    runtime = cluster.runtime()
    step = runtime.compile([], [result], [])
    with pytest.raises(tf.errors.DeadlineExceededError):
        step.run([], timeout=0.1)
    run(runtime, targets=[queue.enqueue(4.0)])
    assert step.run([]) == (5.0,)  # the dequeue that was given up took nothing
    runtime.close()


def test_a_task_that_is_gone_is_named(cluster):
    with tf.device(PS):
        value = tf.placeholder(tf.float32, []) + 1.0
    with tf.device(WORKER):
        result = value * 2.0
    x = value.op.inputs[0]
    runtime = cluster.runtime()
    step = runtime.compile([x], [result], [])
    assert step.run([torch.tensor(1.0)]) == (4.0,)
    cluster.roads[cluster.names[0]].close()
    with pytest.raises(tf.errors.UnavailableError, match="/job:ps/replica:0/task:0"):
        step.run([torch.tensor(1.0)])
    runtime.close()


def test_who_has_another_token_is_refused():
    with InProcessCluster(["ps:0", "worker:0"]) as cluster:
        name = cluster.names[0]
        cluster.peers[cluster.names[1]]._credentials = type(cluster.roads[name]._credentials)(
            token="guessed"
        )
        with pytest.raises(tf.errors.PermissionDeniedError, match="token"):
            cluster.peers[cluster.names[1]].connect(name)


@pytest.mark.parametrize("kind", ["reset", "register", "run", "status", "leave", "forget"])
def test_a_request_without_a_call_ends_the_connection_quietly(cluster, kind):
    ps, worker = cluster.names
    link = cluster.peers[worker].connect(ps)
    fields = {"step": 7, "step_key": "s/0", "prefix": "s/", "used": [], "spec": "{}", "session": ""}
    link.note({"do": kind, **fields})  # a thread that failed would be a failure of this test
    with pytest.raises(tf.errors.UnavailableError):
        link.ask({"do": "status"}, timeout=30.0)
    assert not cluster.workers[ps].steps
    again = cluster.peers[worker].connect(ps)
    assert again.ask({"do": "status"}, timeout=30.0)[0]["incarnation"]


def test_a_reset_that_names_no_containers_is_refused(cluster):
    ps, worker = cluster.names
    with pytest.raises(tf.errors.UnknownError, match="containers"):
        cluster.peers[worker].connect(ps).ask({"do": "reset"}, timeout=30.0)


def test_a_trace_has_the_nodes_of_all_tasks(cluster):
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.device(PS):
        first = tf.exp(x, name="first")
    with tf.device(WORKER):
        second = tf.sin(first, name="second")
    runtime = cluster.runtime()
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=3, output_partition_graphs=True)
    step = runtime.compile([x], [second], [])
    found = step.run_with_options([torch.zeros(3)], options, metadata)
    np.testing.assert_allclose(found[0], np.sin(np.ones(3)), rtol=1e-6)
    by_device = {
        device.device: {node.node_name for node in device.node_stats}
        for device in metadata.step_stats.dev_stats
    }
    assert "first" in by_device["/job:ps/replica:0/task:0/device:CPU:0"]
    assert "second" in by_device["/job:worker/replica:0/task:0/device:CPU:0"]
    assert len(metadata.partition_graphs) == 2
    runtime.close()


def test_measured_runs_tell_the_costs_of_the_nodes_of_all_tasks(cluster):
    x = tf.placeholder(tf.float32, [3], name="x")
    with tf.device(PS):
        first = tf.exp(x, name="first")
    with tf.device(WORKER):
        second = tf.sin(first, name="second")
    runtime = cluster.runtime(measured=(3, 0))
    step = runtime.compile([x], [second], [])
    metadata = [tf.RunMetadata() for _ in range(3)]
    step.run([torch.zeros(3)])  # counts as well
    for each in metadata:
        step.run_with_options([torch.zeros(3)], tf.RunOptions(), each)
    assert [each.HasField("cost_graph") for each in metadata] == [False, True, False]
    nodes = metadata[1].cost_graph.node
    assert [node.id for node in nodes] == list(range(len(nodes)))
    by_name = {node.name: node for node in nodes}
    for name, task in (("first", PS), ("second", WORKER)):
        assert by_name[name].device.startswith(task.replace("/task", "/replica:0/task"))
        assert [output.size for output in by_name[name].output_info] == [12]
    runtime.close()


def test_devices_of_all_tasks_are_described(cluster):
    runtime = cluster.runtime()
    found = {each.name: each for each in runtime.device_attributes()}
    assert set(found) == {f"{name}/device:CPU:0" for name in cluster.names}
    assert all(each.device_type == "CPU" and each.memory_limit for each in found.values())
    runtime.close()


def test_the_parts_of_hot_steps_are_fused_each(cluster, monkeypatch):
    fused = []

    def noted(graph, devices, seen, threads):
        names = {node.type for node in graph.nodes if node.type != "_Feed"}
        shapes = set(seen.forms(graph, bind_all(graph, devices)).values())
        fused.append((names, {form.shape for form in shapes}))

    monkeypatch.setattr(regions, "fused_graph", noted)
    x = tf.placeholder(tf.float32, [3])
    with tf.device(PS):
        first = tf.exp(tf.sin(x) + tf.cos(x))
    with tf.device(WORKER):
        second = tf.tanh(tf.sqrt(first) * 2.0)
    runtime = cluster.runtime()
    runtime._local.options = PassOptions(fusion="soon")
    step = runtime.compile([x], [second], [])
    results = [step.run([torch.tensor([1.0, 2.0, 3.0])])[0] for _ in range(4)]
    limit = time.monotonic() + 30
    while len(fused) < 2 and time.monotonic() < limit:
        time.sleep(0.01)
    runtime.close()
    own = sorted((next(iter(names & {"Exp", "Tanh"})), shapes) for names, shapes in fused)
    assert own == [("Exp", {(3,)}), ("Tanh", {(3,), ()})]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_part_that_waits_when_its_step_is_ended_names_its_node(cluster):
    with tf.device(PS):
        variable = tf.Variable(1.0)
    with tf.device(WORKER):
        used = variable + 1.0
    runtime = cluster.runtime()
    step = runtime.compile([], [used], [])
    part = step._known().part
    meeting = Meeting("/job:worker/replica:0/task:0", lambda task: None, lambda task: (), 7)
    meeting.abort(tf.errors.AbortedError(None, None, "its master says so"))
    under_way = Step(None, meeting.cancellation)
    under_way.rendezvous = meeting
    with pytest.raises(tf.errors.AbortedError, match=r"node Variable/read}"):
        part.run(under_way, [])
    runtime.close()
