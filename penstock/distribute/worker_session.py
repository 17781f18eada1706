"""Sessions of a worker whose program opens none itself: Keras does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.client.session import Session
from penstock.distribute import coordinator
from penstock.distribute.worker_context import TaskType, WorkerContext, get_current_worker_context
from penstock.proto import ConfigProto


def works_with_others(strategy: Any) -> bool:
    """Whether the replicas of a strategy are in several tasks, of which this process is one."""
    extended = strategy.extended
    in_cluster = getattr(extended, "_cluster_spec", None) is not None
    return in_cluster and bool(extended.experimental_between_graph)


def session_of_task(strategy: Any, graph: Any) -> Any:
    """The session for a strategy that works with other tasks; None if it does not.

    The function that a coordinator runs has its session where the coordinator says.
    """
    with task_context(strategy):
        context = get_current_worker_context()
        if context is None or not context.master_target:
            return None
        return Session(context.master_target, graph=graph, config=context.session_config)


@contextmanager
def task_context(strategy: Any) -> Iterator[None]:
    """A block that is the work of this task, with its server, where a strategy has others beside.

    A parameter server does no such work: it serves until the job is over, which ends its program.
    """
    if get_current_worker_context() is not None or not works_with_others(strategy):
        yield
        return
    extended = strategy.extended
    task = (extended._cluster_spec, extended._task_type, extended._task_id)
    server = _server_of(strategy)
    if extended._task_type == TaskType.PS:
        server.join()
        raise SystemExit(0)
    config = strategy.update_config_proto(ConfigProto(allow_soft_placement=True))
    context = WorkerContext(strategy, *task, config)
    context.master_target = server.target  # its port may have been the system's choice
    with context:
        yield


def _server_of(strategy: Any) -> Any:
    """The server of this task, which is started if nobody has."""
    extended = strategy.extended
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    return coordinator._start_server(
        strategy,
        None,
        (extended._cluster_spec, ConfigProto(allow_soft_placement=True), "grpc"),
        extended._task_type,
        extended._task_id,
        told.get("environment"),
    )
