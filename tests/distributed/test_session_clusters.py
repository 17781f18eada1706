"""Clusters that sessions bring along, on servers that know of no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import proto


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def servers(start_server: Callable[..., Any]) -> list[Any]:
    config = tf.ConfigProto(device_count={"CPU": 2})
    return [start_server({"local": ["localhost:0"]}, config=config) for _ in range(3)]


def cluster_of(job: str, *servers: Any) -> Any:
    cluster = proto.ClusterDef()
    added = cluster.job.add(name=job)
    for index, server in enumerate(servers):
        added.tasks[index] = server.target.removeprefix("grpc://")
    return tf.ConfigProto(cluster_def=cluster, device_count={"CPU": 2})


@pytest.fixture(params=["in process", "remote"])
def session(request: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Opens a session on a server, in this process or as from another."""

    def opened(server: Any, config: Any) -> Any:
        if request.param == "remote":
            config.rpc_options.use_rpc_for_inprocess_master = True
        return tf.Session(server.target, config=config)

    return opened


def test_a_step_runs_where_the_sessions_names_say(servers: Any, session: Any) -> None:
    with tf.device("/job:renamed/task:1/cpu:1"):
        there = tf.constant(17.0) + tf.Variable(3.0)
    with tf.device("/job:renamed/task:0/cpu:1"):
        here = there * 2.0
    with session(servers[0], cluster_of("renamed", *servers[:2])) as sess:
        sess.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert sess.run(here, options=traced, run_metadata=metadata) == 40.0
        names = [device.name for device in sess.list_devices()]
    assert "/job:renamed/replica:0/task:1/device:CPU:1" in names
    devices = {stats.device for stats in metadata.step_stats.dev_stats}
    assert "/job:renamed/replica:0/task:1/device:CPU:1" in devices


def test_two_sessions_of_one_master_use_different_servers(servers: Any, session: Any) -> None:
    with tf.device("/job:worker/task:1"):
        variable = tf.Variable([0.0, 0.0])
        more = variable.assign_add([1.0, 1.0])
    first = session(servers[1], cluster_of("worker", servers[1], servers[0]))
    second = session(servers[1], cluster_of("worker", servers[1], servers[2]))
    for sess in (first, second):
        sess.run(variable.initializer)
    first.run(more)
    np.testing.assert_array_equal(first.run(more), [2.0, 2.0])
    np.testing.assert_array_equal(second.run(variable), [0.0, 0.0])
    first.close()
    second.close()


def test_the_state_of_a_session_with_its_own_cluster_is_its_own(servers: Any, session: Any) -> None:
    made = []
    for task in range(2):
        with tf.device(f"/job:worker/task:{task}"), tf.container("named"):
            made.append(tf.Variable(float(task)))
    first, second = (session(servers[0], cluster_of("worker", *servers[:2])) for _ in range(2))
    first.run(tf.global_variables_initializer())
    assert first.run(made) == [0.0, 1.0]
    for variable in made:
        with pytest.raises(tf.errors.FailedPreconditionError):
            second.run(variable)
    first.close()
    second.close()


@pytest.mark.parametrize("isolated", [False, True])
def test_sessions_with_their_own_clusters_share_the_servers_state_if_they_ask_for_it(
    servers: Any, session: Any, isolated: bool
) -> None:
    made = []
    for task in range(2):
        with tf.device(f"/job:worker/task:{task}"), tf.container("named"):
            made.append(tf.Variable(float(task)))
    config = cluster_of("worker", *servers[:2])
    config.isolate_session_state = isolated  # says less than the wish to share
    config.experimental.share_session_state_in_clusterspec_propagation = True
    with session(servers[0], config) as sess:
        sess.run(tf.global_variables_initializer())
    with session(servers[0], config) as again:
        assert again.run(made) == [0.0, 1.0]


def test_the_master_need_not_be_the_first_task(servers: Any, session: Any) -> None:
    made = []
    for task in range(3):
        with tf.device(f"/job:worker/task:{task}"):
            made.append(tf.Variable(float(task)) + (made[-1] if made else 0.0))
    with session(servers[1], cluster_of("worker", servers[2], servers[1], servers[0])) as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(made) == [0.0, 1.0, 3.0]


def test_a_cluster_without_the_sessions_server_is_refused(servers: Any, session: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="has no task with the address"):
        session(servers[0], cluster_of("worker", *servers[1:])).run(tf.constant(1))


@pytest.mark.usefixtures("cpus_alone")
@pytest.mark.parametrize("isolated", [False, True])
def test_a_server_has_the_devices_that_it_was_started_with(
    start_server: Callable[..., Any], session: Any, isolated: bool
) -> None:
    server = start_server(config=tf.ConfigProto(device_count={"CPU": 3}))
    wished = tf.ConfigProto(device_count={"CPU": 2}, isolate_session_state=isolated)
    with tf.device("/cpu:2"):
        there = tf.constant(1)
    with session(server, wished) as sess:
        assert sess.run(there) == 1
        assert len(sess.list_devices()) == 3
    alone = start_server()
    with session(alone, wished) as sess:
        assert len(sess.list_devices()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="CPU:2"):
            sess.run(there)
