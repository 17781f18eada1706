"""What a worker's function is told of its task, while a coordinator runs it."""

from __future__ import annotations

import copy
import threading
from typing import Any

from penstock.platform import logging

_worker_context = threading.local()


def get_current_worker_context() -> WorkerContext | None:
    """The context of the worker whose function runs in this thread, if one does."""
    return getattr(_worker_context, "current", None)


class TaskType:
    """The kinds of tasks of a cluster."""

    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"
    CLIENT = "client"


def worker_number(cluster_spec: Any) -> int:
    """How many workers a cluster has, the chief among them."""
    if not cluster_spec:
        return 0
    tasks = cluster_spec.as_dict()
    return sum(len(tasks.get(job, [])) for job in (TaskType.WORKER, TaskType.CHIEF))


class WorkerContext:
    """A task, as the code that runs for it sees it; a `with` block makes it the current one.

    Args:
      strategy: the strategy of the worker, told of its task.
      cluster_spec: the cluster, or None without one.
      task_type: None where one client works for all.
      session_config: the ConfigProto that sessions begin with.
      worker_barrier: where the workers of this process meet.
    """

    def __init__(
        self,
        strategy: Any,
        cluster_spec: Any,
        task_type: str | None,
        task_id: int | None,
        session_config: Any = None,
        rpc_layer: str | None = "grpc",
        worker_barrier: Any = None,
    ):
        self._strategy = strategy
        self._cluster_spec = cluster_spec
        self.task_type = task_type
        self.task_id = task_id
        self._session_config = session_config
        self._worker_barrier = worker_barrier
        self._rpc_layer = rpc_layer
        self.master_target = self._get_master_target()
        self.num_workers = worker_number(cluster_spec)
        self.is_chief = self._is_chief()

    def __enter__(self) -> None:
        if get_current_worker_context() is not None:
            task = f"task_type: {self.task_type!r}, task_id: {self.task_id!r}"
            cluster = self._cluster_spec
            where = f"[cluster_spec: {cluster!r}, {task}]" if cluster else "[local]"
            raise ValueError(f"You cannot run distribute coordinator in a `worker_fn`.\t{where}")
        _worker_context.current = self

    def __exit__(self, *exception: object) -> None:
        _worker_context.current = None

    def _get_master_target(self) -> str:
        """The address that sessions connect to: the task's own, or that of the first worker."""
        if not self._cluster_spec:
            return ""
        job, place = self.task_type, self.task_id or 0
        if not job:
            has_chief = TaskType.CHIEF in self._cluster_spec.jobs
            job, place = TaskType.CHIEF if has_chief else TaskType.WORKER, 0
        prefix = f"{self._rpc_layer}://" if self._rpc_layer else ""
        return f"{prefix}{self._cluster_spec.job_tasks(job)[place]}"

    def _is_chief(self) -> bool:
        if not self._cluster_spec or self.task_type in (TaskType.CHIEF, TaskType.EVALUATOR, None):
            return True
        has_chief = TaskType.CHIEF in self._cluster_spec.jobs
        return not has_chief and self.task_type == TaskType.WORKER and self.task_id == 0

    def wait_for_other_workers(self) -> None:
        """Waits until all workers of this process have come here."""
        if self._worker_barrier is not None:
            self._worker_barrier.wait()

    def session_creator(
        self,
        scaffold: Any = None,
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        max_wait_secs: int = 7200,
    ) -> Any:
        """What makes the session of a `MonitoredSession` for this task."""
        from penstock.train.monitored_session import ChiefSessionCreator, WorkerSessionCreator

        settings = self._session_config
        if config is not None:
            settings = copy.deepcopy(config)
            settings.MergeFrom(self._session_config)
        if not self._strategy or self._strategy.extended.experimental_should_init:
            logging.info("Creating chief session creator with config: %r", config)
            return ChiefSessionCreator(
                scaffold,
                master=self.master_target,
                config=settings,
                checkpoint_dir=checkpoint_dir,
                checkpoint_filename_with_path=checkpoint_filename_with_path,
            )
        logging.info("Creating worker session creator with config: %r", config)
        return WorkerSessionCreator(
            scaffold, master=self.master_target, config=settings, max_wait_secs=max_wait_secs
        )

    @property
    def session_config(self) -> Any:
        return copy.deepcopy(self._session_config)

    @property
    def has_barrier(self) -> bool:
        """Whether `wait_for_other_workers` waits."""
        return self._worker_barrier is not None

    @property
    def distributed_mode(self) -> bool:
        """Whether the task takes part in training on a cluster."""
        return bool(self._cluster_spec) and self.task_type != TaskType.EVALUATOR

    @property
    def cluster_spec(self) -> Any:
        return copy.deepcopy(self._cluster_spec)

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initializes variables."""
        return bool(self._strategy.extended.experimental_should_init)

    @property
    def should_checkpoint(self) -> bool:
        return bool(self._strategy.extended.should_checkpoint)

    @property
    def should_save_summary(self) -> bool:
        return bool(self._strategy.extended.should_save_summary)
