"""The tasks of a cluster as strategies see them: workers, who leads, who is which."""

from __future__ import annotations

from typing import Any

from penstock.distribute.worker_context import WorkerContext, get_current_worker_context
from penstock.distributed.cluster_spec import ClusterSpec

_WORKING = ("chief", "worker", "master")


def normalized(cluster_spec: Any) -> ClusterSpec:
    """A ClusterSpec of whatever describes one; it has one chief, and one evaluator, at most."""
    try:
        spec = ClusterSpec(cluster_spec)
    except TypeError:
        raise ValueError(
            "`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a "
            "`tf.train.ClusterDef` object"
        ) from None
    for job in ("chief", "evaluator"):
        if job in spec.jobs and spec.num_tasks(job) > 1:
            raise ValueError(f"There must be at most one {job!r} job.")
    return spec


normalize_cluster_spec = normalized


def _checked(cluster_spec: Any, task_type: str | None, task_id: int | None) -> ClusterSpec:
    """The ClusterSpec, which must have the task."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` should be `None`.")
    spec = normalized(cluster_spec)
    if task_type not in (*_WORKING, "evaluator", "ps"):
        raise ValueError(
            f"Unrecognized task_type: {task_type!r}, valid task types are: "
            '"chief", "worker", "evaluator" and "ps".'
        )
    if task_type not in spec.jobs:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    if task_id >= spec.num_tasks(task_type):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return spec


def worker_count(cluster_spec: Any, task_type: str) -> int:
    """How many tasks take part in what a task of this type does."""
    spec = _checked(cluster_spec, task_type, 0)
    if task_type == "ps":
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    if task_type == "evaluator":
        return spec.num_tasks("evaluator")
    return sum(spec.num_tasks(job) for job in _WORKING if job in spec.jobs)


def is_chief(
    cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None
) -> bool:
    """Whether a task is the one that saves and initializes; without one, the task that runs."""
    if cluster_spec is None and task_type is None and task_id is None and has_worker_context():
        return _task_here().is_chief
    spec = _checked(cluster_spec, task_type, task_id)
    if task_type in ("chief", "master", "evaluator"):
        return True
    leads = "chief" not in spec.jobs and "master" not in spec.jobs
    return leads and task_type == "worker" and task_id == 0


def id_in_cluster(cluster_spec: Any, task_type: str, task_id: int) -> int:
    """The number of a task among those that do the same."""
    spec = _checked(cluster_spec, task_type, task_id)
    if task_type == "ps":
        raise ValueError(f"There is no id for task_type {task_type!r}")
    if task_type == "worker":
        return task_id + sum(spec.num_tasks(job) for job in ("chief", "master") if job in spec.jobs)
    return task_id


def collective_leader(cluster_spec: Any, task_type: str, task_id: int) -> str:
    """The task that collective groups are formed by; none for an evaluator, which is alone."""
    if not normalized(cluster_spec).as_dict():
        return ""
    spec = _checked(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    first = next((job for job in ("chief", "master") if job in spec.jobs), "worker")
    return f"/job:{first}/replica:0/task:0"


def told_gpus(resolver: Any) -> int | None:
    """How many GPUs a worker has by what a resolver was told; None if it was not."""
    told = getattr(resolver, "_num_accelerators", None)
    return None if told is None else int(told.get("GPU", 0))


# The task that runs -------------------------------------------------------------------------------


def has_worker_context() -> bool:
    """Whether this is called by what a coordinator runs for a task."""
    return get_current_worker_context() is not None


def _task_here() -> WorkerContext:
    context = get_current_worker_context()
    if context is None:
        raise ValueError("This is no task's work: nobody but a coordinator's `worker_fn` asks.")
    return context


def should_save_checkpoint() -> bool:
    """Whether the task that runs writes checkpoints for all."""
    return _task_here().should_checkpoint


def should_load_checkpoint() -> bool:
    """Whether the task that runs sets variables from checkpoints."""
    return _task_here().experimental_should_init


def wait_for_other_workers() -> None:
    """Waits until all workers of this process have come here."""
    _task_here().wait_for_other_workers()
