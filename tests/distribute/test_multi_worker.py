"""Strategies of several workers: each has its server and its graph, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.distribute import clusters
from tests.cluster.nursery import free_ports

_X = np.linspace(-1.0, 2.0, 24, dtype=np.float32).reshape(12, 2)
_IDS = np.arange(12) % 4


@pytest.fixture
def cluster() -> Iterator[Callable[..., Any]]:
    servers = []

    def start(**jobs: int) -> Any:
        spec = {
            job: [f"localhost:{port}" for port in free_ports(count)] for job, count in jobs.items()
        }
        made = {}
        for job, addresses in spec.items():
            for i in range(len(addresses)):
                made[job, i] = tf.train.Server(spec, job_name=job, task_index=i)
                servers.append(made[job, i])
        return spec, made

    yield start
    for server in servers:
        server.stop()


def _model(strategy: Any) -> tuple[Any, Any, Any]:
    """A training step, the operation that starts its input, and the variables."""
    with strategy.scope():
        w = tf.get_variable("w", [2], initializer=tf.random_normal_initializer())
        table = tf.get_variable("table", [4, 2], initializer=tf.ones_initializer())
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(0.1)
        dataset = tf.data.Dataset.from_tensor_slices((_X, _IDS)).batch(4)
        inputs = strategy.make_dataset_iterator(dataset)

        def replica(pair: Any) -> Any:
            x, ids = pair
            rows = tf.nn.embedding_lookup(table, ids)
            loss = tf.reduce_sum(tf.reduce_sum(w * x, 1) ** 2) + tf.reduce_sum((rows - 2.0) ** 2)
            return loss, optimizer.minimize(loss, global_step=step)

        loss, train = strategy.experimental_run(replica, inputs)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, loss, axis=None)
        return [total, strategy.group(train)], inputs.initialize(), (w, table, step)


def _in_threads(program: Callable[[int], Any], count: int) -> list[Any]:
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        with tf.Graph().as_default():
            tf.set_random_seed(number)  # the first worker's values are those of all
            results[number] = program(number)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


def test_workers_train_together_as_one_would(cluster: Callable[..., Any]) -> None:
    spec, servers = cluster(worker=2)

    def worker(number: int) -> Any:
        strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        strategy.configure(cluster_spec=spec, task_type="worker", task_id=number)
        assert strategy.num_replicas_in_sync == 2
        assert strategy.extended.should_checkpoint == (number == 0)
        step, start, variables = _model(strategy)
        config = strategy.update_config_proto(tf.ConfigProto())
        assert list(config.device_filters) == [f"/job:worker/task:{number}"]
        with tf.Session(servers["worker", number].target, config=config) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(start)
            losses = [sess.run(step)[0] for _ in range(3)]
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(step)
            return losses, sess.run(variables)

    def alone(number: int) -> Any:
        step, start, variables = _model(tf.distribute.MirroredStrategy(["/cpu:0"]))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(start)
            return [sess.run(step)[0] for _ in range(3)], sess.run(variables)

    (first, first_values), (second, second_values) = _in_threads(worker, 2)
    assert first == second
    for one, other in zip(first_values, second_values, strict=True):
        np.testing.assert_array_equal(one, other)
    ((losses, values),) = _in_threads(alone, 1)
    np.testing.assert_allclose(first, losses, 1e-5)
    for one, other in zip(first_values, values, strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-5)


def test_parameter_servers_hold_the_variables(cluster: Callable[..., Any]) -> None:
    spec, servers = cluster(worker=1, ps=2)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(spec), task_type="worker", task_id=0
    )
    with tf.Graph().as_default():
        strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
        assert strategy.extended.parameter_devices == ("/job:ps/task:0", "/job:ps/task:1")
        step, start, variables = _model(strategy)
        assert [variable.device for variable in variables[:2]] == [
            "/job:ps/task:0",
            "/job:ps/task:1",
        ]
        config = strategy.update_config_proto(tf.ConfigProto())
        with tf.Session(servers["worker", 0].target, config=config) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(start)
            for _ in range(3):
                sess.run(step)
            assert sess.run(variables[2]) == 3
        with pytest.raises(ValueError, match="Cannot reduce to another worker"):
            strategy.extended.reduce_to("SUM", tf.ones([]), "/job:worker/task:1")


def test_without_a_cluster_it_is_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == len(strategy.extended.worker_devices)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["a:1"]}), task_type="worker", task_id=0
    )
    with pytest.raises(ValueError, match="`ps` jobs"):
        tf.distribute.experimental.ParameterServerStrategy(resolver)


def test_tasks_of_clusters() -> None:
    spec = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "evaluator": ["d:1"]}
    assert clusters.worker_count(spec, "worker") == 3
    assert clusters.worker_count(spec, "evaluator") == 1
    assert [clusters.id_in_cluster(spec, "worker", i) for i in range(2)] == [1, 2]
    assert clusters.is_chief(spec, "chief", 0) and not clusters.is_chief(spec, "worker", 0)
    assert clusters.is_chief({"worker": ["a:1"]}, "worker", 0)
    assert clusters.collective_leader(spec, "worker", 1) == "/job:chief/replica:0/task:0"
    assert clusters.collective_leader(spec, "evaluator", 0) == ""
    with pytest.raises(ValueError, match="at most one"):
        clusters.normalized({"chief": ["a:1", "b:1"]})
