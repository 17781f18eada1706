"""Clusters that sessions bring along: `ConfigProto.cluster_def`.

A server may be started knowing of no other. A session then names the tasks that it wants to use,
under names of its choice; each server takes part under the name that it has there, with state for
this session alone, or with the state that it has anyway if the session asks for that. Who is asked
for its road under such a name learns of the cluster by that.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from penstock import errors, proto
from penstock.distributed.cluster_task import ClusterTask
from penstock.distributed.credentials import Credentials
from penstock.state.containers import ResourceManager
from penstock.state.waiting import Cancellation

_Method = Callable[[bytes, Cancellation], bytes]


class SessionClusters:
    """The places of one server in the clusters of its sessions.

    Args:
      server_def: that of the server, for its settings.
      resources: the server's state.
      interface: where roads listen.
    """

    def __init__(
        self, server_def: Any, resources: ResourceManager, interface: str, credentials: Credentials
    ):
        self._config = server_def.default_session_config
        self._resources = resources
        self._interface = interface
        self._credentials = credentials
        self._lock = threading.Lock()
        self._places: dict[bytes, ClusterTask] = {}

    def place_at(self, port: int, cluster_def: Any) -> ClusterTask:
        """The place of the server with this port, which is the master of a session."""
        for job in cluster_def.job:
            for index, address in job.tasks.items():
                host, _, digits = address.rpartition(":")
                if digits == str(port) and _is_here(host, self._interface):
                    return self._place(_server_def(cluster_def, job.name, index))
        raise errors.InvalidArgumentError(
            None,
            None,
            f"ConfigProto.cluster_def has no task with the address of its session's server, port "
            f"{port}: {_addresses(cluster_def)}",
        )

    def telling(self, own: _Method) -> _Method:
        """The method that tells where a road is: the server's own, or that of a place."""

        def tell(request: bytes, cancellation: Cancellation) -> bytes:
            if not request:
                return own(request, cancellation)
            return self._place(proto.ServerDef.FromString(request)).road_address.message()

        return tell

    def _place(self, server_def: Any) -> ClusterTask:
        key = server_def.SerializeToString(deterministic=True)
        with self._lock:
            found = self._places.get(key)
            if found is None:
                found = self._places[key] = self._made(server_def)
            return found

    def _made(self, server_def: Any) -> ClusterTask:
        task = f"/job:{server_def.job_name}/replica:0/task:{server_def.task_index}"
        configured = proto.ServerDef()
        configured.CopyFrom(server_def)
        configured.default_session_config.CopyFrom(self._config)
        return ClusterTask(
            configured,
            task,
            self._resources,
            self._interface,
            self._credentials,
            introduction=lambda job, index: _server_def(server_def.cluster, job, index),
        )

    def close(self) -> None:
        with self._lock:
            places, self._places = self._places, {}
        for place in places.values():
            place.close()


def _server_def(cluster_def: Any, job: str, index: int) -> Any:
    return proto.ServerDef(cluster=cluster_def, job_name=job, task_index=index)


def _addresses(cluster_def: Any) -> str:
    return ", ".join(address for job in cluster_def.job for address in job.tasks.values())


def _is_here(host: str, interface: str) -> bool:
    return host in ("localhost", "127.0.0.1", "[::1]", interface, socket.gethostname())
