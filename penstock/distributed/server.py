"""`tf.train.Server`: a task of a cluster, whose state outlives the sessions that use it.

It listens for gRPC calls of clients. Sessions of its own process find it in the registry here and
run their steps without a detour over the network.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

from penstock import errors, proto
from penstock.distributed.abandonment import Abandonment, limit_of_environment
from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.credentials import interface_for, is_loopback, read_credentials
from penstock.distributed.kernel_waits import shorten_kernel_waits
from penstock.state.containers import ResourceManager

__all__ = ["Server", "server_of"]

_PROTOCOL = "grpc"
_log = logging.getLogger("penstock")

_servers: dict[str, Server] = {}
_lock = threading.Lock()


def server_of(target: str) -> Server | None:
    """The started server of this process with that target."""
    with _lock:
        return _servers.get(target)


def _make_server_def(
    server_or_cluster_def: Any,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: Any,
) -> Any:
    """The `ServerDef` that the arguments of `Server` describe."""
    message = proto.ServerDef()
    if isinstance(server_or_cluster_def, proto.ServerDef):
        message.MergeFrom(server_or_cluster_def)
        given = {"job_name": job_name, "task_index": task_index, "protocol": protocol}
        for field, value in given.items():
            if value is not None:
                setattr(message, field, value)
    else:
        try:
            cluster = ClusterSpec(server_or_cluster_def)
        except TypeError:
            raise TypeError(
                "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                "`tf.train.ClusterSpec`."
            ) from None
        if job_name is None:
            if len(cluster.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = cluster.jobs[0]
        if task_index is None:
            indices = cluster.task_indices(job_name)
            if len(indices) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = indices[0]
        message.cluster.CopyFrom(cluster.as_cluster_def())
        message.job_name = job_name
        message.task_index = task_index
        message.protocol = _PROTOCOL if protocol is None else protocol
    if config is not None:
        message.default_session_config.MergeFrom(config)
    return message


def _address(server_def: Any) -> str:
    """The address of the server's own task."""
    jobs = {job.name: job for job in server_def.cluster.job}
    if server_def.job_name not in jobs:
        raise errors.InternalError(
            None, None, f'Job "{server_def.job_name}" was not defined in cluster'
        )
    tasks = jobs[server_def.job_name].tasks
    if server_def.task_index not in tasks:
        raise errors.InvalidArgumentError(
            None,
            None,
            f'Task {server_def.task_index} was not defined in job "{server_def.job_name}"',
        )
    return str(tasks[server_def.task_index])


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, digits = address.rpartition(":")
    if not host or not digits.isdigit():
        raise errors.InvalidArgumentError(
            None, None, f'Could not parse port for local server from "{address}".'
        )
    return host, int(digits)


class Server:
    """A task of a cluster: `tf.Session(server.target)` runs steps in it.

    Variables and queues of a server live until `tf.Session.reset(server.target)`, and are shared
    by all sessions on it.

    Args:
      server_or_cluster_def: a `ClusterSpec`, or what one is made of, or a `ServerDef`.
      job_name: the job of this task; not needed if there is one job.
      task_index: its index; not needed if the job has one task.
      protocol: "grpc".
      config: a `ConfigProto` for sessions.
      start: whether to start it at once.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ):
        self._server_def = _make_server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        if self._server_def.protocol != _PROTOCOL:
            raise errors.NotFoundError(
                None,
                None,
                "No server factory registered for the given ServerDef: "
                f"{self._server_def}\nThe available server factories are: [ GRPC_SERVER ]",
            )
        address = _address(self._server_def)
        self.resources = ResourceManager(self._server_def.job_name)
        self._stopped = threading.Event()
        self._ended = threading.Event()  # stopped, or nobody will need it any more
        self.cluster: Any = None  # of several tasks: this one's place in it
        self._road: Any = None  # if it is the only task
        host, port = _host_and_port(address)
        self._open(host, port)
        # "localhost" is one address of the loopback interface; who has another listens there alone.
        is_another = is_loopback(host) and host.startswith("127.") and host != "127.0.0.1"
        called = host if is_another else "localhost"
        self._target = f"{_PROTOCOL}://{called}:{self._door.port}"
        self._is_started = False
        if start:
            self.start()

    def _open(self, host: str, port: int) -> None:
        # gRPC and torch are loaded by the first server.
        shorten_kernel_waits()
        from penstock.distributed.client_service import ClientService, ClientsOwnRoad
        from penstock.distributed.cluster_task import ClusterTask
        from penstock.distributed.grpc_door import GrpcDoor
        from penstock.distributed.grpc_master import MasterService
        from penstock.distributed.local_master import LocalMaster
        from penstock.distributed.road import METHOD
        from penstock.distributed.session_clusters import SessionClusters

        credentials = read_credentials()
        interface = interface_for(host, credentials)
        if sum(len(job.tasks) for job in self._server_def.cluster.job) > 1:
            self.cluster = ClusterTask(
                self._server_def,
                self.task_name,
                self.resources,
                interface,
                credentials,
                self._ended.set,
            )
        self._session_clusters = SessionClusters(
            self._server_def, self.resources, interface, credentials
        )
        config = self._server_def.default_session_config
        self._master = LocalMaster(self.task_name, self.resources, config, self.cluster_for)
        methods = MasterService(self._master, self.task_name).methods()
        self._clients = ClientService(self._master, self.task_name)
        if self.cluster is not None:
            self.cluster.admit(self._clients)
            methods.update(self.cluster.methods())
        else:
            self._road = ClientsOwnRoad(interface, self.task_name, self._clients, credentials)
            methods.update(self._road.methods())
        methods[METHOD] = self._session_clusters.telling(methods[METHOD])
        try:
            self._door = GrpcDoor(interface, port, methods, credentials)
        except errors.UnknownError:  # the port is in use
            (self._road or self.cluster).close()
            raise

    def start(self) -> None:
        """Starts the server; starting it again does nothing."""
        if self._stopped.is_set():
            raise errors.FailedPreconditionError(None, None, "The server was stopped.")
        with _lock:
            if _servers.setdefault(self._target, self) is not self:
                raise errors.UnknownError(
                    None, None, f"Could not start gRPC server: {self._target} is in use"
                )
            if not self._is_started:
                self._door.start()
                self._is_started = True

    def join(self) -> None:
        """Waits until the server is stopped, and ends the program when its job is over.

        A job is over when the program of its chief (the first task of the job "chief", "master" or
        "worker") has ended as it should, and so have the other tasks that have opened sessions.
        Then this raises SystemExit: programs of TensorFlow rely on it that `join` does not return.
        It does so, too, when all who have used the task were lost a day ago.
        """
        abandonment = Abandonment(limit_of_environment())
        while not self._ended.wait(timeout=1.0):  # short, so that Ctrl-C ends it on every system
            if self.cluster is not None and not self._master.has_sessions:
                reason = abandonment.look(*self.cluster.awaited())
                if reason is not None:
                    _log.error(reason)
                    raise SystemExit(1)
        if not self._stopped.is_set():
            raise SystemExit(0)

    def stop(self) -> None:
        """Ends all steps and gives the port back; a stopped server can't be started again."""
        with _lock:
            if _servers.get(self._target) is self:
                del _servers[self._target]
        if not self._stopped.is_set():
            self._stopped.set()
            self._ended.set()
            self._master.close_all()
            self._door.stop()
            self._session_clusters.close()
            (self._road or self.cluster).close()

    def cluster_for(self, config: Any) -> Any:
        """The server's place in the cluster of a session: the session's own, or the server's.

        None if the server is the only task.
        """
        if config.cluster_def.job:
            return self._session_clusters.place_at(self._door.port, config.cluster_def)
        return self.cluster

    def reset(self, containers: Sequence[str] = ()) -> None:
        """Closes the sessions of clients and clears containers of state, by default the default."""
        self._master.reset(containers)

    @property
    def server_def(self) -> Any:
        """The `ServerDef` of this server."""
        return self._server_def

    @property
    def target(self) -> str:
        """What to give to `tf.Session` to use this server."""
        return self._target

    @property
    def task_name(self) -> str:
        """The first part of the names of this server's devices."""
        return f"/job:{self._server_def.job_name}/replica:0/task:{self._server_def.task_index}"

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server of its own, for this process."""
        return Server({"local": ["localhost:0"]}, protocol=_PROTOCOL, config=config, start=start)
