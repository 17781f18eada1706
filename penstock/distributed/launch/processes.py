"""A job as processes of this machine: started, watched, restarted, and ended together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue

from penstock.distributed.launch.bound_process import bound_command
from penstock.distributed.launch.job import SERVES, Job, JobRun, Task
from penstock.distributed.launch.loop import JobLoop, Printer
from penstock.platform.processors import processors

_GRACE_SECONDS = 5.0  # that a task has to end after it is asked to


def free_addresses(count: int, host: str = "localhost") -> list[str]:
    """Addresses of this machine with ports that nobody uses now.

    Args:
      count: how many.
      host: what others call this machine.
    """
    interface = "127.0.0.1" if host == "localhost" else ""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((interface, 0))
        return [f"{host}:{each.getsockname()[1]}" for each in sockets]
    finally:
        for each in sockets:
            each.close()


def kernel_threads_of(job: Job, processors: int) -> int:
    """How many threads the kernels of each task are spread over, where all tasks share a machine.

    Those that serve have their work while the others wait for it. More threads than processors
    would wait for each other busily: that makes a step ten and twenty times as long.
    """
    working = sum(task.kind not in SERVES for task in job.tasks)
    return max(1, processors // max(1, working))


class LocalTasks:
    """The tasks of a job as processes.

    Args:
      job: which tasks.
      command: what each task runs.
      printer: where their lines go.
      with_flags: whether to tell a task its place by flags, too, as the tutorials' programs want.
    """

    def __init__(
        self, job: Job, command: Sequence[str], printer: Printer, *, with_flags: bool = False
    ):
        self._job = job
        self._command = list(command)
        self._printer = printer
        self._with_flags = with_flags
        self._threads = str(kernel_threads_of(job, processors()))
        self._processes: dict[Task, subprocess.Popen[str]] = {}
        self.ended: SimpleQueue[tuple[Task, int]] = SimpleQueue()

    def start(self, task: Task) -> None:
        flags = self._job.flags(task) if self._with_flags else []
        process = subprocess.Popen(
            bound_command([*self._command, *flags]),
            env={
                "OMP_NUM_THREADS": self._threads,  # unless the user says another number
                **os.environ,
                "TF_CONFIG": self._job.tf_config(task),
                "PYTHONUNBUFFERED": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is ours to hand on
        )
        self._processes[task] = process
        threading.Thread(target=self._follow, args=(task, process), daemon=True).start()

    def _follow(self, task: Task, process: subprocess.Popen[str]) -> None:
        reading = threading.Thread(target=self._read, args=(task, process), daemon=True)
        reading.start()
        status = process.wait()
        # What a task has started would hold its port and its output, and goes with it.
        _signal(process, signal.SIGKILL)
        reading.join()
        self.ended.put((task, status))

    def _read(self, task: Task, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._printer.line(task, line.rstrip())

    def end_all(self) -> None:
        running = [each for each in self._processes.values() if each.poll() is None]
        for process in running:
            _signal(process, signal.SIGTERM)
            _signal(process, signal.SIGCONT)  # one that is stopped would not see it
        limit = time.monotonic() + _GRACE_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
                process.wait()


def run_locally(
    job: Job,
    command: Sequence[str],
    *,
    with_flags: bool = False,
    restarts: int = 3,
    logs: str | None = None,
) -> int:
    """Runs a job's tasks as processes of this machine; the job's exit status.

    Args:
      job: which tasks.
      command: what each task runs.
      with_flags: whether to tell a task its place by flags, too.
      restarts: how often a task may fail.
      logs: a folder for a file of each task's lines.
    """
    printer = Printer(logs)
    tasks = LocalTasks(job, command, printer, with_flags=with_flags)
    return JobLoop(JobRun(job, restarts), tasks, printer).run()


def _signal(process: subprocess.Popen[str], number: int) -> None:
    """Signals a task with all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
