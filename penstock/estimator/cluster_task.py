"""Which task of which cluster this process is: what the variable TF_CONFIG says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.train.server_lib import ClusterSpec

LOCAL_MASTER = ""


class TaskType:
    """The jobs of a cluster that trains."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


@dataclass(frozen=True)
class ClusterTask:
    """A task, the cluster it is in, and the sessions it opens."""

    cluster_spec: Any
    task_type: str | None  # None for the one client that works for all tasks
    task_id: int | None
    global_id_in_cluster: int | None
    master: str
    evaluation_master: str
    num_ps_replicas: int
    num_worker_replicas: int
    is_chief: bool
    service: dict[str, Any] | None

    @classmethod
    def of(cls, tf_config: Mapping[str, Any], *, has_strategy: bool = False) -> ClusterTask:
        """The task that TF_CONFIG describes; without a cluster, one that works alone.

        Tasks that train by a strategy need no chief: the first worker is theirs then.
        """
        service = tf_config.get("service")
        if service is not None and not isinstance(service, dict):
            raise TypeError(
                f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}'
            )
        cluster = ClusterSpec(tf_config.get("cluster", {}))
        if not cluster:
            return cls._alone(cluster, tf_config, service)
        return cls._in_cluster(cluster, tf_config, service, has_strategy)

    @classmethod
    def _alone(cls, cluster: Any, tf_config: Mapping[str, Any], service: Any) -> ClusterTask:
        task = tf_config.get("task", {})
        if task.get("type", TaskType.WORKER) != TaskType.WORKER:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
        if int(task.get("index", 0)) != 0:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        return cls(
            cluster_spec=cluster,
            task_type=TaskType.WORKER,
            task_id=0,
            global_id_in_cluster=0,
            master=tf_config.get("session_master", LOCAL_MASTER),
            evaluation_master=tf_config.get("eval_session_master", LOCAL_MASTER),
            num_ps_replicas=0,
            num_worker_replicas=1,
            is_chief=True,
            service=service,
        )

    @classmethod
    def _in_cluster(
        cls, cluster: Any, tf_config: Mapping[str, Any], service: Any, has_strategy: bool
    ) -> ClusterTask:
        chief = TaskType.MASTER if TaskType.MASTER in cluster.jobs else TaskType.CHIEF
        if chief == TaskType.MASTER and TaskType.CHIEF in cluster.jobs:
            raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        if chief in cluster.jobs or not has_strategy:
            _check_chief(cluster, chief)
        task_type, task_id = _checked_task(cluster, tf_config.get("task", {}))
        first_worker = task_type == TaskType.WORKER and task_id == 0
        is_evaluator = task_type == TaskType.EVALUATOR
        if is_evaluator and chief == TaskType.MASTER:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
            )
        jobs = cluster.as_dict()
        evaluation_master = tf_config.get("eval_session_master", LOCAL_MASTER)
        # An evaluator is no part of the cluster: it reads checkpoints.
        return cls(
            cluster_spec=ClusterSpec({}) if is_evaluator else cluster,
            task_type=task_type,
            task_id=task_id,
            global_id_in_cluster=None
            if is_evaluator
            else global_id(cluster, task_type, task_id, chief),
            master=LOCAL_MASTER
            if is_evaluator
            else _session_master(cluster, task_type, task_id, tf_config),
            evaluation_master=evaluation_master if is_evaluator else LOCAL_MASTER,
            num_ps_replicas=0 if is_evaluator else len(jobs.get(TaskType.PS, ())),
            num_worker_replicas=0
            if is_evaluator
            else len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(chief, ())),
            is_chief=task_type == chief or (first_worker and chief not in cluster.jobs),
            service=service,
        )


def _check_chief(cluster: Any, chief: str) -> None:
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')


def _checked_task(cluster: Any, task: Mapping[str, Any]) -> tuple[str, int]:
    task_type, task_id = task.get("type"), task.get("index")
    if not task_type:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task_id is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_id = int(task_id)
    if task_id < 0:
        raise ValueError("Task index must be non-negative number.")
    note = "Note that these values may be coming from the TF_CONFIG environment variable."
    if task_type != TaskType.EVALUATOR:
        if task_type not in cluster.jobs:
            raise ValueError(
                f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{note}"
            )
        if task_id >= len(cluster.job_tasks(task_type)):
            raise ValueError(
                f"{task_id} is not a valid task_id for task_type {task_type} in the "
                f"cluster_spec:\n{cluster}\n\n{note}"
            )
    return task_type, task_id


def _session_master(
    cluster: Any, task_type: str, task_id: int, tf_config: Mapping[str, Any]
) -> str:
    if "session_master" in tf_config:
        return str(tf_config["session_master"])
    jobs = cluster.jobs
    if len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1:
        return LOCAL_MASTER
    return f"grpc://{cluster.job_tasks(task_type)[task_id]}"


def global_id(cluster: Any, task_type: str, task_id: int, chief: str) -> int:
    """The number of a task among all: the chief, then other jobs by name, then the servers."""

    def rank(job: str) -> tuple[bool, bool, str]:
        return job == TaskType.PS, job != chief, job

    before = 0
    for job in sorted(cluster.jobs, key=rank):
        if job == task_type:
            break
        before += len(cluster.job_tasks(job))
    return before + task_id
