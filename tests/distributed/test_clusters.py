"""Cluster specs, servers of one process, and where replicas put their variables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.train.server_lib import _make_server_def

JOBS = {"ps": ["ps0:2222", "ps1:2222"], "worker": ["worker0:2222"]}


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


# ClusterSpec ----------------------------------------------------------------------------------


def test_the_forms_of_a_cluster_are_equal() -> None:
    spec = tf.train.ClusterSpec(JOBS)
    by_index = tf.train.ClusterSpec({job: dict(enumerate(tasks)) for job, tasks in JOBS.items()})
    assert spec == by_index == tf.train.ClusterSpec(spec.as_cluster_def())
    assert spec == tf.train.ClusterSpec(spec)
    assert spec != tf.train.ClusterSpec({"ps": ["ps0:2222"]})
    assert str(spec) == f"ClusterSpec({{'ps': {JOBS['ps']}, 'worker': {JOBS['worker']}}})"
    assert spec.as_dict() == JOBS
    assert bool(spec) and not tf.train.ClusterSpec({})


def test_sparse_jobs() -> None:
    spec = tf.train.ClusterSpec({"worker": {0: "a:1", 2: "c:1"}, "none": []})
    assert spec.as_dict() == {"worker": {0: "a:1", 2: "c:1"}, "none": {}}
    assert spec.job_tasks("worker") == ["a:1", None, "c:1"]
    assert spec.task_indices("worker") == [0, 2]
    assert spec.num_tasks("worker") == 2
    assert spec.task_address("worker", 2) == "c:1"
    with pytest.raises(ValueError, match="No task with index 1 in job 'worker'"):
        spec.task_address("worker", 1)
    for method in (spec.num_tasks, spec.task_indices, spec.job_tasks):
        with pytest.raises(ValueError, match="No such job in cluster: 'unknown'"):
            method("unknown")


@pytest.mark.parametrize("cluster", [3, {"a": "b:1"}, {1: ["b:1"]}, {"a": [3]}, ["a:1"]])
def test_what_is_no_cluster(cluster: Any) -> None:
    with pytest.raises(TypeError):
        tf.train.ClusterSpec(cluster)


# Servers --------------------------------------------------------------------------------------


def test_server_defs() -> None:
    made = _make_server_def(JOBS, "ps", 1, None, None)
    assert (made.job_name, made.task_index, made.protocol) == ("ps", 1, "grpc")
    changed = _make_server_def(made, None, 0, "other", tf.ConfigProto(log_device_placement=True))
    assert (changed.job_name, changed.task_index, changed.protocol) == ("ps", 0, "other")
    assert changed.default_session_config.log_device_placement
    with pytest.raises(ValueError, match="explicit `job_name`"):
        _make_server_def(JOBS, None, None, None, None)
    with pytest.raises(ValueError, match="explicit `task_index`"):
        _make_server_def(JOBS, "ps", None, None, None)
    with pytest.raises(TypeError, match="Could not convert `server_or_cluster_def`"):
        tf.train.Server(3)


@pytest.mark.usefixtures("cpus_alone")
def test_state_lives_in_the_server(start_server: Callable[..., Any]) -> None:
    server = start_server()
    variable = tf.Variable(3.0, name="v")
    with tf.device("/job:local/task:0"):
        following = variable + 1
    with tf.Session(server.target) as sess:
        sess.run(variable.initializer)
        (device,) = sess.list_devices()
        assert device.name == "/job:local/replica:0/task:0/device:CPU:0"
    with tf.Session(server.target) as sess:
        assert sess.run(following) == 4.0
    isolated = tf.ConfigProto(isolate_session_state=True)
    with (
        tf.Session(server.target, config=isolated) as sess,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        sess.run(variable)
    before = tf.Session(server.target)
    tf.Session.reset(server.target)
    with pytest.raises(tf.errors.AbortedError, match="was reset"):
        before.run(following)
    with tf.Session(server.target) as sess, pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(following)


def test_servers_that_can_not_be(start_server: Callable[..., Any]) -> None:
    server = start_server()
    address = server.target.removeprefix("grpc://")
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"local_2": [address]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="port"):
        tf.train.Server({"local": ["localhost"]})
    with pytest.raises(tf.errors.InternalError, match='Job "z" was not defined'):
        tf.train.Server({"local": ["localhost:0"]}, job_name="z", task_index=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match='Task 7 was not defined in job "a"'):
        tf.train.Server({"a": ["localhost:0"]}, task_index=7)
    with pytest.raises(tf.errors.NotFoundError, match="No server factory"):
        tf.train.Server({"local": ["localhost:0"]}, protocol="pigeon")
    with pytest.raises(tf.errors.FailedPreconditionError, match="penstock certs"):
        tf.train.Server({"ps": ["elsewhere:2222"]})


def test_targets_without_a_server() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No session factory"):
        tf.Session("nowhere")
    waiting = tf.train.Server.create_local_server(start=False)
    waiting.start()
    waiting.start()
    tf.Session(waiting.target).close()


# Placement of replicas ------------------------------------------------------------------------


def devices(**settings: Any) -> list[str]:
    with tf.device(tf.train.replica_device_setter(**settings)):
        v = tf.Variable([1, 2])
        w = tf.Variable([2, 1])
        a = v + w
        with tf.device("/job:moon"):
            x = tf.Variable(0.0)
        with tf.device("/gpu:0"):
            y = tf.Variable(0.0)
    return [each.device for each in (v, w, a, x, y)]


def test_variables_go_to_servers_in_turn() -> None:
    assert devices(cluster=JOBS) == [
        "/job:ps/task:0",
        "/job:ps/task:1",
        "/job:worker",
        "/job:moon",
        "/job:ps/task:0/device:GPU:0",
    ]
    assert devices(ps_tasks=2, ps_device="/job:sun", worker_device="/job:moon")[:3] == [
        "/job:sun/task:0",
        "/job:sun/task:1",
        "/job:moon",
    ]
    assert devices(ps_tasks=2, ps_device="", worker_device="/job:worker")[0] == "/job:worker"
    assert devices(ps_tasks=1, ps_device="/cpu:0")[0] == "/device:CPU:0"


def test_a_strategy_decides() -> None:
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(
        2, tf.contrib.training.byte_size_load_fn
    )
    with tf.device(tf.train.replica_device_setter(cluster=JOBS, ps_strategy=strategy)):
        sizes = [tf.Variable(tf.zeros([size])) for size in (10, 4, 4, 4)]
    assert [each.device[-1] for each in sizes] == ["0", "1", "1", "1"]
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(cluster=JOBS, ps_strategy=3)


def test_without_servers_there_is_nothing_to_set() -> None:
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["a:1"]}) is None


# Resolvers ------------------------------------------------------------------------------------


def test_simple_and_union_resolvers() -> None:
    resolver = tf.contrib.cluster_resolver
    spec = tf.train.ClusterSpec(JOBS)
    simple = resolver.SimpleClusterResolver(spec, master="m:1", rpc_layer="grpc")
    assert simple.master() == "grpc://m:1"
    assert simple.master("ps", 1) == "grpc://ps1:2222"
    more = resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["w1:1"]}))
    union = resolver.UnionClusterResolver(simple, more)
    assert union.cluster_spec().as_dict()["worker"] == ["worker0:2222", "w1:1"]
    indexed = resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": {3: "w3:1"}}))
    merged = resolver.UnionClusterResolver(simple, indexed).cluster_spec()
    assert merged.as_dict()["worker"] == {0: "worker0:2222", 3: "w3:1"}
    with pytest.raises(KeyError, match="Duplicate keys"):
        resolver.UnionClusterResolver(indexed, indexed).cluster_spec()


def test_tf_config(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tf.contrib.cluster_resolver.TFConfigClusterResolver()
    assert found.master() == "" and not found.cluster_spec() and found.task_id is None
    config = {"cluster": JOBS, "task": {"type": "ps", "index": 1}, "rpc_layer": "grpc"}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert (found.task_type, found.task_id) == ("ps", 1)
    assert found.master() == "grpc://ps1:2222"
    assert found.cluster_spec() == tf.train.ClusterSpec(JOBS)
