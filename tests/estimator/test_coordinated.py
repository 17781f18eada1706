"""Estimators whose strategies were made before the cluster was known: a coordinator tells them."""

import json
import os
import threading

import numpy as np
import pytest

import penstock as tf
from penstock.distribute import coordinator
from penstock.estimator import coordinated
from penstock.testing.worker_cases import MockOsEnv
from tests.cluster.nursery import free_ports

X = np.linspace(-1.0, 1.0, 16, dtype="f").reshape(8, 2)
MAX_STEPS = 5


@pytest.fixture
def environment(monkeypatch):
    """The environment, whose TF_CONFIG is that of the thread."""
    made = MockOsEnv(os.environ)
    monkeypatch.setattr(os, "environ", made)
    return made


@pytest.fixture
def servers(monkeypatch):
    """Lets the servers of tasks be stopped at the end."""
    made = []

    def start(cluster_spec, task_type, task_id, **_):
        spec = coordinator._split_cluster_for_evaluator(cluster_spec, task_type)
        config = tf.ConfigProto()
        config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
        made.append(tf.train.Server(spec, task_type, task_id, config=config))
        return made[-1]

    monkeypatch.setattr(coordinator, "_run_std_server", start)
    yield made
    for server in made:
        server.stop()


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X.sum(1))).repeat(10).batch(4)


def model_fn(seen):
    def build(features, labels, mode, config):
        seen.append((config.task_type, config.task_id, config.num_worker_replicas))
        weights = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        loss = tf.losses.mean_squared_error(labels, tf.reduce_sum(features * weights, 1))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_or_create_global_step()
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    return build


def test_workers_train_and_an_evaluator_evaluates(environment, servers, tmp_path):
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    ports = [f"localhost:{port}" for port in free_ports(3)]
    cluster = {"worker": ports[:2], "evaluator": ports[2:]}
    seen, failed = [], []

    def task(job, number):
        told = {"cluster": cluster, "task": {"type": job, "index": number}}
        environment["TF_CONFIG"] = json.dumps(told)
        config = tf.estimator.RunConfig(str(tmp_path), train_distribute=strategy)
        estimator = tf.estimator.Estimator(model_fn(seen), config=config)
        try:
            tf.estimator.train_and_evaluate(
                estimator,
                tf.estimator.TrainSpec(input_fn, max_steps=MAX_STEPS),
                tf.estimator.EvalSpec(input_fn, steps=2, start_delay_secs=0, throttle_secs=0),
            )
        except Exception as error:
            failed.append(error)

    tasks = [(job, i) for job, addresses in cluster.items() for i in range(len(addresses))]
    threads = [threading.Thread(target=task, args=each) for each in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed
    assert {each for each in seen if each[0] == "worker"} == {("worker", 0, 2), ("worker", 1, 2)}
    assert ("evaluator", 0, 0) in seen
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith(f"-{MAX_STEPS}")
    assert len(servers) == 3
    assert (tmp_path / "eval").exists()


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("chief", coordinator.CoordinatorMode.INDEPENDENT_WORKER),
        ("master", None),
        (None, None),
    ],
)
def test_who_calls_the_coordinator(environment, job, expected):
    if job is not None:
        told = {"cluster": {job: ["localhost:1"]}, "task": {"type": job, "index": 0}}
        environment["TF_CONFIG"] = json.dumps(told)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    config = tf.estimator.RunConfig(train_distribute=strategy)
    assert config._distribute_coordinator_mode == expected
    assert coordinated.should_run_distribute_coordinator(config) == (expected is not None)
    assert not coordinated.should_run_distribute_coordinator(
        tf.estimator.RunConfig(eval_distribute=strategy)
    )


def test_a_configuration_without_strategies_has_no_mode():
    assert not hasattr(tf.estimator.RunConfig(), "_distribute_coordinator_mode")
