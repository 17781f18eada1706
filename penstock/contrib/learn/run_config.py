"""`tf.contrib.learn.RunConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.estimator.cluster_task import ClusterTask
from penstock.estimator.run_config import RunConfig as CoreRunConfig
from penstock.train.server_lib import ClusterSpec

_DEFAULT_UID_WHITE_LIST = [
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
]


class Environment:
    """Where a program runs."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


class TaskType:
    """The jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class RunConfig(CoreRunConfig):
    """A `tf.estimator.RunConfig` with the arguments and the clusters of `tf.contrib.learn`.

    A cluster has no chief here: in the cloud it is the master, elsewhere the first worker.

    Args:
      master: the target of sessions.
      num_cores: how many threads a session uses; as many as there are cores if 0.
      log_device_placement: whether to log where operations run.
      gpu_memory_fraction: how much of a GPU's memory to use.
      evaluation_master: the target of sessions for evaluation.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: int | None = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ):
        self._given_masters = master, evaluation_master
        self._tf_config = tf.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        if save_checkpoints_secs == 0:  # the default
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )

    def _task_of(self, tf_config: Mapping[str, Any], has_strategy: bool = False) -> ClusterTask:
        self.environment = tf_config.get("environment", Environment.LOCAL)
        cluster = ClusterSpec(tf_config.get("cluster", {}))
        task = tf_config.get("task", {})
        task_type, task_id = task.get("type"), int(task.get("index") or 0)
        master, evaluation_master = self._given_masters
        chief = TaskType.MASTER if self.environment == Environment.CLOUD else TaskType.WORKER
        jobs = cluster.as_dict()
        workers = len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(TaskType.MASTER, ()))
        return ClusterTask(
            cluster_spec=cluster,
            task_type=task_type,
            task_id=task_id,
            global_id_in_cluster=None,
            master=_master(cluster, task_type, task_id) if master is None else master,
            evaluation_master=evaluation_master or "",
            num_ps_replicas=len(jobs.get(TaskType.PS, ())),
            num_worker_replicas=workers,
            is_chief=task_id == 0 and task_type in (None, chief),
            service=None,
        )

    @property
    def tf_config(self) -> Any:
        """A `ConfigProto` with the threads and the GPU's memory that were asked for."""
        return self._tf_config

    def uid(self, whitelist: Any = None) -> str:
        """A text that is the same for configurations that differ in unimportant things only."""
        ignored = {f"_{name}" for name in whitelist or _DEFAULT_UID_WHITE_LIST}
        state = sorted((k, v) for k, v in vars(self).items() if k not in ignored | {"_task"})
        cluster = sorted(self.cluster_spec.as_dict().items())
        return ", ".join(f"{key}={value!r}" for key, value in [*state, ("_cluster_spec", cluster)])


def _master(cluster: Any, task_type: str | None, task_id: int) -> str:
    if not cluster or not task_type:
        return ""
    jobs = cluster.jobs
    if len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1:
        return ""
    note = "Note that these values may be coming from the TF_CONFIG environment variable."
    if task_type not in jobs:
        raise ValueError(
            f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{note}"
        )
    addresses = cluster.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n"
            f"{cluster}\n\n{note}"
        )
    return f"grpc://{addresses[task_id]}"
