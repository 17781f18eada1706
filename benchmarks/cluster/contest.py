"""The clusters that take turns, and what was measured of each."""

from __future__ import annotations

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from benchmarks.cluster.rows import Row
from benchmarks.contestant import AnsweringProcess
from benchmarks.frameworks import interpreter


@dataclass(frozen=True)
class Entrant:
    """A framework, in a way of using it."""

    name: str
    title: str
    framework: str
    environment: tuple[tuple[str, str], ...] = ()


ENTRANTS = [
    Entrant("penstock", "Penstock", "penstock"),
    Entrant("penstock-tcp", "Penstock, TCP alone", "penstock", (("PENSTOCK_SHM", "0"),)),
    Entrant("tensorflow", "TensorFlow", "tensorflow"),
]


def _free_addresses(count: int) -> list[str]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"localhost:{each.getsockname()[1]}" for each in sockets]


class Cluster:
    """The processes of one entrant: a parameter server, two workers and a client."""

    def __init__(self, entrant: Entrant, peers: Path) -> None:
        self.entrant = entrant
        addresses = _free_addresses(3)
        self._spec = json.dumps({"ps": addresses[:1], "worker": addresses[1:]})
        self._python = interpreter(entrant.framework, peers)
        self._stack = ExitStack()
        self._pool = ThreadPoolExecutor(2)
        self.version = ""

    def __enter__(self) -> Cluster:
        with self._stack:
            roles = (("ps", 0), ("worker", 0), ("worker", 1), ("client", 0))
            processes = [self._start(*role) for role in roles]
            self.version, *_ = [process.await_ready() for process in processes]
            _, *self._workers, self._client = processes
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()
        self._stack.close()

    def _start(self, role: str, index: int) -> AnsweringProcess:
        framework = self.entrant.framework
        command = ["benchmarks.cluster.task", framework, self._spec, role, str(index)]
        environment = {
            **os.environ,
            # Three processes compute at once: threads that wait for each other would only wait.
            "OMP_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            **dict(self.entrant.environment),
        }
        process = AnsweringProcess(framework, command, python=self._python, environment=environment)
        return self._stack.enter_context(process)

    def build(self, row: Row) -> None:
        self._ask(row, {"do": "build", "row": row.name})

    def run(self, row: Row, steps: int) -> list[float]:
        """Seconds of each step; if workers train for some time, of all on the average."""
        if not row.by_workers:
            found: list[float] = self._client.ask(do="run", steps=steps)["seconds"]
            return found
        answers = self._ask(row, {"do": "train", "seconds": row.seconds})
        return [row.seconds / max(1, sum(answer["steps"] for answer in answers))]

    def drop(self) -> None:
        """Ends the session of a row that the client has run."""
        self._client.ask(do="drop")

    def _ask(self, row: Row, request: dict[str, Any]) -> list[dict[str, Any]]:
        asked = self._workers if row.by_workers else [self._client]
        return list(self._pool.map(lambda process: process.ask(**request), asked))


@dataclass
class Measured:
    """The seconds of a row's steps, by entrant."""

    row: Row
    seconds: dict[str, list[float]]

    def median(self, entrant: str) -> float | None:
        found = self.seconds.get(entrant)
        return median(found) if found else None

    def speedup(self, entrant: str) -> float | None:
        """How many steps an entrant makes in the time of one of TensorFlow's."""
        own, other = self.median(entrant), self.median("tensorflow")
        return other / own if own and other else None
