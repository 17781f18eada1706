"""`tf.train.ClusterSpec`: the jobs of a cluster and the addresses of their tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock import proto

__all__ = ["ClusterSpec"]


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value


def _tasks(job_name: Any, tasks: Any) -> dict[int, Any]:
    """The tasks of a job by index; a list numbers them from 0."""
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return dict(tasks)
    raise TypeError(
        f"The tasks for job {job_name!r} must be a list or a dictionary from integers to strings."
    )


class ClusterSpec:
    """The jobs of a cluster, each with the network addresses of its tasks.

    >>> tf.train.ClusterSpec({"ps": ["ps0:2222"], "worker": ["worker0:2222", "worker1:2222"]})

    Args:
      cluster: job names to lists of addresses, or to dictionaries of addresses by task index where
        not all are known; or a `ClusterDef`, or another `ClusterSpec`.
    """

    def __init__(self, cluster: Any):
        jobs: Mapping[Any, dict[int, Any]]
        if isinstance(cluster, ClusterSpec):
            jobs = cluster._cluster_spec
        elif isinstance(cluster, dict):
            jobs = {name: _tasks(name, tasks) for name, tasks in cluster.items()}
        elif isinstance(cluster, proto.ClusterDef):
            jobs = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )
        self._cluster_spec: dict[Any, dict[int, Any]] = {
            name: dict(tasks) for name, tasks in jobs.items()
        }
        self._cluster_def = self._make_cluster_def()

    def _make_cluster_def(self) -> Any:
        message = proto.ClusterDef()
        for name, tasks in sorted(self._cluster_spec.items()):
            job = message.job.add(name=_text(name, "Job name"))
            for index, address in sorted(tasks.items()):
                job.tasks[index] = _text(address, "Task address")
        return message

    def __bool__(self) -> bool:
        return bool(self._cluster_spec)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClusterSpec):
            return self._cluster_spec == other._cluster_spec
        return self._cluster_spec == other

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        jobs = self.as_dict()
        items = ", ".join(f"{name!r}: {jobs[name]!r}" for name in sorted(jobs))
        return f"ClusterSpec({{{items}}})"

    # Programs compare configurations by the texts of their fields.
    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """Addresses by job: a list where all tasks from 0 on are known, else by index."""
        found: dict[str, Any] = {}
        for name in self.jobs:
            indices = self.task_indices(name)
            if not indices:
                found[name] = {}
            elif indices[-1] + 1 == len(indices):
                found[name] = self.job_tasks(name)
            else:
                found[name] = dict(sorted(self._job(name).items()))
        return found

    def as_cluster_def(self) -> Any:
        """The cluster as a `ClusterDef` message."""
        return self._cluster_def

    @property
    def jobs(self) -> list[Any]:
        """The names of the jobs."""
        return list(self._cluster_spec)

    def _job(self, job_name: str) -> dict[int, Any]:
        try:
            return self._cluster_spec[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks, sorted."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> Any:
        """The address of one task."""
        job = self._job(job_name)
        try:
            return job[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[Any]:
        """The addresses of a job's tasks; None where an index has none."""
        job = self._job(job_name)
        return [job.get(index) for index in range(max(job) + 1)]
