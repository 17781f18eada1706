"""Estimators whose strategies learn of the cluster in TF_CONFIG from a coordinator.

A strategy may have been made before TF_CONFIG was set, or be one that can't read it. A task then
works with a copy of the Estimator, whose strategy the coordinator has told of the cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from penstock.distribute import worker_session
from penstock.distribute.coordinator import CoordinatorMode, run_distribute_coordinator
from penstock.distribute.worker_context import get_current_worker_context
from penstock.estimator.cluster_task import ClusterTask, TaskType, global_id
from penstock.train.server_lib import ClusterSpec

__all__ = [
    "init_run_config",
    "is_left_to_coordinator",
    "should_run_distribute_coordinator",
    "train_and_evaluate",
]


# Configurations -----------------------------------------------------------------------------------


def init_run_config(config: Any, tf_config: Mapping[str, Any]) -> None:
    """Notes in a configuration with strategies how a coordinator would run it."""
    config._distribute_coordinator_mode = coordinator_mode(
        tf_config, config.train_distribute, config._experimental_distribute
    )


def coordinator_mode(
    tf_config: Mapping[str, Any], train_distribute: Any, options: Any
) -> str | None:
    """Who would call a coordinator: one client for all tasks, each task for itself, or nobody."""
    if options is not None and options.remote_cluster:
        return CoordinatorMode.STANDALONE_CLIENT
    jobs = tf_config.get("cluster", {})
    if not jobs or TaskType.MASTER in jobs or not train_distribute:
        return None
    return CoordinatorMode.INDEPENDENT_WORKER


def should_run_distribute_coordinator(config: Any) -> bool:
    """Whether training is the work of several tasks by a strategy."""
    mode = getattr(config, "_distribute_coordinator_mode", None)
    return mode is not None and bool(config.train_distribute)


def is_left_to_coordinator(mode: str | None, train_distribute: Any) -> bool:
    """Whether a strategy of this task has still to be told of the cluster."""
    if mode != CoordinatorMode.INDEPENDENT_WORKER:
        return False
    return not worker_session.works_with_others(train_distribute)


# The work of tasks --------------------------------------------------------------------------------


def train(estimator: Any, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]) -> Any:
    """Does this task's part of training; the last loss, if it has one."""

    def worker(strategy: Any) -> Any:
        own = for_training(estimator, strategy)
        return own._train_model(input_fn, copy.deepcopy(hooks), copy.deepcopy(saving_listeners))

    return _coordinated(estimator, worker, estimator._train_distribution)


def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any, executor: Any) -> Any:
    """Does this task's part: workers train, an evaluator evaluates, others serve.

    Args:
      executor: makes, of an Estimator and both specs, what evaluates checkpoints as they come.
    """

    def worker(strategy: Any) -> Any:
        return for_training(estimator, strategy).train(
            input_fn=train_spec.input_fn,
            max_steps=train_spec.max_steps,
            hooks=copy.deepcopy(list(train_spec.hooks)),
        )

    def evaluator(strategy: Any) -> Any:
        own = for_evaluation(estimator, strategy)
        return executor(own, train_spec, eval_spec).run_evaluator()

    strategies = (estimator._train_distribution, evaluator, estimator._eval_distribution)
    return _coordinated(estimator, worker, *strategies)


def _coordinated(
    estimator: Any, worker: Any, strategy: Any, evaluator: Any = None, eval_strategy: Any = None
) -> Any:
    return run_distribute_coordinator(
        worker,
        strategy,
        evaluator,
        eval_strategy,
        mode=CoordinatorMode.INDEPENDENT_WORKER,
        session_config=estimator._config.session_config,
    )


def for_training(estimator: Any, strategy: Any) -> Any:
    """A copy of an Estimator that trains by a strategy, for a coordinator's current task."""
    own = _of_task(estimator)
    own._config._train_distribute = own._train_distribution = strategy
    return own


def for_evaluation(estimator: Any, strategy: Any) -> Any:
    """A copy of an Estimator that evaluates by a strategy, for that task."""
    own = _of_task(estimator)
    own._config._eval_distribute = own._eval_distribution = strategy
    return own


def _of_task(estimator: Any) -> Any:
    """A copy of an Estimator for the task whose work this is, without strategies."""
    own = copy.deepcopy(estimator)
    config = own._config
    config._experimental_distribute = config._train_distribute = config._eval_distribute = None
    own._train_distribution = own._eval_distribution = None
    config._distribute_coordinator_mode, config._is_coordinated = None, False
    config._task = _task_of_context()
    return own


def _task_of_context() -> ClusterTask:
    context = get_current_worker_context()
    assert context is not None
    cluster = context.cluster_spec or ClusterSpec({})
    jobs, job, number = cluster.as_dict(), context.task_type, context.task_id
    is_evaluator = job == TaskType.EVALUATOR
    chief = TaskType.MASTER if TaskType.MASTER in jobs else TaskType.CHIEF
    place = 0 if job is None or number is None else global_id(cluster, job, number, chief)
    return ClusterTask(
        cluster_spec=cluster,
        task_type=job,
        task_id=number,
        global_id_in_cluster=None if is_evaluator else place,
        master=context.master_target,
        evaluation_master=context.master_target,
        num_ps_replicas=0 if is_evaluator else len(jobs.get(TaskType.PS, ())),
        num_worker_replicas=0 if is_evaluator else context.num_workers,
        is_chief=context.is_chief,
        service=None,
    )
