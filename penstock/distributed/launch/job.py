"""A job: its tasks, what each is told, and what happens when one of them ends.

`JobRun` is pure: events in, actions out. Who starts processes asks it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SERVES = ("ps",)  # tasks that run until the others are done


@dataclass(frozen=True, order=True)
class Task:
    """One task of a job."""

    kind: str
    index: int

    def __str__(self) -> str:
        return f"{self.kind} {self.index}"


@dataclass(frozen=True)
class Job:
    """How many tasks of each kind, and the address of each in a cluster."""

    addresses: Mapping[str, Sequence[str]]
    evaluator: bool = False

    @property
    def tasks(self) -> list[Task]:
        found = [Task(kind, i) for kind, hosts in self.addresses.items() for i in range(len(hosts))]
        return [*found, Task("evaluator", 0)] if self.evaluator else found

    def tf_config(self, task: Task) -> str:
        """The value of TF_CONFIG for a task; the evaluator is outside of the cluster."""
        return json.dumps(
            {
                "cluster": {kind: list(hosts) for kind, hosts in self.addresses.items()},
                "task": {"type": task.kind, "index": task.index},
            }
        )

    def flags(self, task: Task) -> list[str]:
        """The flags that the programs of TensorFlow's tutorials take."""
        hosts = [f"--{kind}_hosts={','.join(each)}" for kind, each in self.addresses.items()]
        return [*hosts, f"--job_name={task.kind}", f"--task_index={task.index}"]


class Start(NamedTuple):
    """Start a task, after so many seconds."""

    task: Task
    delay: float


class Finish(NamedTuple):
    """End what still runs; the job's exit status."""

    status: int


Action = Start | Finish


def shell_status(status: int) -> int:
    """The exit status of a process as shells have it: 128 and its number for a signal."""
    return status if status >= 0 else 128 - status


def restart_delay(failures: int) -> float:
    """The seconds until a task that has failed so often is started again."""
    return min(30.0, 0.5 * 2 ** (failures - 1))


@dataclass
class JobRun:
    """A job under way.

    1. A task that fails is started again, later each time, at most `restarts` times.
    2. The job is done when all tasks that work are; those that only serve are ended then.
    3. It has failed when a task has failed too often.
    """

    job: Job
    restarts: int = 3
    failures: dict[Task, int] = field(default_factory=dict)
    done: set[Task] = field(default_factory=set)

    def begin(self) -> list[Action]:
        """Tasks that serve first: the others look for them."""
        ordered = sorted(self.job.tasks, key=lambda task: task.kind not in SERVES)
        return [Start(task, 0.0) for task in ordered]

    def ended(self, task: Task, status: int) -> list[Action]:
        """A task's process has ended."""
        if status == 0:
            self.done.add(task)
            working = [each for each in self.job.tasks if each.kind not in SERVES]
            return [Finish(0)] if working and self.done.issuperset(working) else []
        self.failures[task] = self.failures.get(task, 0) + 1
        if self.failures[task] > self.restarts:
            return [Finish(shell_status(status))]
        return [Start(task, restart_delay(self.failures[task]))]
