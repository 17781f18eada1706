"""`run_distribute_coordinator`: who runs a worker's function, and what it is told."""

import json
import threading
from types import SimpleNamespace
from typing import ClassVar

import pytest

import penstock as tf
from penstock.distribute import coordinator
from penstock.distribute.coordinator import CoordinatorMode, run_distribute_coordinator
from penstock.distribute.worker_context import get_current_worker_context


class Extended:
    def __init__(self, between_graph):
        self.experimental_between_graph = between_graph
        self.experimental_should_init = self.should_checkpoint = self.should_save_summary = None


class Strategy:
    """Notes how it is told of its task."""

    def __init__(self, between_graph):
        self.extended = Extended(between_graph)

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        is_first = task_id in (0, None)
        self.extended.experimental_should_init = is_first
        self.extended.should_checkpoint = self.extended.should_save_summary = is_first
        session_config.intra_op_parallelism_threads += 1
        session_config.device_filters.append("/job:worker")


CLUSTER = {"worker": ["w0:1", "w1:1"], "ps": ["p0:1"]}


@pytest.fixture
def seen():
    return []


@pytest.fixture
def note(seen):
    lock = threading.Lock()

    def worker(strategy):
        context = get_current_worker_context()
        told = (context.task_type, context.task_id, context.master_target, context.num_workers)
        with lock:
            seen.append((*told, context.is_chief, context.distributed_mode))

    return worker


class Server:
    started: ClassVar[list["Server"]] = []

    def __init__(self, **settings):
        self.settings, self.joined = settings, False
        Server.started.append(self)

    def join(self):
        self.joined = True


@pytest.fixture
def servers(monkeypatch):
    monkeypatch.setattr(Server, "started", [])
    monkeypatch.setattr(coordinator, "_run_std_server", lambda **settings: Server(**settings))
    return Server.started


def test_without_a_cluster(note, seen):
    run_distribute_coordinator(note, Strategy(False))
    run_distribute_coordinator(note, Strategy(False), eval_fn=note, eval_strategy=Strategy(False))
    assert seen == [(None, None, "", 0, True, False)] * 3
    assert get_current_worker_context() is None


def test_one_client_for_all_workers(note, seen):
    cluster = {**CLUSTER, "evaluator": ["e0:1"]}
    run_distribute_coordinator(note, Strategy(False), cluster_spec=cluster)
    assert sorted(seen, key=str) == [
        ("evaluator", 0, "grpc://e0:1", 2, True, False),
        (None, None, "grpc://w0:1", 2, True, True),
    ]


def test_a_graph_for_each_worker(note, seen):
    graphs = []

    def worker(strategy):
        note(strategy)
        tf.get_variable("v", [])  # each has a graph of its own
        graphs.append(tf.get_default_graph())
        get_current_worker_context().wait_for_other_workers()

    run_distribute_coordinator(worker, Strategy(True), cluster_spec=CLUSTER, rpc_layer=None)
    assert sorted(seen) == [
        ("worker", 0, "w0:1", 2, True, True),
        ("worker", 1, "w1:1", 2, False, True),
    ]
    assert len(set(graphs)) == 2


def test_an_error_of_a_worker_is_raised():
    def worker(strategy):
        raise ValueError("broken worker")

    with pytest.raises(ValueError, match="broken worker"):
        run_distribute_coordinator(worker, Strategy(True), cluster_spec=CLUSTER)
    with pytest.raises(ValueError, match="cannot run distribute coordinator in a `worker_fn`"):
        run_distribute_coordinator(
            lambda strategy: run_distribute_coordinator(worker, Strategy(False)), Strategy(False)
        )


def test_independent_workers_run_servers(note, seen, servers):
    settings = {"cluster_spec": CLUSTER, "mode": CoordinatorMode.INDEPENDENT_WORKER}
    for task_type, task_id in (("worker", 0), ("worker", 1), ("ps", 0)):
        run_distribute_coordinator(
            note, Strategy(False), task_type=task_type, task_id=task_id, **settings
        )
    assert [each.joined for each in servers] == [False, True, True]
    config = servers[0].settings["session_config"]
    assert (config.intra_op_parallelism_threads, list(config.device_filters)) == (1, [])
    assert seen == [(None, None, "grpc://w0:1", 2, True, True)]
    with pytest.raises(ValueError, match="Unexpected task_type"):
        run_distribute_coordinator(note, Strategy(True), task_type="other", task_id=0, **settings)


def test_the_environment_names_the_task(note, seen, servers, monkeypatch):
    told = {"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "rpc_layer": "cake"}
    monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    run_distribute_coordinator(note, Strategy(True), mode=CoordinatorMode.INDEPENDENT_WORKER)
    assert seen == [("worker", 1, "cake://w1:1", 2, False, True)]
    assert servers[0].settings["rpc_layer"] == "cake"
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER}))
    with pytest.raises(ValueError, match='"task" is not found'):
        coordinator.run_standard_tensorflow_server()


def test_monitored_sessions_are_those_of_the_task():
    server = tf.train.Server.create_local_server()
    cluster = {"worker": [server.target.removeprefix("grpc://")]}

    def worker(strategy):
        v = tf.get_variable("v", initializer=3.0)
        with tf.train.MonitoredSession() as session:
            return session.run(v)

    with tf.Graph().as_default():
        assert run_distribute_coordinator(worker, Strategy(False), cluster_spec=cluster) == 3.0
    server.stop()


def test_a_server_of_the_environment_is_only_waited_for(monkeypatch):
    class Waited(Exception):
        pass

    def waits(seconds):
        raise Waited

    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "environment": "google"}))
    monkeypatch.setattr(coordinator, "_thread_local", threading.local())
    monkeypatch.setattr(coordinator, "time", SimpleNamespace(sleep=waits))
    with pytest.raises(Waited):
        run_distribute_coordinator(
            None,
            Strategy(True),
            mode=CoordinatorMode.INDEPENDENT_WORKER,
            cluster_spec=CLUSTER,
            task_type="ps",
            task_id=0,
        )
