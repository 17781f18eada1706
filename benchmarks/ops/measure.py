"""Measures ops in Penstock and in TensorFlow, in turns, each in a process of its own."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import sleep
from typing import Any

from benchmarks.contestant import WorkerError, WorkerProcess
from benchmarks.ops.results import SIDES, Result
from benchmarks.ops.step_graph import build
from benchmarks.ops.trial import Trial

SETTLING = 0.01  # seconds; OpenMP's threads spin for a while after their last work
COPIES = {10**3: 40, 10**6: 4}  # of the op in a step, at most
STEP = 0.01  # seconds that a step of several copies may take
SLOW = 0.1  # seconds of a step from which two rounds are enough


def per_copy(full: list[float], rest: list[float], copies: int) -> float:
    """Seconds of one op; a hundredth of a step where the op's time drowns in the rest."""
    step = median(full)
    return max(step - median(rest), step / 100) / copies


class Measurer:
    """Both workers, as a context manager. One that dies is started anew for the next op."""

    def __init__(self, *, rounds: int, milliseconds: float, threads: int, peers: Path) -> None:
        self._rounds = rounds
        self._seconds = milliseconds / 1e3
        self._settings: dict[str, Any] = {"threads": threads, "peers": peers}
        self._workers: dict[str, WorkerProcess] = {}
        self._open = ExitStack()
        self.versions: dict[str, str] = {}

    def __enter__(self) -> "Measurer":
        self._directory = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        for framework in SIDES:
            self._worker(framework)
        return self

    def __exit__(self, *exception: object) -> None:
        for framework in list(self._workers):
            self._end(framework)
        self._open.close()

    def measure(self, op_type: str, size: int, trial: Trial) -> Result:
        """The times of an op on both sides; a failure of either is told, not raised."""
        try:
            return self._measure(op_type, size, trial)
        except WorkerError as error:
            return Result(op_type, size, failure=str(error))

    def _measure(self, op_type: str, size: int, trial: Trial) -> Result:
        slowest = self._load_all(op_type, trial, COPIES[size])
        copies = min(COPIES[size], max(1, int(STEP / slowest)))
        if copies > 1:
            for framework in SIDES:
                self._ask(framework, do="prepare", copies=copies)
        rounds: dict[str, list[float]] = {framework: [] for framework in SIDES}
        for framework in self._turns(2 if slowest > SLOW else self._rounds):
            sleep(SETTLING)
            times = self._ask(framework, do="run", seconds=self._seconds)
            rounds[framework].append(per_copy(times["full"], times["rest"], copies))
        for framework in SIDES:
            self._ask(framework, do="drop")
        return Result(op_type, size, rounds)

    def _turns(self, rounds: int) -> Iterator[str]:
        """Each round starts with the other side."""
        for number in range(rounds):
            yield from SIDES if number % 2 == 0 else reversed(SIDES)

    def _load_all(self, op_type: str, trial: Trial, copies: int) -> float:
        """Makes both sides ready; returns the seconds of the slower one's copy."""
        parts = asdict(build(op_type, trial, copies))
        path = self._directory / "graph.pb"
        path.write_bytes(parts.pop("content"))
        slowest = 0.0
        for framework in SIDES:
            answer = self._ask(framework, do="load", path=str(path), **parts)
            if "failed" in answer:
                raise WorkerError(f"{framework}: {answer['failed']}")
            slowest = max(slowest, answer["seconds"])
        return slowest

    def _ask(self, framework: str, **request: Any) -> dict[str, Any]:
        try:
            return self._worker(framework).ask(**request)
        except WorkerError as error:
            self._end(framework)
            raise WorkerError(f"{framework} ended: {error}") from None

    def _worker(self, framework: str) -> WorkerProcess:
        if framework not in self._workers:
            command = ["benchmarks.ops.worker", framework]
            worker = WorkerProcess(framework, command, **self._settings)
            self._workers[framework] = worker
            self.versions[framework] = worker.await_ready()
        return self._workers[framework]

    def _end(self, framework: str) -> None:
        self._workers.pop(framework).__exit__()
