"""Steps over tasks of which each has several devices, whose parts run in threads of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import penstock as tf
from tests.cluster.nursery import free_ports
from tests.gpu.imitation import imitated_gpu

LIMIT = 60_000  # milliseconds: nothing takes as long, unless it hangs
STEPS = 10


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _spec(**jobs: int) -> dict[str, list[str]]:
    ports = iter(free_ports(sum(jobs.values())))
    return {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}


def test_what_one_device_has_sent_does_not_wait_for_the_other_ones(
    start_server: Callable[..., Any],
) -> None:
    spec = _spec(ps=1, worker=1)
    config = tf.ConfigProto(device_count={"CPU": 2})
    start_server(spec, job_name="ps", task_index=0, config=config)
    server = start_server(spec, job_name="worker", task_index=0, config=config)
    with tf.device("/job:ps/task:0/cpu:0"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[()], shared_name="q")
        x = queue.dequeue()
        put = queue.enqueue(20.0)
    with tf.device("/job:worker/task:0/cpu:0"):
        y = x * 2.0
    with tf.device("/job:ps/task:0/cpu:1"):
        z = y + 2.0
    found = []
    with tf.Session(server.target, config=tf.ConfigProto(operation_timeout_in_ms=LIMIT)) as session:
        thread = threading.Thread(target=lambda: found.append(session.run(z)))
        thread.start()
        time.sleep(0.3)  # so that the second device waits for what comes of the first one's value
        session.run(put)
        thread.join()
    assert found == [42.0]


def test_synchronous_replicas_with_gpus(start_server: Callable[..., Any]) -> None:
    """Accumulators and queues are on the hosts, variables and what is computed on GPUs."""
    with imitated_gpu():
        spec = _spec(ps=1, worker=2)
        start_server(spec, job_name="ps", task_index=0)
        chief, other = (start_server(spec, job_name="worker", task_index=i) for i in range(2))
        others_steps: list[float] = []
        thread = threading.Thread(
            target=lambda: others_steps.extend(_weights(spec, other.target, 1, lambda: True))
        )
        thread.start()
        # The chief is the one that adds gradients up: it goes on as long as the other needs it.
        weights = list(_weights(spec, chief.target, 0, lambda: not thread.is_alive()))
        thread.join()
    assert len(others_steps) == STEPS
    assert weights[-1] == pytest.approx(2.0, abs=0.1)


def _weights(spec: Any, target: str, index: int, may_end: Callable[[], bool]) -> Iterator[float]:
    """The weight in each of a worker's steps."""
    with tf.Graph().as_default():
        setter = tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{index}", cluster=spec
        )
        with tf.device(setter):
            step = tf.train.get_or_create_global_step()
            weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.25),
                replicas_to_aggregate=1,  # so that the last one need not wait for another
                total_num_replicas=2,
            )
            train_op = optimizer.minimize(tf.square(weight - 2.0), global_step=step)
        config = tf.ConfigProto(
            operation_timeout_in_ms=LIMIT, device_filters=["/job:ps", f"/job:worker/task:{index}"]
        )
        hooks = [optimizer.make_session_run_hook(index == 0)]
        with tf.train.MonitoredTrainingSession(
            target, is_chief=index == 0, hooks=hooks, config=config
        ) as session:
            count = 0
            while count < STEPS or not may_end():
                yield session.run([weight, train_op])[0]
                count += 1
