"""The runner's side of a worker: starts the process, asks it for measurements, ends it."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.frameworks import interpreter

REPOSITORY = Path(__file__).parents[1]
_Process = TypeVar("_Process", bound="AnsweringProcess")


class WorkerError(RuntimeError):
    """A worker that could not do what it was asked; the message is its own."""


class AnsweringProcess:
    """A framework's process that answers requests, as a context manager."""

    def __init__(
        self, framework: str, command: list[str], *, python: Path, environment: dict[str, str]
    ) -> None:
        self.framework = framework
        command = [str(python), "-m", *command]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in __exit__)
        self._process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def __enter__(self: _Process) -> _Process:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def await_ready(self) -> str:
        """Waits until the worker stands; returns the framework's version."""
        return self._answer()["version"]

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise WorkerError(self._last_words()) from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerError(self._last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        return lines[-1] if lines else f"ended with status {self._process.wait()}, saying nothing"


class WorkerProcess(AnsweringProcess):
    """One that computes on a number of CPUs, in the environment that has its framework."""

    def __init__(self, framework: str, command: list[str], *, threads: int, peers: Path) -> None:
        super().__init__(
            framework,
            [*command, "--threads", str(threads)],
            python=interpreter(framework, peers),
            environment=worker_environment(threads),
        )


class Contestant(WorkerProcess):
    """One framework's worker for one model. It computes only when asked."""

    def __init__(
        self, model: str, framework: str, variant: str, *, threads: int, peers: Path
    ) -> None:
        self.variant = variant
        command = ["benchmarks.worker", model, framework, "--variant", variant]
        super().__init__(framework, command, threads=threads, peers=peers)

    def check(self) -> list[float]:
        return self.ask(do="check")["observed"]

    def run(self, steps: int) -> list[float]:
        return self.ask(do="run", steps=steps)["seconds"]

    def warm_up(self, steps: int) -> list[float]:
        return self.ask(do="warm_up", steps=steps)["seconds"]

    def memory(self, steps: int) -> int:
        return self.ask(do="memory", steps=steps)["bytes"]


def worker_environment(threads: int) -> dict[str, str]:
    """The environment of every worker: the same threads for all, and no accelerator."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "CUDA_VISIBLE_DEVICES": "",
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }
