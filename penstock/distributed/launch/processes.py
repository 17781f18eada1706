"""A job as processes of this machine: started, watched, restarted, and ended together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO

from penstock.distributed.launch.job import Action, Finish, Job, JobRun, Start, Task

_GRACE_SECONDS = 5.0  # that a task has to end after it is asked to


def free_addresses(count: int) -> list[str]:
    """Addresses of this machine with ports that nobody uses now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [f"localhost:{each.getsockname()[1]}" for each in sockets]
    finally:
        for each in sockets:
            each.close()


class LocalLauncher:
    """Runs the tasks of a job; `run` returns the job's exit status.

    Args:
      job: which tasks.
      command: what each task runs.
      with_flags: whether to tell a task its place by flags, too, as the tutorials' programs want.
      restarts: how often a task may fail.
    """

    def __init__(
        self, job: Job, command: Sequence[str], *, with_flags: bool = False, restarts: int = 3
    ):
        self._job = job
        self._command = list(command)
        self._with_flags = with_flags
        self._run = JobRun(job, restarts)
        self._processes: dict[Task, subprocess.Popen[str]] = {}
        self._events: SimpleQueue[tuple[Task, int]] = SimpleQueue()
        self._starts: list[tuple[float, Task]] = []
        self._printing = threading.Lock()

    def run(self) -> int:
        status: int | None = self._act(self._run.begin())
        try:
            while status is None:
                status = self._turn()
            return status
        except KeyboardInterrupt:
            return 130
        finally:
            self._end_all()

    def _turn(self) -> int | None:
        """Starts what is due and waits for the next task to end."""
        now = time.monotonic()
        for due, task in [entry for entry in self._starts if entry[0] <= now]:
            self._starts.remove((due, task))
            self._start(task)
        wait = min((due - now for due, _ in self._starts), default=1.0)
        try:
            task, status = self._events.get(timeout=max(0.0, min(1.0, wait)))
        except Empty:
            return None
        actions = self._run.ended(task, status)
        self._tell(task, status, actions)
        return self._act(actions)

    def _act(self, actions: Sequence[Action]) -> int | None:
        for action in actions:
            if isinstance(action, Finish):
                return action.status
            assert isinstance(action, Start)
            self._starts.append((time.monotonic() + action.delay, action.task))
        return None

    def _tell(self, task: Task, status: int, actions: Sequence[Action]) -> None:
        if status == 0:
            return
        again = any(isinstance(action, Start) for action in actions)
        failures = self._run.failures[task]
        what = f"it is started again (failure {failures})" if again else "the job has failed"
        self._print(sys.stderr, f"penstock launch: {task} ended with status {status}; {what}\n")

    def _start(self, task: Task) -> None:
        flags = self._job.flags(task) if self._with_flags else []
        process = subprocess.Popen(
            [*self._command, *flags],
            env={**os.environ, "TF_CONFIG": self._job.tf_config(task), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is ours to hand on
        )
        self._processes[task] = process
        threading.Thread(target=self._follow, args=(task, process), daemon=True).start()

    def _follow(self, task: Task, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._print(sys.stdout, f"[{task}] {line.rstrip()}\n")
        process.stdout.close()
        self._events.put((task, process.wait()))

    def _print(self, where: IO[str], text: str) -> None:
        with self._printing:
            where.write(text)
            where.flush()

    def _end_all(self) -> None:
        running = [each for each in self._processes.values() if each.poll() is None]
        for process in running:
            _signal(process, signal.SIGTERM)
        limit = time.monotonic() + _GRACE_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
                process.wait()


def _signal(process: subprocess.Popen[str], number: int) -> None:
    """Signals a task with all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
