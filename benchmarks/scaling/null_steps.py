"""Steps that only move data: every worker reads from all parameter servers, again and again.

A step has a part on each server, which reads its share, and one on the worker, which waits for all
of them and sends each a number back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median

from penstock.distributed.simulation.client import Session
from penstock.distributed.simulation.cluster import SimulatedCluster, task_name
from penstock.distributed.simulation.network import Host, NetworkModel
from penstock.distributed.simulation.scheduler import Program
from penstock.distributed.simulation.task import SimulatedTask
from penstock.distributed.simulation.work import Context, SimulatedStep

SERVERS = 16
MEGABYTE = 10**6


@dataclass(frozen=True)
class Machine:
    """What tasks run on, and what they take of it; the defaults are those of docs/scaling.md.

    Attributes:
      bandwidth: bytes in a second that an interface sends, and receives.
      latency: seconds that a message is on its way.
      handling: seconds of a core that a message takes.
      kernel: seconds of a core that a small part of a step takes.
      memory: bytes in a second that a core reads or updates.
    """

    bandwidth: float = 1.0e9
    latency: float = 1e-4
    handling: float = 60e-6
    kernel: float = 40e-6
    memory: float = 5e9


@dataclass(frozen=True)
class NullModel:
    """What a step reads.

    Attributes:
      name: as tables call it.
      moved: bytes that a step moves from all servers together. How many they keep is nothing that
        the protocol depends on.
      steps: that each worker runs.
    """

    name: str
    moved: int
    steps: int = 10


MODELS = (
    NullModel("scalar", 4 * SERVERS),
    NullModel("sparse", 32 * 8192),
    NullModel("dense, 100 MB", 100 * MEGABYTE, steps=5),
    NullModel("dense, 1 GB", 1000 * MEGABYTE, steps=4),
)


class NullSteps:
    """Some workers that run the steps of one model at once."""

    def __init__(self, model: NullModel, workers: int, machine: Machine | None = None):
        self._model = model
        self._machine = machine = machine or Machine()
        self._servers = [task_name("ps", i) for i in range(SERVERS)]
        names = [task_name("worker", i) for i in range(workers)]
        self._cluster = SimulatedCluster(
            [*self._servers, *names],
            dict.fromkeys(names, self._work),
            seed=workers,
            model=NetworkModel(machine.latency, jitter=machine.latency / 10),
            make_host=lambda name: Host(machine.bandwidth),
            handling=machine.handling,
        )
        self._seconds: list[float] = []

    def median_seconds(self) -> float:
        """The median of the times of all steps but the first of each worker."""
        self._cluster.start_all()
        self._cluster.run(until=1e6)
        return median(self._seconds)

    def _work(self, task: SimulatedTask) -> Program:
        session = yield from Session.open(task, self._servers)
        step = self._step(task.name)
        for number in range(self._model.steps):
            began = task.scheduler.now
            yield from session.run(step)
            if number:
                self._seconds.append(task.scheduler.now - began)
        session.close()

    def _step(self, worker: str) -> SimulatedStep:
        programs = {server: partial(self._serve, worker) for server in self._servers}
        return SimulatedStep({**programs, worker: self._read})

    def _serve(self, worker: str, context: Context) -> Program:
        share = self._model.moved // SERVERS
        yield context.compute(self._machine.kernel + share / self._machine.memory)
        context.send(worker, f"read from {context.task.name}", share)
        yield context.receive("update")
        yield context.compute(self._machine.kernel)
        return []

    def _read(self, context: Context) -> Program:
        for server in self._servers:
            yield context.receive(f"read from {server}")
        yield context.compute(self._machine.kernel)
        for server in self._servers:
            context.send(server, "update", 4)
        return []
