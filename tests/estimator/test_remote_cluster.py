"""`DistributeConfig(remote_cluster=…)`: one program that trains on servers which run elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.distribute.cross_device_ops import MultiWorkerAllReduce
from tests.cluster.nursery import free_ports

distribute = tf.contrib.distribute


@pytest.fixture
def servers() -> Iterator[Callable[..., dict[str, list[str]]]]:
    made = []

    def start(*jobs: str) -> dict[str, list[str]]:
        ports = zip(jobs, free_ports(len(jobs)), strict=True)
        cluster = {job: [f"localhost:{port}"] for job, port in ports}
        made.extend(tf.train.Server(cluster, job_name=job, task_index=0) for job in jobs)
        return cluster

    yield start
    for server in made:
        server.stop()


class _Counting(tf.train.SessionRunHook):
    def __init__(self) -> None:
        self.begun = 0

    def begin(self) -> None:
        self.begun += 1


class _Told:
    """A line that is fitted to points, and what its function was told of its tasks."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Any, ...]] = []

    def model(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        place = (config.task_type, config.task_id, config.global_id_in_cluster)
        counts = (config.num_ps_replicas, config.num_worker_replicas)
        self.tasks.append((mode, *place, config.master, config.is_chief, *counts))
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step())
        )


def _points() -> Any:
    x = np.linspace(0.0, 1.0, 8, dtype=np.float32).reshape(8, 1)
    return tf.data.Dataset.from_tensor_slices((x, 2.0 * x)).batch(4).repeat()


def _estimator(
    told: _Told, folder: Path, strategy: Any, cluster: Any, evaluating: Any = None
) -> Any:
    options = distribute.DistributeConfig(strategy, evaluating, cluster)
    config = tf.estimator.RunConfig(str(folder), experimental_distribute=options)

    def model(features: Any, labels: Any, mode: str, config: Any) -> Any:
        return told.model(features, labels, mode, config)  # `told` is not copied with a function

    return tf.estimator.Estimator(model, config=config)


def _evaluation() -> Any:
    return tf.estimator.EvalSpec(_points, steps=2, start_delay_secs=0, throttle_secs=0)


def test_workers_and_an_evaluator_are_threads(
    servers: Callable[..., dict[str, list[str]]], tmp_path: Path
) -> None:
    cluster = servers("ps", "chief", "worker", "evaluator")
    told, hook = _Told(), _Counting()
    estimator = _estimator(told, tmp_path, distribute.ParameterServerStrategy(), cluster)
    training = tf.estimator.TrainSpec(_points, max_steps=40, hooks=[hook])
    tf.estimator.train_and_evaluate(estimator, training, _evaluation())
    # What TensorFlow 1.15 tells the model's function, and whose session has the hooks.
    where = {job: f"grpc://{addresses[0]}" for job, addresses in cluster.items()}
    assert set(told.tasks) == {
        ("train", "chief", 0, 0, where["chief"], True, 1, 2),
        ("train", "worker", 0, 2, where["worker"], False, 1, 2),
        ("eval", "evaluator", 0, None, where["evaluator"], True, 0, 0),
    }
    assert hook.begun == 1
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 40
    assert list((tmp_path / "eval").iterdir())


def test_workers_that_reduce_together(
    servers: Callable[..., dict[str, list[str]]], tmp_path: Path
) -> None:
    cluster = servers("chief", "worker")
    told = _Told()
    strategy = distribute.CollectiveAllReduceStrategy()
    estimator = _estimator(told, tmp_path, strategy, cluster)
    training = tf.estimator.TrainSpec(_points, max_steps=5)
    tf.estimator.train_and_evaluate(estimator, training, _evaluation())
    assert {task[1] for task in told.tasks} == {"chief", "worker"}
    assert tf.train.load_variable(str(tmp_path), "global_step") == 5


def _mirrored(workers: int) -> Any:
    tasks = [f"/job:worker/task:{number}" for number in range(workers)]
    return tf.distribute.MirroredStrategy(["/cpu:0"], MultiWorkerAllReduce(tasks, 1))


def test_replicas_in_one_graph(tmp_path: Path) -> None:
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    tasks = [tf.train.Server(cluster, job_name="worker", task_index=i) for i in range(2)]
    told = _Told()
    estimator = _estimator(told, tmp_path, _mirrored(2), cluster, _mirrored(2))
    estimator.train(_points, steps=5)
    found = estimator.evaluate(lambda: _points().take(2))
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(_points, max_steps=8), _evaluation()
    )
    for task in tasks:
        task.stop()
    where = f"grpc://{cluster['worker'][0]}"
    assert told.tasks == [
        (mode, None, None, 0, where, True, 0, 2)
        for mode in ("train", "train", "eval", "eval", "train", "train")
    ]
    assert found["global_step"] == 5
    assert tf.train.load_variable(str(tmp_path), "global_step") == 8


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"ps": ["localhost:1"], "worker": ["localhost:2"]}
    estimator = _estimator(_Told(), tmp_path, distribute.ParameterServerStrategy(), cluster)
    with pytest.raises(ValueError, match="is not supported for ParameterServerStrategy with"):
        estimator.train(_points, steps=1)
    two = {"worker": ["localhost:1", "localhost:2"]}
    one_graph = _estimator(_Told(), tmp_path, distribute.MirroredStrategy(["/cpu:0"]), two)
    with pytest.raises(ValueError, match="with `MirroredStrategy` is not supported"):
        one_graph.train(_points, steps=1)
    apart = _estimator(_Told(), tmp_path, _mirrored(2), {**two, "evaluator": ["localhost:3"]})
    with pytest.raises(ValueError, match="'evaluator' job is not supported"):
        apart.train(_points, steps=1)
    without = _estimator(_Told(), tmp_path, None, cluster)
    with pytest.raises(ValueError, match="`remote_cluster` needs `train_distribute`"):
        without.train(_points, steps=1)
    here = {"cluster": {"worker": ["localhost:2"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(here))
    both = _estimator(_Told(), tmp_path, distribute.CollectiveAllReduceStrategy(), cluster)
    with pytest.raises(ValueError, match="not both"):
        both.train(_points, steps=1)
