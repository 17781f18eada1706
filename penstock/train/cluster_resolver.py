"""Where the tasks of a cluster are: given by hand, or by the environment variable TF_CONFIG."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import defaultdict
from typing import Any

from penstock.client.session import Session
from penstock.distributed.cluster_spec import ClusterSpec
from penstock.ir.graph import Graph

__all__ = [
    "ClusterResolver",
    "SimpleClusterResolver",
    "TFConfigClusterResolver",
    "UnionClusterResolver",
]


def format_master_url(master: str, rpc_layer: str | None = None) -> str:
    """The target of a session: the address, with its protocol if there is one."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


class ClusterResolver(ABC):
    """Finds the tasks of a cluster."""

    task_type: Any = None
    task_id: Any = None
    rpc_layer: Any = None

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster as it is now."""
        raise NotImplementedError

    @abstractmethod
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target for a session on a task."""
        raise NotImplementedError

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Any:
        """How many devices of each type a task has."""
        with Session(
            self.master(task_type, task_id), graph=Graph(), config=config_proto
        ) as session:
            devices = session.list_devices()
        counts: defaultdict[str, int] = defaultdict(int)
        for device in devices:
            if task_type is not None and task_id is not None:
                parts = device.name.split("/")
                if f"job:{task_type}" not in parts or f"task:{task_id}" not in parts:
                    continue
            counts[device.device_type] += 1
        return counts

    @property
    def environment(self) -> Any:
        """What the cluster runs in; empty if that is nothing special."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is known ahead."""

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Any = None,
        rpc_layer: str | None = None,
    ):
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer
        self._environment = environment
        self._num_accelerators = num_accelerators
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        self._cluster_spec = cluster_spec
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._master = master

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        master = self._master
        if task_type is not None and task_id is not None:
            master = self.cluster_spec().task_address(task_type, task_id)
        return format_master_url(master, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str:
        return self._environment

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Any:
        return {} if self._num_accelerators is None else self._num_accelerators


class UnionClusterResolver(ClusterResolver):
    """The clusters of several resolvers as one; the first of them is asked for the rest."""

    def __init__(self, *args: ClusterResolver, **kwargs: Any):
        self._rpc_layer = kwargs.pop("rpc_layer", None)
        self._task_type = kwargs.pop("task_type", None)
        self._task_id = kwargs.pop("task_id", None)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(each, ClusterResolver) for each in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._cluster_resolvers = args

    def cluster_spec(self) -> ClusterSpec:
        clusters = [resolver.cluster_spec().as_dict() for resolver in self._cluster_resolvers]
        merged: dict[str, Any] = {}
        for cluster in clusters:
            for job, tasks in cluster.items():
                # Lists are joined; where one names its tasks by index, all do.
                by_index = isinstance(tasks, dict) or isinstance(merged.get(job), dict)
                merged[job] = {} if by_index else []
        for cluster in clusters:
            for job, tasks in cluster.items():
                if isinstance(merged[job], list):
                    merged[job] += tasks
                    continue
                indexed = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
                both = merged[job].keys() & indexed.keys()
                if both:
                    raise KeyError(
                        f"Duplicate keys detected when merging two ClusterSpecs: {both!r}"
                    )
                merged[job].update(indexed)
        return ClusterSpec(merged)

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return format_master_url(address, rpc_layer or self._rpc_layer)
        return self._cluster_resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def task_type(self) -> Any:
        return self._task_type or self._cluster_resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> Any:
        return self._task_id or self._cluster_resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> Any:
        return self._rpc_layer or self._cluster_resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: Any) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> Any:
        return self._cluster_resolvers[0].environment

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Any:
        return self._cluster_resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _tf_config() -> dict[str, Any]:
    return dict(json.loads(os.environ.get("TF_CONFIG", "{}")))


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG describes."""

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ):
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    @property
    def task_type(self) -> str | None:
        found = self._task_type
        if found is None:
            found = _tf_config().get("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        found: Any = self._task_id
        if found is None and self._task_type is None:
            found = _tf_config().get("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> Any:
        return _tf_config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: Any) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> Any:
        return self._environment

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> Any:
        return super().num_accelerators(
            self.task_type if task_type is None else task_type,
            self.task_id if task_id is None else task_id,
            config_proto,
        )

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(_tf_config().get("cluster", {}))

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        given = _tf_config().get("session_master")
        if given is not None:
            return str(given)
        cluster = self.cluster_spec()
        if sum(len(cluster.job_tasks(job)) for job in cluster.jobs) <= 1:
            return ""  # this process is all there is
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        assert job is not None and index is not None
        return format_master_url(cluster.task_address(job, index), rpc_layer or self.rpc_layer)
