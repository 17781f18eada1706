"""A slot of a Slurm allocation as a task of a job; the job's script has srun run this module."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.distributed.launch.bound_process import bound_command
from penstock.distributed.launch.job import Job, Task, restart_delay, shell_status

_EVALUATOR = "evaluator"


def hosts_of(nodes: str) -> list[str]:
    """The names in a list of Slurm's, as `gpu[01-03,7],rack[0-1]n[1-2]`."""
    parts = re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodes)
    return [name for part in parts for name in _names_of(part)]


def _names_of(part: str) -> list[str]:
    match = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)
    if match is None:
        return [part]
    prefix, ranges, rest = match.groups()
    found: list[str] = []
    for entry in ranges.split(","):
        first, _, last = entry.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        heads = [f"{prefix}{number:0{len(first)}d}" for number in numbers]
        found += [head + tail for head in heads for tail in _names_of(rest)]
    return found


def tasks_of_nodes(text: str) -> list[int]:
    """How many tasks each node has, from Slurm's way to say so: `2(x3),1`."""
    found: list[int] = []
    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        found += [int(count)] * int(times or 1)
    return found


def place_of(environment: Mapping[str, str]) -> tuple[Job, Task]:
    """The job, and which of its tasks this one is.

    Slurm numbers the tasks of a step node by node (`--distribution=block`); the job's tasks take
    them in turn. A node's first task has the job's port, its next one the next.
    """

    def of_step(name: str) -> str:
        return environment.get(f"SLURM_STEP_{name}") or environment[f"SLURM_{name}"]

    counts: dict[str, int] = json.loads(environment["PENSTOCK_SLURM_COUNTS"])
    port = int(environment["PENSTOCK_SLURM_PORT"])
    nodes = environment.get("SLURM_STEP_NODELIST") or environment["SLURM_JOB_NODELIST"]
    filled = zip(hosts_of(nodes), tasks_of_nodes(of_step("TASKS_PER_NODE")), strict=True)
    slots = iter([f"{host}:{port + n}" for host, count in filled for n in range(count)])
    places = [(Task(kind, i), next(slots)) for kind, n in counts.items() for i in range(n)]
    addresses: dict[str, list[str]] = {}
    for task, address in places:
        addresses.setdefault(task.kind, []).append(address)
    evaluator = addresses.pop(_EVALUATOR, None) is not None
    return Job(addresses, evaluator=evaluator), places[int(environment["SLURM_PROCID"])][0]


class _Slot:
    """Runs a task's program until it has come to its end, or has failed too often."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], restarts: int):
        self._command = bound_command(list(command))
        self._environment = dict(environment)
        self._restarts = restarts
        self._process: subprocess.Popen[bytes] | None = None
        self._signalled = 0

    def _hand_on(self, number: int, _: Any) -> None:
        """Ends the program as Slurm ends this process; it is not started again."""
        self._signalled = number
        if self._process is not None:
            self._process.send_signal(number)

    def run(self) -> int:
        """The exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hand_on)
        failures = 0
        while not self._signalled:
            self._process = subprocess.Popen(self._command, env=self._environment)
            status = self._process.wait()
            if status == 0:
                return 0
            failures += 1
            if failures > self._restarts and not self._signalled:
                return shell_status(status)
            if not self._signalled:
                delay = restart_delay(failures)
                sys.stderr.write(f"It ended with status {status}; again in {delay:g} s\n")
                time.sleep(delay)
        return 128 + self._signalled


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program of this slot's task; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--flags", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    job, task = place_of(os.environ)
    flags = job.flags(task) if options.flags else []
    environment = {**os.environ, "TF_CONFIG": job.tf_config(task), "PYTHONUNBUFFERED": "1"}
    return _Slot([*options.command, *flags], environment, options.restarts).run()


if __name__ == "__main__":
    sys.exit(main())
