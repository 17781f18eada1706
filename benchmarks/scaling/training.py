"""Training an image model with many workers: asynchronous, synchronous, with backup workers.

In an asynchronous step a worker reads the weights, computes, and has its gradients applied. In a
synchronous one they go to accumulators, and the worker waits for a token; the chief takes the
gradients when enough are there, applies their mean, and puts a token for each worker. Gradients
that are late are dropped. So `SyncReplicasOptimizer` does it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import mean, median, quantiles

from benchmarks.scaling.null_steps import Machine
from penstock.distributed.simulation.client import Session
from penstock.distributed.simulation.cluster import SimulatedCluster, task_name
from penstock.distributed.simulation.network import Host, NetworkModel
from penstock.distributed.simulation.scheduler import Program, Resume, Wait
from penstock.distributed.simulation.task import SimulatedTask
from penstock.distributed.simulation.work import Context, SimulatedStep

SERVERS = 17


@dataclass(frozen=True)
class ImageModel:
    """A network of the size of Inception-v3, and workers of 2016.

    The time that a worker computes is lognormal; now and then something else on its machine adds
    an exponentially distributed time.

    Attributes:
      weights: their bytes.
      batch: images of a step of one worker.
      compute: median seconds that a worker computes.
      spread: standard deviation of its logarithm.
      straggles: how often something comes in between.
      straggle: the mean seconds of that.
      update: bytes in a second that a server adds up or applies.
    """

    weights: int = 95 * 10**6
    batch: int = 32
    compute: float = 1.5
    spread: float = 0.14
    straggles: float = 0.02
    straggle: float = 1.0
    update: float = 0.7e9


@dataclass(frozen=True)
class Outcome:
    """What a run showed.

    Attributes:
      images: in a second, that all workers together made use of.
      seconds: those of steps: a worker's, asynchronous, or from one update to the next.
    """

    images: float
    seconds: list[float]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def slow(self) -> float:
        """What one step of ten takes, or longer."""
        return quantiles(self.seconds, n=10)[-1]


class Accumulator:
    """Adds gradients up on one server, and drops those of an older step."""

    def __init__(self) -> None:
        self.step = 0
        self._count = 0
        self._taker: tuple[int, Resume] | None = None

    def add(self) -> None:
        self._count += 1
        self._give()

    def taking(self, count: int) -> Wait:
        """A wait for so many gradients."""

        def begin(resume: Resume) -> None:
            self._taker = count, resume
            self._give()

        return begin

    def _give(self) -> None:
        if self._taker is None or self._count < self._taker[0]:
            return
        (_, resume), self._taker = self._taker, None
        self._count = 0
        self.step += 1
        resume(None, None)


class Tokens:
    """A queue of tokens, each with the number of the step that it lets a worker begin."""

    def __init__(self) -> None:
        self._tokens: deque[int] = deque()
        self._waiting: deque[Resume] = deque()

    def put(self, token: int, count: int) -> None:
        self._tokens.extend([token] * count)
        while self._tokens and self._waiting:
            self._waiting.popleft()(self._tokens.popleft(), None)

    def taking(self) -> Wait:
        def begin(resume: Resume) -> None:
            self._waiting.append(resume)
            self.put(0, 0)

        return begin


class Training:
    """A job in virtual time.

    Args:
      workers: how many compute gradients.
      aggregated: how many of them an update takes; None: each is applied by itself.
      rounds: how many updates, or steps of a worker, are looked at.
    """

    def __init__(
        self,
        workers: int,
        aggregated: int | None = None,
        rounds: int = 20,
        model: ImageModel | None = None,
        machine: Machine | None = None,
        seed: int = 0,
    ):
        self._model = model or ImageModel()
        self._machine = machine = machine or Machine()
        self._workers, self._aggregated, self._rounds = workers, aggregated, rounds
        self._servers = [task_name("ps", i) for i in range(SERVERS)]
        self._names = [task_name("worker", i) for i in range(workers)]
        self._share = self._model.weights // SERVERS
        self._cluster = SimulatedCluster(
            [*self._servers, *self._names],
            dict.fromkeys(self._names, self._work),
            seed=seed,
            model=NetworkModel(machine.latency, jitter=machine.latency / 10),
            make_host=lambda name: Host(machine.bandwidth),
            handling=machine.handling,
        )
        self._accumulators = {server: Accumulator() for server in self._servers}
        self._tokens = Tokens()
        self._local_steps = dict.fromkeys(self._names, 0)
        self._updates: list[float] = []  # when each was made
        self._steps: list[float] = []  # how long each of a worker took

    def outcome(self) -> Outcome:
        self._cluster.start_all()
        enough = self._rounds + 2 if self._aggregated else self._workers * (self._rounds + 2)
        seen = self._updates if self._aggregated else self._steps
        self._cluster.scheduler.run(1e6, lambda: len(seen) >= enough)
        batch = self._model.batch
        if self._aggregated is not None:
            times = self._updates[1:]  # the first has all workers begin at once
            seconds = [after - before for before, after in pairwise(times)]
            return Outcome(self._aggregated * batch * len(seconds) / sum(seconds), seconds)
        seconds = self._steps[self._workers :]  # the first are those of a cluster at rest
        return Outcome(self._workers * batch / mean(seconds), seconds)

    # Programs of tasks ------------------------------------------------------------------------

    def _work(self, task: SimulatedTask) -> Program:
        if self._aggregated is not None and task.name == self._names[0]:
            task.start(self._lead(task, self._aggregated))
        session = yield from Session.open(task, self._servers)
        step = self._worker_step(task.name)
        while True:
            began = task.scheduler.now
            yield from session.run(step)
            self._steps.append(task.scheduler.now - began)

    def _lead(self, task: SimulatedTask, aggregated: int) -> Program:
        """What the chief does besides: it applies gradients and gives tokens out."""
        session = yield from Session.open(task, self._servers)
        update = SimulatedStep(
            {server: partial(self._apply_mean, aggregated) for server in self._servers}
        )
        while True:
            yield from session.run(update)
            self._updates.append(task.scheduler.now)

    def _worker_step(self, worker: str) -> SimulatedStep:
        serve = self._serve if self._aggregated is None else self._serve_synchronously
        programs = {server: partial(serve, worker) for server in self._servers}
        return SimulatedStep({**programs, worker: self._learn})

    # Parts of steps ---------------------------------------------------------------------------

    def _learn(self, context: Context) -> Program:
        for server in self._servers:
            yield context.receive(f"weights of {server}")
        yield context.task.scheduler.sleep(self._compute_seconds(context))  # on its GPU
        for server in self._servers:
            context.send(server, "gradient", self._share)
        return []

    def _compute_seconds(self, context: Context) -> float:
        model, random = self._model, context.task.scheduler.random
        seconds = model.compute * math.exp(random.gauss(0.0, model.spread))
        if random.random() < model.straggles:
            seconds += random.expovariate(1 / model.straggle)
        return seconds

    def _serve(self, worker: str, context: Context) -> Program:
        yield from self._read(worker, context)
        yield context.receive("gradient")
        yield context.compute(self._share / self._model.update)
        return []

    def _serve_synchronously(self, worker: str, context: Context) -> Program:
        yield from self._read(worker, context)
        yield context.receive("gradient")
        accumulator = self._accumulators[context.task.name]
        if self._local_steps[worker] >= accumulator.step:
            yield context.compute(self._share / self._model.update)
            accumulator.add()
        yield from self._gather(context)
        if context.task.name == self._servers[0]:
            self._local_steps[worker] = yield self._tokens.taking()
        return []

    def _apply_mean(self, aggregated: int, context: Context) -> Program:
        yield self._accumulators[context.task.name].taking(aggregated)
        yield context.compute(self._share / self._model.update)
        yield from self._gather(context)
        if context.task.name == self._servers[0]:
            self._tokens.put(self._accumulators[context.task.name].step, self._workers)
        return []

    def _read(self, worker: str, context: Context) -> Program:
        yield context.compute(self._machine.kernel + self._share / self._machine.memory)
        context.send(worker, f"weights of {context.task.name}", self._share)

    def _gather(self, context: Context) -> Program:
        """Lets the first server wait for all others."""
        first, *others = self._servers
        if context.task.name != first:
            context.send(first, f"done by {context.task.name}", 4)
            return
        for server in others:
            yield context.receive(f"done by {server}")
