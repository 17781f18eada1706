"""`MirroredStrategy` of several workers, whose replicas are parts of one graph."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.distribute.cross_device_ops import MultiWorkerAllReduce, NcclAllReduce
from penstock.distribute.worker_devices import by_worker, devices_of_cluster, gpus_per_worker
from tests.cluster.nursery import free_ports

WORKERS = {"worker": ["localhost:1", "localhost:2"]}
TASKS = ("/job:worker/task:0", "/job:worker/task:1")
CPUS = tuple(f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2))


@pytest.fixture
def target() -> Iterator[str]:
    spec = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    servers = [tf.train.Server(spec, job_name="worker", task_index=i) for i in range(2)]
    yield servers[0].target
    for server in servers:
        server.stop()


def strategy_of(devices: Any = None) -> Any:
    return tf.distribute.MirroredStrategy(devices, MultiWorkerAllReduce(TASKS, 0))


def test_devices_of_workers() -> None:
    spec = {"worker": ["a:1", "b:1"], "chief": ["c:1"], "ps": ["d:1"]}
    assert devices_of_cluster(spec, 0) == ["/job:chief/task:0", *TASKS]
    gpus = devices_of_cluster(WORKERS, 2)
    assert gpus[:2] == [f"/job:worker/task:0/device:GPU:{i}" for i in range(2)]
    assert by_worker(gpus[::-1]) == [
        (task, [f"{task}/device:GPU:1", f"{task}/device:GPU:0"]) for task in TASKS
    ]
    assert gpus_per_worker(gpus) == 2
    assert gpus_per_worker(["/replica:0/task:0/device:CPU:0"]) == 0
    with pytest.raises(ValueError, match="All workers should have the same number of GPUs"):
        gpus_per_worker(gpus[:3])
    with pytest.raises(ValueError, match="should be consecutive and start from 0"):
        gpus_per_worker([gpus[1], gpus[3]])
    with pytest.raises(ValueError, match="needs a task of the jobs"):
        by_worker(["/job:ps/task:0/device:GPU:0"])


@pytest.mark.usefixtures("cpus_alone")
def test_a_cluster_is_told_by_configure_or_the_environment(monkeypatch: Any) -> None:
    strategy = strategy_of(["/cpu:0"])
    config = tf.ConfigProto()
    strategy.configure(config, cluster_spec=WORKERS)
    assert strategy.extended.worker_devices == CPUS and config.isolate_session_state
    with strategy.scope():
        assert tf.constant(1.0).device == "/job:worker/task:0"
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": WORKERS}))
    assert strategy_of().num_replicas_in_sync == 2
    with pytest.raises(ValueError, match="In-graph multi-worker training with `MirroredStrategy`"):
        tf.distribute.MirroredStrategy()
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["localhost:1"]}}))
    alone = tf.distribute.MirroredStrategy().extended
    assert alone.worker_devices == CPUS[:1]
    assert isinstance(alone._inferred_cross_device_ops, NcclAllReduce)


def test_workers_train_together(target: str) -> None:
    strategy = strategy_of(CPUS)
    with tf.Graph().as_default(), strategy.scope():
        iterator = strategy.make_input_fn_iterator(
            lambda told: tf.data.Dataset.from_tensors(told.input_pipeline_id + 1.0).repeat(3)
        )
        variable = tf.Variable(0.0)

        def replica(x: Any) -> Any:
            return tf.train.GradientDescentOptimizer(0.1).minimize(x * variable)

        train = strategy.group(strategy.experimental_run_v2(replica, (iterator.get_next(),)))
        with tf.Session(target) as sess:
            sess.run([iterator.initialize(), tf.global_variables_initializer()])
            sess.run(train)
            assert sess.run(variable.values) == pytest.approx((-0.3, -0.3))


@pytest.mark.parametrize("shards", [False, True])
@pytest.mark.parametrize("way", ["iterator", "dataset"])
def test_workers_read_a_dataset_each_where_it_is(target: str, shards: bool, way: str) -> None:
    strategy = strategy_of(CPUS)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard = shards
    with tf.Graph().as_default(), strategy.scope():
        dataset = tf.data.Dataset.range(3).map(lambda x: x * 10).with_options(options)
        if way == "iterator":
            iterator = strategy.make_dataset_iterator(dataset.batch(2).with_options(options))
        else:
            distributed = strategy.experimental_distribute_dataset(dataset.batch(2))
            iterator = distributed.make_initializable_iterator()
        element = iterator.get_next()
        with tf.Session(target) as sess:
            sess.run(iterator.initialize())
            found = [[part.tolist() for part in sess.run(element.values)] for _ in range(2)]
            if shards:
                assert found == [[[0], [10]], [[20], []]]
            else:
                assert found == [[[0], [0]], [[10], [10]]]


def test_a_worker_without_elements_goes_on_without_rows(target: str) -> None:
    strategy = strategy_of(CPUS)
    with tf.Graph().as_default(), strategy.scope():
        inputs = strategy.experimental_distribute_datasets_from_function(
            lambda told: tf.data.Dataset.range(2 + 2 * told.input_pipeline_id).batch(2)
        )
        iterator = inputs.make_initializable_iterator()
        element = iterator.get_next()
        with tf.Session(target) as sess:
            sess.run(iterator.initialize())
            found = [[part.tolist() for part in sess.run(element.values)] for _ in range(2)]
            assert found == [[[0, 1], [0, 1]], [[], [2, 3]]]
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(element.values)
