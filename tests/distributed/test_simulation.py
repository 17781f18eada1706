"""The protocol between tasks under faults, in virtual time: what holds whatever the seed is.

The machines of masters and workers are those of real clusters. Tasks crash between any two of
their actions, with a word to the others or without, and are started again; messages are late, in
another order, or lost with their connection; hosts are cut off.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from functools import partial

import pytest

from penstock import errors
from penstock.distributed.simulation.client import Session
from penstock.distributed.simulation.cluster import SimulatedCluster, task_name
from penstock.distributed.simulation.network import NetworkModel
from penstock.distributed.simulation.work import SimulatedStep

PS = [task_name("ps", i) for i in range(2)]
WORKERS = [task_name("worker", i) for i in range(3)]
CALM = 120.0  # when faults end
LATE = 3600.0  # nothing takes that long
SEEDS = range(int(os.environ.get("PENSTOCK_TEST_SEEDS", 40)))


class Job:
    """A training job: each worker runs steps over both parameter servers and itself.

    A step reads on the servers, computes on the worker, and updates on the servers; the second
    server waits for a value of the first.
    """

    def __init__(self, seed, *, crash_chance=0.0, model=None, steps=12):
        programs = {name: partial(self.train, index) for index, name in enumerate(WORKERS)}
        self.cluster = SimulatedCluster(PS + WORKERS, programs, seed, model)
        self.cluster.crash_chance = crash_chance
        self.random = self.cluster.scheduler.random
        self.finished = Counter()  # steps of each worker
        self.executed = Counter()  # (incarnation, step): how often it ran to its end there
        self.failures = Counter()
        self.faults = 0
        self.wanted = steps
        self.opened = itertools.count()

    def train(self, index, task):
        """A program that makes a new session when a step fails, as monitored sessions do."""
        step = self.step_of(task.name)
        session = None
        while self.finished[index] < self.wanted or task.scheduler.now < CALM:
            try:
                if session is None:
                    session = yield from Session.open(task, PS)
                    next(self.opened)
                timeout = 5.0 if self.random.random() < 0.1 else None
                run = yield from session.run(step, timeout)
            except errors.OpError as error:
                self.failures[type(error).__name__] += 1
                if session is not None:
                    session.close()
                session = None
                yield task.scheduler.sleep(self.random.uniform(0.0, 1.0))
            else:
                self.check(session, run.number, step)
                self.finished[index] += 1
                yield task.scheduler.sleep(self.random.expovariate(0.5))
        if session is not None:
            session.close()

    def check(self, session, number, step):
        """All parts of a finished step ran once, in the workers that the session was made with."""
        for name in step.programs:
            assert self.executed[session.machine.incarnations[name], number] == 1

    def step_of(self, worker):
        first, second = PS
        return SimulatedStep(
            {
                first: partial(self.serve, worker, second),
                second: partial(self.serve, worker, None),
                worker: self.learn,
            },
            with_orders=frozenset([first]),
        )

    def receive(self, context, name):
        value = yield context.receive(name)
        assert value.step == context.step, "a value of another step"

    def serve(self, worker, other, context):
        own = context.task.name
        if other is not None:
            yield from self.receive(context, "rows")
        yield context.compute(0.001)
        context.send(worker, f"weights of {own}", 1 << 21)
        if other is not None:
            context.send(other, "order", 8)
        else:
            yield from self.receive(context, "order")
        yield from self.receive(context, f"gradient of {own}")
        context.send(worker, f"end of {own}", 8, last=True)
        self.executed[context.task.incarnation, context.step] += 1
        return []

    def learn(self, context):
        context.send(PS[0], "rows", 128)  # with the order
        for name in PS:
            yield from self.receive(context, f"weights of {name}")
        yield context.compute(self.random.uniform(0.01, 0.2))
        for name in PS:
            context.send(name, f"gradient of {name}", 1 << 21)
        for name in PS:
            yield from self.receive(context, f"end of {name}")
        self.executed[context.task.incarnation, context.step] += 1
        return []

    def disturb(self, rate):
        """Crashes tasks, breaks connections and cuts hosts off, until it is calm."""
        scheduler, cluster = self.cluster.scheduler, self.cluster
        fault = self.random.choice((cluster.crash, cluster.break_link, self.cut_off))
        if scheduler.now < CALM - 30.0:
            self.faults += 1
            fault(self.random.choice(cluster.names))
            scheduler.after(self.random.expovariate(rate), lambda: self.disturb(rate))

    def cut_off(self, name):
        self.cluster.cut_off(name, self.random.uniform(0.1, 30.0))

    def calm_down(self):
        self.cluster.crash_chance = 0.0

    def run(self, rate=0.0):
        self.cluster.start_all()
        self.cluster.scheduler.at(CALM - 30.0, self.calm_down)
        if rate:
            self.cluster.scheduler.after(1.0, lambda: self.disturb(rate))
        self.cluster.run(LATE)
        return self


def assert_ended_well(job):
    cluster = job.cluster
    assert cluster.is_over, "the job hangs"
    assert all(job.finished[index] >= job.wanted for index in range(len(WORKERS)))
    assert not cluster.leftovers()


def test_a_calm_job_fails_no_step():
    job = Job(seed=0).run()
    assert_ended_well(job)
    assert not job.failures
    assert next(job.opened) == len(WORKERS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_disturbed_job_ends(seed):
    model = NetworkModel(latency=0.001, jitter=0.002, loss=0.02)
    job = Job(seed, model=model).run(rate=0.2)
    assert_ended_well(job)
    assert job.faults  # which hardly any job gets through without steps that fail


@pytest.mark.parametrize("seed", SEEDS)
def test_tasks_may_crash_after_any_action(seed):
    job = Job(seed, crash_chance=0.005).run(rate=0.02)
    assert_ended_well(job)
    assert job.cluster.crashes


def test_a_seed_decides_all():
    model = NetworkModel(latency=0.001, jitter=0.002, loss=0.05)
    first, second = (Job(7, model=model).run(rate=0.2) for _ in range(2))
    assert first.cluster.scheduler.now == second.cluster.scheduler.now
    assert first.failures == second.failures
    assert first.cluster.network.messages == second.cluster.network.messages
