"""One task of a cluster of several: its worker, its end of the road, and the other tasks.

A session's master asks all tasks that it may use for their devices before its first step. A task
that does not answer is named after half a minute, not waited for without end.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import grpc

from penstock import errors, proto
from penstock.devices import DeviceSpec
from penstock.distributed.client_service import FOR_CLIENTS, ClientService
from penstock.distributed.cluster_runtime import ClusterRuntime
from penstock.distributed.collectives import TaskCollectives
from penstock.distributed.connection import Connection
from penstock.distributed.credentials import Credentials
from penstock.distributed.departures import Departures, chief_of
from penstock.distributed.frames import Disconnected, Fields, Value
from penstock.distributed.grpc_client import channel_to
from penstock.distributed.grpc_master import Method
from penstock.distributed.health import HealthChecks, patience_of_environment
from penstock.distributed.readers import TaskReaders
from penstock.distributed.road import METHOD, Address, Peers, Road
from penstock.distributed.step_run import Answered, Call, Tick
from penstock.distributed.worker import Worker
from penstock.runtime.configured import configured_runtime
from penstock.runtime.local import LocalRuntime
from penstock.state.collectives import Collectives
from penstock.state.containers import ResourceManager

_PATIENCE_SECONDS = 30.0  # that the tasks of a session have to answer
_TURN_SECONDS = 5.0  # that a session waits for one task before it asks the next
_FAREWELL_SECONDS = 0.5  # that the others have to take note of the end of a task
_SECOND_FAREWELL_SECONDS = 1.0  # that those have which the connection to was lost

_tasks: weakref.WeakSet[ClusterTask] = weakref.WeakSet()


@atexit.register
def _leave_all() -> None:
    """Says goodbye for a program that has come to its end; one that has failed may come back."""
    if not hasattr(sys, "last_value"):
        for task in list(_tasks):
            if task.pid == os.getpid():  # not in a process that was forked from the task's
                task.leave()


def _leave_at_the_end_of_a_child() -> None:
    """Has a process of `multiprocessing` say goodbye: it ends without what `atexit` was told."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is None or processes.parent_process() is None:
        return
    from multiprocessing.util import Finalize

    # After the process has waited for its own children, which may use the cluster, too.
    Finalize(None, _leave_unless_raising, exitpriority=-100)


def _leave_unless_raising() -> None:
    """Called while the exception that ends the process is on its way, if one does."""
    if isinstance(sys.exc_info()[1], (SystemExit, type(None))):
        _leave_all()


def task_addresses(cluster: Any) -> dict[str, str]:
    """The address of each task of a ClusterDef, by the task's name."""
    return {
        f"/job:{job.name}/replica:0/task:{index}": str(address)
        for job in cluster.job
        for index, address in sorted(job.tasks.items())
    }


class ClusterTask:
    """What a `Server` of a cluster has besides its front door.

    Args:
      server_def: the ServerDef of the task.
      task: its name.
      resources: its state.
      interface: where its road listens.
      on_job_over: called when all who have used the task have left it.
      introduction: gives the ServerDef that a task of a job is to be asked with, if it knows the
        cluster from those who ask.
    """

    def __init__(
        self,
        server_def: Any,
        task: str,
        resources: ResourceManager,
        interface: str,
        credentials: Credentials,
        on_job_over: Callable[[], None] = lambda: None,
        introduction: Callable[[str, int], Any] | None = None,
    ):
        addresses = task_addresses(server_def.cluster)
        self._introductions: dict[str, bytes] = {}
        if introduction is not None:
            self._introductions = {
                str(address): introduction(job.name, index).SerializeToString()
                for job in server_def.cluster.job
                for index, address in job.tasks.items()
            }
        runtime = configured_runtime(
            server_def.default_session_config, task_name=task, resources=resources
        )
        self.pid = os.getpid()
        self._task = task
        self._resources = resources
        self._default_config = server_def.default_session_config
        self._credentials = credentials
        others = [name for name in addresses if name != task]
        self._departures = Departures(others, chief_of(addresses))
        self.worker = Worker(
            task,
            runtime,
            self._connect,
            self._departures,
            on_job_over,
            self._runtime_of_session,
            self._known,
        )
        self._clients: ClientService | None = None
        self._collectives = TaskCollectives(
            task,
            dict(addresses),
            self._connect,
            # A server has one exchange; its place in a session's cluster is not that of its groups.
            resources.collectives if introduction is None else Collectives(),
            runtime.devices,
        )
        self._readers = TaskReaders()
        self._road = Road(interface, task, self._handle, credentials, self._lost, self._readers)
        del addresses[task]
        self._peers = Peers(
            task, addresses, self._road_of, self._handle, credentials, self._lost, self._readers
        )
        self._health = HealthChecks(self._connections, patience_of_environment(), self._tidy)
        _tasks.add(self)
        _leave_at_the_end_of_a_child()

    def _connections(self) -> list[Connection]:
        return [*self._peers.connections, *self._road.connections]

    def _tidy(self, now: float) -> None:
        self.worker.tidy(now)
        self._collectives.look_for_missing(now)

    def admit(self, clients: ClientService) -> None:
        """Leaves what comes from clients to their service."""
        self._clients = clients

    def _handle(self, connection: Connection, fields: Fields, values: list[Value]) -> None:
        kind = fields.get("do")
        if kind in FOR_CLIENTS and self._clients is not None:
            self._clients.handle(connection, fields, values)
        elif kind == "collective":
            self._collectives.handle(connection, fields)
        else:
            self.worker.handle(connection, fields, values)

    def _lost(self, connection: Connection) -> None:
        self.worker.lost(connection)
        self._collectives.lost(connection.task)
        if self._clients is not None:
            self._clients.lost(connection)

    def awaited(self) -> tuple[list[str], float]:
        """The tasks that were lost and are waited for, and how long no task has used this one."""
        return self._departures.awaited(time.monotonic())

    def methods(self) -> dict[str, Method]:
        """What the front door says to other tasks."""
        return {METHOD: lambda request, cancellation: self.road_address.message()}

    @property
    def road_address(self) -> Address:
        """Where other tasks reach this one."""
        return self._road.address

    def _road_of(self, address: str, timeout: float) -> Address:
        """Asks the front door of another task where its road is."""
        channel = channel_to(address, self._credentials)
        try:
            ask = channel.unary_unary(METHOD)
            request = self._introductions.get(address, b"")
            answer: bytes = ask(request, timeout=timeout, metadata=self._credentials.metadata())
            return Address.parsed(answer)
        except grpc.RpcError as error:
            raise errors.UnavailableError(None, None, str(error.details())) from None
        finally:
            channel.close()

    def _known(self, task: str) -> list[Connection]:
        """The open connections with a task, whichever side has opened them."""
        both = self._peers.known(task), self._road.accepted(task)
        return [each for each in both if each is not None]

    def _connect(self, task: str, patience: float = 0.0) -> Connection:
        return self._peers.connect(task, patience)

    # Sessions ---------------------------------------------------------------------------------

    def _runtime_of_session(self, isolated: bool, config: Any = None) -> LocalRuntime:
        """A session's runtime in this task, with the task's state or with one of its own."""
        chosen = self._default_config if config is None else config
        shared = None if isolated else self._resources
        return configured_runtime(
            chosen, server=self._default_config, task_name=self._task, resources=shared
        )

    def session_runtime(self, config: Any) -> ClusterRuntime:
        """The runtime of a session whose master is this task."""
        isolated = _has_own_state(config)
        local = self._runtime_of_session(isolated, config)
        devices = {self._task: local.device_attributes()}
        incarnations = {}
        for task, answer in self._answers(self._tasks_for(config.device_filters)).items():
            incarnations[task] = answer.fields["incarnation"]
            devices[task] = [proto.DeviceAttributes.FromString(each) for each in answer.values]
        return ClusterRuntime(self.worker, local, devices, incarnations, is_isolated=isolated)

    def _answers(self, tasks: Sequence[str]) -> dict[str, Answered]:
        """What tasks say of themselves; those that don't answer in time are named, all of them."""
        roll = self.worker.master.roll_call(tasks, time.monotonic(), _PATIENCE_SECONDS)
        pending = deque(roll.handle(Tick(), time.monotonic()))
        while not roll.is_over:
            if pending:
                answer = self._asked(pending.popleft(), roll.limit)
                pending += roll.handle(answer, time.monotonic())
            elif roll.next_time is not None:
                time.sleep(max(0.0, roll.next_time - time.monotonic()))
                pending += roll.handle(Tick(), time.monotonic())
        if roll.error is not None:
            raise roll.error
        return roll.found

    def _asked(self, call: Call, limit: float) -> Answered:
        """Asks one task; one that can't be reached lets the others have their turn."""
        left = min(_TURN_SECONDS, limit - time.monotonic())
        try:
            connection = self._peers.connect(call.task, max(0.0, left))
            fields, values = connection.ask(call.fields, timeout=max(1.0, left))
        except (errors.UnavailableError, errors.DeadlineExceededError) as error:
            return Answered(call.task, {}, [], error)
        return Answered(call.task, fields, values)

    def _tasks_for(self, filters: Sequence[str]) -> list[str]:
        """The other tasks that a session may use: those that one of its device filters matches."""
        if not filters:
            return self._peers.tasks
        wanted = [DeviceSpec.from_string(text) for text in filters]
        return [task for task in self._peers.tasks if any(_matches(task, w) for w in wanted)]

    def reset(self, containers: Sequence[str]) -> None:
        """Clears containers of all tasks that answer."""
        for task in self._peers.tasks:
            connection = self._peers.connect(task)
            connection.ask({"do": "reset", "containers": list(containers)})

    def leave(self) -> None:
        """Tells the other tasks that this one will not come back."""
        _tasks.discard(self)
        limit = time.monotonic() + _FAREWELL_SECONDS
        farewell = {"do": "leave", "used": sorted(self.worker.master.used)}
        for connection in self._peers.connections:
            with suppress(errors.OpError):
                connection.ask(farewell, timeout=max(0.0, limit - time.monotonic()))
        # Who was lost may be there nevertheless, and would wait for this task without end.
        limit = time.monotonic() + _SECOND_FAREWELL_SECONDS
        for task in self._peers.lost:
            left = limit - time.monotonic()
            with suppress(errors.OpError, OSError, Disconnected):
                self._peers.tell(task, farewell, max(0.1, left))

    def close(self) -> None:
        self.leave()
        self._collectives.close()
        self._health.close()
        self._peers.close()
        self._road.close()
        self._readers.close()
        self.worker.runtime.close()


def _has_own_state(config: Any) -> bool:
    """Whether a session sees no state but its own.

    One that brings its cluster along does so unless it asks for the servers' state, as in
    TensorFlow: there servers may come and go, and a name says little about whose variable it is.
    """
    if config.cluster_def.job:
        return not config.experimental.share_session_state_in_clusterspec_propagation
    return bool(config.isolate_session_state)


def _matches(task: str, spec: DeviceSpec) -> bool:
    name = DeviceSpec.from_string(task)
    return spec.job in (None, name.job) and spec.task in (None, name.task)
