"""The life of a job: what its `JobRun` asks for is done by whatever runs the tasks."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, NoReturn, Protocol

from penstock.distributed.launch.job import Action, Finish, JobRun, Start, Task


class Tasks(Protocol):
    """What runs the tasks of a job: processes of this machine, or actors of Ray."""

    @property
    def ended(self) -> SimpleQueue[tuple[Task, int]]:
        """Each task that has ended, with its exit status."""
        ...

    def start(self, task: Task) -> None:
        """Starts a task, or starts it again."""
        ...

    def end_all(self) -> None:
        """Ends the tasks that still run."""
        ...


class Printer:
    """Prints lines of tasks, each with its task's name; with a folder, also into files of it."""

    def __init__(self, folder: str | None = None):
        self._lock = threading.Lock()
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    def line(self, task: Task, text: str) -> None:
        """Prints a line that a task has written."""
        self._print(sys.stdout, f"[{task}] {text}\n")
        if self._folder is not None:
            with self._lock, (self._folder / f"{task.kind}-{task.index}.log").open("a") as log:
                log.write(f"{text}\n")

    def say(self, text: str) -> None:
        """Prints what the launcher itself has to say."""
        self._print(sys.stderr, f"penstock launch: {text}\n")

    def _print(self, where: IO[str], text: str) -> None:
        with self._lock:
            where.write(text)
            where.flush()


class JobLoop:
    """Runs a job to its end; `run` returns its exit status.

    Ctrl-C and the signals that end a process politely end all tasks, too; the status is then that
    of shells, 128 and the signal's number.
    """

    def __init__(self, job: JobRun, tasks: Tasks, printer: Printer):
        self._job = job
        self._tasks = tasks
        self._printer = printer
        self._starts: list[tuple[float, Task]] = []

    def run(self) -> int:
        try:
            with _signals_raised():
                status = self._act(self._job.begin())
                while status is None:
                    status = self._turn()
                return status
        except _Signalled as signalled:
            return 128 + signalled.number
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        finally:
            self._tasks.end_all()

    def _turn(self) -> int | None:
        """Starts what is due and waits for the next task to end."""
        now = time.monotonic()
        for due, task in [entry for entry in self._starts if entry[0] <= now]:
            self._starts.remove((due, task))
            self._tasks.start(task)
        wait = min((due - now for due, _ in self._starts), default=1.0)
        try:
            task, status = self._tasks.ended.get(timeout=max(0.0, min(1.0, wait)))
        except Empty:
            return None
        actions = self._job.ended(task, status)
        if status != 0:
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
        again = any(isinstance(action, Start) for action in actions)
        failures = self._job.failures[task]
        what = f"it is started again (failure {failures})" if again else "the job has failed"
        self._printer.say(f"{task} ended with status {status}; {what}")


class _Signalled(BaseException):
    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Raises the signals that end a process, in the only thread that Python tells of them."""

    def end(number: int, _: object) -> NoReturn:
        raise _Signalled(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
