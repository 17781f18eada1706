"""Sessions of a worker whose program opens none itself: Keras does."""

from __future__ import annotations

import json
import os
from typing import Any

from penstock.client.session import Session
from penstock.distribute import coordinator
from penstock.distribute.multi_worker import CollectiveAllReduceExtended
from penstock.proto import ConfigProto


def works_with_others(strategy: Any) -> bool:
    """Whether the replicas of a strategy are in several tasks, of which this process is one."""
    extended = strategy.extended
    return isinstance(extended, CollectiveAllReduceExtended) and extended._cluster_spec is not None


def open_session(strategy: Any, graph: Any) -> Any:
    """A session on the server of this task, which is started if nobody has."""
    extended = strategy.extended
    config = ConfigProto(allow_soft_placement=True)
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    server = coordinator._start_server(
        strategy,
        None,
        (extended._cluster_spec, ConfigProto(allow_soft_placement=True), "grpc"),
        extended._task_type,
        extended._task_id,
        told.get("environment"),
    )
    return Session(server.target, graph=graph, config=strategy.update_config_proto(config))
