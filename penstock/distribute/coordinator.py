"""`run_distribute_coordinator`: runs a function for the tasks of a cluster, as a strategy asks.

There are two ways. A *standalone client* works for the whole cluster: for each worker in a thread
of its own where a strategy builds a graph per worker, else once for all. *Independent workers* are
processes that each call the coordinator, and run servers besides.
"""

from __future__ import annotations

import copy
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

from penstock.distribute.clusters import normalize_cluster_spec
from penstock.distribute.worker_context import (
    TaskType,
    WorkerContext,
    worker_number,
)
from penstock.ir import defaults
from penstock.ir.graph import Graph
from penstock.platform import logging
from penstock.proto import ConfigProto

__all__ = ["CoordinatorMode", "run_distribute_coordinator", "run_standard_tensorflow_server"]

_TaskType = TaskType
_WorkerContext = WorkerContext
_get_num_workers = worker_number
_thread_local = threading.local()

Worker = Callable[[Any], Any]


class CoordinatorMode:
    """Who calls the coordinator."""

    STANDALONE_CLIENT = "standalone_client"
    INDEPENDENT_WORKER = "independent_worker"


class _Barrier:
    """Where a number of threads wait for each other, as often as they like."""

    def __init__(self, num_participants: int):
        self._num_participants = num_participants
        self._counter = 0
        self._round = 0
        self._condition = threading.Condition()

    def wait(self) -> None:
        with self._condition:
            round_now = self._round
            self._counter += 1
            if self._counter == self._num_participants:
                self._counter = 0
                self._round += 1
                self._condition.notify_all()
            self._condition.wait_for(lambda: self._round != round_now)


def run_distribute_coordinator(
    worker_fn: Worker,
    strategy: Any,
    eval_fn: Worker | None = None,
    eval_strategy: Any = None,
    mode: str = CoordinatorMode.STANDALONE_CLIENT,
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str | None = "grpc",
) -> Any:
    """Runs `worker_fn(strategy)` for the tasks of a cluster, and servers where they are needed.

    Args:
      eval_fn: what an evaluator runs; `worker_fn` if None.
      mode: one of `CoordinatorMode`.
      cluster_spec: the cluster; that of the environment variable TF_CONFIG if None.
      session_config: the ConfigProto that sessions and servers begin with.
    """
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not cluster_spec:
        cluster_spec = told.get("cluster", {})
        if task := told.get("task", {}):
            task_type = task.get("type", task_type)
            task_id = int(task.get("index", task_id))
    cluster_spec = normalize_cluster_spec(cluster_spec) if cluster_spec else None
    rpc_layer = told.get("rpc_layer", rpc_layer)
    session_config = session_config or ConfigProto(allow_soft_placement=True)
    if cluster_spec is None:
        return _run_locally(worker_fn, strategy, eval_fn, eval_strategy, session_config, rpc_layer)
    logging.info(
        "Running Distribute Coordinator with mode = %r, cluster_spec = %r, task_type = %r, task_id "
        "= %r, rpc_layer = %r",
        mode,
        cluster_spec.as_dict(),
        task_type,
        task_id,
        rpc_layer,
    )
    if not eval_fn:
        logging.warning(
            '`eval_fn` is not passed in. The `worker_fn` will be used if an "evaluator" task '
            "exists in the cluster."
        )
    if not eval_strategy:
        logging.warning(
            "`eval_strategy` is not passed in. No distribution strategy will be used for "
            "evaluation."
        )
    evaluation = (eval_fn or worker_fn, eval_strategy)
    shared = (cluster_spec, session_config, rpc_layer)
    environment = told.get("environment")
    if mode == CoordinatorMode.INDEPENDENT_WORKER:
        task = (task_type, task_id)
        return _run_independent(worker_fn, strategy, evaluation, shared, task, environment)
    if mode != CoordinatorMode.STANDALONE_CLIENT:
        raise ValueError(f"Unexpected coordinator mode: {mode!r}")
    if task_type in (TaskType.CLIENT, None):
        if strategy.extended.experimental_between_graph:
            return _run_between_graph_client(worker_fn, strategy, *evaluation, *shared)
        return _run_in_graph_client(worker_fn, strategy, *evaluation, *shared)
    server = _start_server(strategy, eval_strategy, shared, task_type, task_id, environment)
    return server.join()


def _run_locally(
    worker_fn: Worker,
    strategy: Any,
    eval_fn: Worker | None,
    eval_strategy: Any,
    session_config: Any,
    rpc_layer: str | None,
) -> None:
    logging.info("Running local Distribute Coordinator.")
    _run_single_worker(worker_fn, strategy, None, None, None, session_config, rpc_layer)
    if eval_fn:
        _run_single_worker(eval_fn, eval_strategy, None, None, None, session_config, rpc_layer)
    else:
        logging.warning("Skipped evaluation since `eval_fn` is not passed in.")


def _run_independent(
    worker_fn: Worker,
    strategy: Any,
    evaluation: tuple[Worker, Any],
    shared: tuple[Any, Any, Any],
    task: tuple[str | None, int | None],
    environment: str | None,
) -> Any:
    """What one task of a cluster does whose tasks all call the coordinator."""
    cluster_spec, session_config, rpc_layer = shared
    task_type, task_id = task
    server = None
    if not getattr(strategy.extended, "_std_server_started", False):
        server = _start_server(strategy, evaluation[1], shared, task_type, task_id, environment)
    settings = (session_config, rpc_layer)
    if task_type in (TaskType.CHIEF, TaskType.WORKER):
        if strategy.extended.experimental_between_graph:
            return _run_single_worker(worker_fn, strategy, cluster_spec, *task, *settings)
        if WorkerContext(strategy, cluster_spec, *task).is_chief:
            return _run_single_worker(worker_fn, strategy, cluster_spec, None, None, *settings)
    elif task_type == TaskType.EVALUATOR:
        return _run_single_worker(*evaluation, cluster_spec, *task, *settings)
    elif task_type != TaskType.PS:
        raise ValueError(f"Unexpected task_type: {task_type!r}")
    return None if server is None else server.join()


# Workers ------------------------------------------------------------------------------------------


def _run_single_worker(
    worker_fn: Worker,
    strategy: Any,
    cluster_spec: Any,
    task_type: str | None,
    task_id: int | None,
    session_config: Any,
    rpc_layer: str | None = "",
    worker_barrier: Any = None,
    coord: Any = None,
) -> Any:
    """Runs a function for one task, with a copy of the strategy that is told of it."""
    session_config = copy.deepcopy(session_config)
    strategy = copy.deepcopy(strategy)
    if task_type == TaskType.EVALUATOR:
        if strategy:
            strategy.configure(session_config)
    else:
        assert strategy
        strategy.configure(session_config, cluster_spec, task_type, task_id)
    context = WorkerContext(
        strategy, cluster_spec, task_type, task_id, session_config, rpc_layer, worker_barrier
    )
    with context, _graph_of_thread():
        if coord is None:
            return worker_fn(strategy)
        with coord.stop_on_exception():
            return worker_fn(strategy)


def _graph_of_thread() -> AbstractContextManager[Any]:
    """A graph for the workers that run beside each other: the program's own is not for all."""
    if threading.current_thread() is threading.main_thread() or defaults.open_graphs():
        return nullcontext()
    return Graph().as_default()


def _worker_thread(*args: Any, **kwargs: Any) -> threading.Thread:
    """A thread that runs a worker's function."""
    thread = threading.Thread(target=_run_single_worker, args=args, kwargs=kwargs)
    thread.start()
    return thread


def _evaluation_threads(
    eval_fn: Worker, eval_strategy: Any, shared: tuple[Any, Any, Any], coord: Any
) -> list[threading.Thread]:
    cluster_spec, session_config, rpc_layer = shared
    if TaskType.EVALUATOR not in cluster_spec.jobs:
        return []
    task = (TaskType.EVALUATOR, 0)
    return [
        _worker_thread(
            eval_fn, eval_strategy, cluster_spec, *task, session_config, rpc_layer, coord=coord
        )
    ]


def _run_between_graph_client(
    worker_fn: Worker,
    strategy: Any,
    eval_fn: Worker,
    eval_strategy: Any,
    cluster_spec: Any,
    session_config: Any,
    rpc_layer: str | None,
) -> None:
    """Runs the function once for each worker, in threads."""
    from penstock.train.coordinator import Coordinator

    coord = Coordinator()
    shared = (cluster_spec, session_config, rpc_layer)
    threads = _evaluation_threads(eval_fn, eval_strategy, shared, coord)
    barrier = _Barrier(worker_number(cluster_spec))
    for job in (TaskType.CHIEF, TaskType.WORKER):
        for place in range(len(cluster_spec.as_dict().get(job, []))):
            task = (cluster_spec, job, place, session_config, rpc_layer)
            threads.append(_worker_thread(worker_fn, strategy, *task, barrier, coord))
    coord.join(threads)


def _run_in_graph_client(
    worker_fn: Worker,
    strategy: Any,
    eval_fn: Worker,
    eval_strategy: Any,
    cluster_spec: Any,
    session_config: Any,
    rpc_layer: str | None,
) -> Any:
    """Runs the function once, for all workers."""
    from penstock.train.coordinator import Coordinator

    coord = Coordinator()
    shared = (cluster_spec, session_config, rpc_layer)
    evaluating = _evaluation_threads(eval_fn, eval_strategy, shared, coord)
    task = (cluster_spec, None, None, session_config, rpc_layer)
    if not evaluating:  # an error is the caller's own
        return _run_single_worker(worker_fn, strategy, *task)
    result = _run_single_worker(worker_fn, strategy, *task, coord=coord)
    coord.join(evaluating)
    return result


# Servers ------------------------------------------------------------------------------------------


def _start_server(
    strategy: Any,
    eval_strategy: Any,
    shared: tuple[Any, Any, Any],
    task_type: str | None,
    task_id: int | None,
    environment: str | None,
) -> Any:
    cluster_spec, session_config, rpc_layer = shared
    _configure_session_config_for_std_servers(
        strategy, eval_strategy, session_config, cluster_spec, task_type, task_id
    )
    return _run_std_server(
        cluster_spec=cluster_spec,
        task_type=task_type,
        task_id=task_id,
        session_config=session_config,
        rpc_layer=rpc_layer,
        environment=environment,
    )


def _configure_session_config_for_std_servers(
    strategy: Any,
    eval_strategy: Any,
    session_config: Any,
    cluster_spec: Any,
    task_type: str | None,
    task_id: int | None,
) -> None:
    """Changes a configuration as strategies need it; a server is open to all tasks."""
    if task_type == TaskType.EVALUATOR:
        if eval_strategy:
            eval_strategy.configure(session_config=session_config)
    else:
        copy.deepcopy(strategy).configure(
            session_config=session_config,
            cluster_spec=cluster_spec,
            task_type=task_type,
            task_id=task_id,
        )
    del session_config.device_filters[:]


def _run_std_server(
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str | None = None,
    environment: str | None = None,
) -> Any:
    """The server of a task; there is one for each thread."""
    from penstock.distributed.server import Server

    asked = (cluster_spec, task_type, task_id, repr(session_config), rpc_layer, environment)
    if getattr(_thread_local, "server", None) is not None:
        assert _thread_local.asked == asked, "The server of this thread is of another task."
        return _thread_local.server
    assert cluster_spec
    server: Any
    if environment == "google":
        server = _ServerOfEnvironment()
    else:
        logging.info("Starting standard TensorFlow server, task %r of %r", task_id, task_type)
        server = Server(
            _split_cluster_for_evaluator(cluster_spec, task_type),
            job_name=task_type,
            task_index=task_id,
            config=session_config,
            protocol=rpc_layer,
        )
    server.start()
    _thread_local.server, _thread_local.asked = server, asked
    return server


class _ServerOfEnvironment:
    """In the environment "google" the platform runs a task's server; its program only stays."""

    def start(self) -> None:
        logging.info("The environment runs the server of this task.")

    def join(self) -> NoReturn:
        while True:
            time.sleep(5)


def _split_cluster_for_evaluator(cluster_spec: Any, task_type: str | None) -> Any:
    """The tasks that take part in what a task does: an evaluator is alone."""
    tasks = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type == TaskType.EVALUATOR:
        tasks = {TaskType.EVALUATOR: tasks[TaskType.EVALUATOR]}
    else:
        tasks.pop(TaskType.EVALUATOR, None)
    return normalize_cluster_spec(tasks)


def run_standard_tensorflow_server(session_config: Any = None) -> Any:
    """Starts the server of the task that the environment variable TF_CONFIG names."""
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if "cluster" not in told:
        raise ValueError('"cluster" is not found in TF_CONFIG.')
    cluster_spec = normalize_cluster_spec(told["cluster"])
    if "task" not in told:
        raise ValueError('"task" is not found in TF_CONFIG.')
    task = told["task"]
    if "type" not in task:
        raise ValueError('"task_type" is not found in the `task` part of TF_CONFIG.')
    session_config = session_config or ConfigProto()
    leading = [job for job in (TaskType.CHIEF, TaskType.WORKER) if job in cluster_spec.jobs]
    if not leading:
        raise ValueError("You must have `chief` or `worker` jobs in the `cluster_spec`.")
    session_config.experimental.collective_group_leader = f"/job:{leading[0]}/replica:0/task:0"
    server = _run_std_server(
        cluster_spec=cluster_spec,
        task_type=task["type"],
        task_id=int(task.get("index", 0)),
        session_config=session_config,
        rpc_layer=told.get("rpc_layer", "grpc"),
    )
    server.start()
    return server
