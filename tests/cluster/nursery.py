"""Tasks as processes: started in milliseconds, their output kept, all of them ended at the end."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LONG = 60.0  # seconds: nothing takes as long, on the busiest machine, unless it hangs


def until(condition: Callable[[], Any], what: str, seconds: float = LONG) -> Any:
    """Waits for something that has to come; what the condition gives."""
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, f"no {what} within {seconds} seconds"
        time.sleep(0.005)
    return found


class TaskProcess:
    """One start of a task."""

    def __init__(self, nursery: Nursery, pid: int, log: Path):
        self._nursery = nursery
        self.pid = pid
        self.log = log

    def signal(self, number: int) -> None:
        self._nursery.ask({"signal": [self.pid, number]})

    def kill(self) -> None:
        """kill -9, and waits for the end."""
        self.signal(signal.SIGKILL)
        self.wait()

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._nursery.ask({"ended": None}).get(str(self.pid))

    def wait(self, seconds: float = LONG) -> int:
        try:
            until(lambda: self.status is not None, f"end of {self.log.stem}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.text[-3000:]}") from None
        return self.status  # type: ignore[return-value]

    @property
    def text(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


class Nursery:
    """The zygote and the tasks that it has started."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.zygote"],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lock = threading.Lock()
        assert self._process.stdout.readline() == b'"ready"\n'

    def ask(self, request: Any) -> Any:
        with self._lock:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

    def start(
        self, program: str, *arguments: Any, log: Path, environment: dict[str, str] | None = None
    ) -> TaskProcess:
        """Runs "module:function" with arguments in a process of its own."""
        request = {
            "program": program,
            "arguments": arguments,
            "log": str(log),
            "environment": environment or {},
        }
        return TaskProcess(self, self.ask({"start": request}), log)

    def close(self) -> None:
        with self._process as process:
            process.stdin.close()
            process.wait(LONG)


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses, out of the ranges of those that the system gives to clients and that
    servers choose themselves.

    A task that is started again must find its port free.
    """
    found: list[int] = []
    while len(found) < count:
        port = random.SystemRandom().randrange(15000, 25000)
        with socket.socket() as probe:
            if port not in found and probe.connect_ex(("127.0.0.1", port)):
                found.append(port)
    return found


class TestCluster:
    """A cluster whose tasks are processes of a nursery."""

    __test__ = False

    def __init__(self, nursery: Nursery, folder: Path, tasks: dict[str, int]):
        self._nursery = nursery
        self.folder = folder
        ports = iter(free_ports(sum(tasks.values())))
        self.spec = {
            job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in tasks.items()
        }
        self.tasks: dict[tuple[str, int], TaskProcess] = {}
        self.environment: dict[str, str] = {}

    def start(self, job: str, index: int, program: str = "serve", *arguments: Any) -> TaskProcess:
        """Starts a task, or starts it again, with a function of `tests.cluster.programs`."""
        task = self._nursery.start(
            f"tests.cluster.programs:{program}",
            self.spec,
            job,
            index,
            *arguments,
            log=self.folder / f"{job}{index}.log",
            environment=self.environment,
        )
        self.tasks[job, index] = task
        return task

    def target(self, job: str, index: int) -> str:
        return f"grpc://{self.spec[job][index]}"

    def texts(self) -> str:
        """The ends of all logs, for the message of a test that fails."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {log.name}\n{log.read_text()[-12000:]}" for log in logs)

    def stop(self, tasks: Sequence[TaskProcess] | None = None) -> None:
        for task in tasks or self.tasks.values():
            if task.status is None:
                task.kill()
