"""What runs inside Ray for a job: an actor for each task, and one that knows the job's addresses.

Plain classes; `ray_jobs` makes actors of them. Ray finds them by name on the nodes, where Penstock
is installed, too.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from penstock.distributed.launch.bound_process import bound_command
from penstock.distributed.launch.processes import free_addresses

_LINES_AT_ONCE = 100


class Place(NamedTuple):
    """Where an actor is."""

    node: str
    host: str


class TaskActor:
    """One task: its process ends with the actor's, and the actor's may be killed at any time."""

    def place(self) -> Place:
        """The node that Ray has put this actor on."""
        import ray

        return Place(ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address())

    def free_address(self, host: str) -> str:
        """An address of this node with a port that nobody uses now."""
        return free_addresses(1, host)[0]

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: str | None
    ) -> Iterator[list[str] | int]:
        """Runs Penstock's command line; lists of lines as they are printed, then the status."""
        command = [sys.executable, "-m", "penstock", *arguments]
        process = subprocess.Popen(
            bound_command(command),
            env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        threading.Thread(target=_end_the_rest, args=(process,), daemon=True).start()
        more = True
        while more:
            batch, more = _next_batch(lines)
            if batch:
                yield batch
        yield process.wait()


class JobBoard:
    """Knows where the tasks of a job are, for whoever looks for it by the job's name."""

    def __init__(self) -> None:
        self._addresses: dict[str, list[str]] = {}

    def set(self, addresses: dict[str, list[str]]) -> None:
        self._addresses = addresses

    def get(self) -> dict[str, list[str]]:
        return self._addresses


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    with process.stdout as printed:
        for line in printed:
            lines.put(line.rstrip())
    lines.put(None)


def _end_the_rest(process: subprocess.Popen[str]) -> None:
    """Ends what a task has started when it is over: that would hold its port and its output."""
    process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _next_batch(lines: queue.SimpleQueue[str | None]) -> tuple[list[str], bool]:
    """The lines that are there, at least one; and whether there may be more."""
    batch: list[str] = []
    line = lines.get()
    while line is not None:
        batch.append(line)
        if lines.empty() or len(batch) == _LINES_AT_ONCE:
            return batch, True
        line = lines.get()
    return batch, False
