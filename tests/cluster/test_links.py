"""Links that are slow or cut: slow ones are waited for, silent ones are given up."""

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.distributed.health import HealthChecks
from penstock.distributed.road import Address
from tests.cluster.nursery import until
from tests.cluster.proxy import Proxy
from tests.distributed.in_process_cluster import InProcessCluster

PATIENCE = 0.6  # seconds
PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:1"


class LinkedCluster(InProcessCluster):
    """Tasks whose connections lead through proxies, one before each task."""

    def __init__(self, tasks):
        self.proxies = {}
        super().__init__(tasks)
        self._checks = [
            HealthChecks(self._connections_of(name), PATIENCE, worker.tidy)
            for name, worker in self.workers.items()
        ]

    def _road(self, address, timeout):
        port = super()._road(address, timeout).port
        if port not in self.proxies:
            self.proxies[port] = Proxy(port)
        return Address(self.proxies[port].port)

    def _connections_of(self, name):
        return lambda: [*self.peers[name].connections, *self.roads[name].connections]

    def link_to(self, name):
        return self.proxies[self.roads[name].address.port]

    def close(self):
        for checks in self._checks:
            checks.close()
        super().close()
        for proxy in self.proxies.values():
            proxy.close()


@pytest.fixture
def cluster():
    with LinkedCluster(["ps:0", "worker:1", "worker:0"]) as made:
        yield made


def doubled_on(task, x):
    with tf.device(task):
        return x * 2.0


def test_a_large_value_on_a_slow_link_takes_longer_than_a_silence_may(cluster):
    x = tf.placeholder(tf.float32, [None])
    runtime = cluster.runtime()
    step = runtime.compile([x], [doubled_on(PS, x)], [])
    assert step.run([torch.ones(1)])[0].tolist() == [2.0]
    cluster.link_to(PS).delay = 0.005  # at least a second for four million bytes
    (found,) = step.run([torch.ones(1 << 20)])
    np.testing.assert_array_equal(found, np.full(1 << 20, 2.0))
    runtime.close()


def test_a_cut_link_ends_steps_and_a_mended_one_serves_again(cluster):
    with tf.device(PS):
        count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
        up = count.assign_add(1.0)
    runtime = cluster.runtime()
    runtime.compile([], [], [count.initializer]).run([])
    step = runtime.compile([], [up], [])
    assert step.run([]) == (1.0,)
    cluster.link_to(PS).cut()
    with pytest.raises(tf.errors.UnavailableError, match=f"{PS} can't be reached: .* silent"):
        step.run([])
    cluster.link_to(PS).mend()

    def again():
        try:
            return step.run([])
        except tf.errors.UnavailableError:  # of the handshake, while the link was cut
            return None

    # The task has kept its state; whether it got the order that was cut off, nobody knows.
    assert until(again, "reconnection")[0] in (2.0, 3.0)
    runtime.close()


def test_a_link_between_two_others_that_is_cut_ends_the_step_of_a_third(cluster):
    x = tf.placeholder(tf.float32, [])
    on_ps = doubled_on(PS, x)
    result = doubled_on(WORKER, on_ps)
    runtime = cluster.runtime()
    step = runtime.compile([x], [result], [])
    assert step.run([torch.tensor(1.0)]) == (4.0,)
    (between,) = cluster.peers[PS].connections  # to the worker, where the values go
    between.close("a cable was pulled")
    until(lambda: PS not in [each.task for each in cluster.roads[WORKER].connections], "loss")
    assert step.run([torch.tensor(1.0)]) == (4.0,)  # by another connection
    waiting = tf.FIFOQueue(1, tf.float32, shapes=[()])
    with tf.device(PS):
        taken = waiting.dequeue()
    blocked = runtime.compile([], [doubled_on(WORKER, taken)], [])
    crew = cluster.workers[PS].runtime.crew
    crew.start(lambda: cut_when_used(cluster))
    with pytest.raises(tf.errors.UnavailableError, match="has lost its connection to"):
        blocked.run([])
    runtime.close()


def cut_when_used(cluster):
    """Breaks the connection between two tasks once both take part in a step."""
    until(lambda: all(cluster.workers[task].steps for task in (PS, WORKER)), "step")
    cluster.peers[PS].connect(WORKER).close("a cable was pulled")
