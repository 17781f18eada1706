"""Steps of clients that come over the road between tasks instead of gRPC.

A client of Penstock opens its session by gRPC, as any client does; its steps, with what they feed
and fetch, then take the road. Both lead to the same master.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from penstock import dtypes, errors, proto
from penstock.distributed.connection import Connection
from penstock.distributed.credentials import Credentials
from penstock.distributed.frames import Fields, Value
from penstock.distributed.grpc_master import Method
from penstock.distributed.master import Master, StepResult
from penstock.distributed.road import METHOD, Road, port_message
from penstock.distributed.statuses import status_of
from penstock.distributed.step_messages import parse
from penstock.distributed.value_arrays import array_of, value_of
from penstock.state.waiting import Cancellation

RUN = "run_step"
CANCEL = "cancel_step"


class ClientService:
    """Runs steps for clients, each in the thread that read it.

    A step is cancelled when its client says so, and when its connection is lost.
    """

    def __init__(self, master: Master, task_name: str):
        self._master = master
        self._task_name = task_name
        self._lock = threading.Lock()
        self._running: dict[Connection, dict[int, Cancellation]] = {}

    def handle(self, connection: Connection, fields: Fields, values: list[Value]) -> None:
        """Takes a message of a client, in the thread that read it."""
        if fields["do"] == CANCEL:
            with self._lock:
                found = self._running.get(connection, {}).get(fields["step"])
            if found is not None:
                found.cancel()
            return
        cancellation = Cancellation()
        with self._lock:
            self._running.setdefault(connection, {})[fields["call"]] = cancellation
        connection.work(lambda: self._answer(connection, fields, values, cancellation))

    def lost(self, connection: Connection) -> None:
        """Ends the steps of a client that is gone."""
        with self._lock:
            steps = list(self._running.get(connection, {}).values())
        for cancellation in steps:
            cancellation.cancel()

    def _answer(
        self,
        connection: Connection,
        fields: Fields,
        values: list[Value],
        cancellation: Cancellation,
    ) -> None:
        if connection.is_lost:
            cancellation.cancel()
        try:
            reply, given = self._run(fields, values, cancellation)
        except Exception as error:
            code, text = status_of(error, self._task_name)
            reply, given = {"status": int(code), "message": text}, []
        finally:
            self._forget(connection, fields["call"])
        with suppress(errors.UnavailableError):  # who asked is gone
            connection.reply(fields, reply, given)

    def _forget(self, connection: Connection, number: int) -> None:
        with self._lock:
            steps = self._running[connection]
            del steps[number]
            if not steps:
                del self._running[connection]

    def _run(
        self, fields: Fields, values: list[Value], cancellation: Cancellation
    ) -> tuple[Fields, list[Value]]:
        names = fields["feeds"]
        feeds = {
            name: array_of(value, dtypes.as_dtype(kind))
            for (name, kind), value in zip(names, values, strict=False)
        }
        if len(feeds) != len(names):
            raise errors.InvalidArgumentError(None, None, "a tensor is fed more than once")
        options = proto.RunOptions()
        if len(values) > len(names):
            options = parse(proto.RunOptions, values[-1])
        result = self._result(fields, feeds, options, cancellation)
        given = [value_of(sent.value, sent.dtype) for sent in result.tensors]
        metadata = result.metadata.SerializeToString()
        reply = {"fetches": [[sent.name, sent.dtype.base_dtype.name] for sent in result.tensors]}
        return reply, [*given, metadata] if metadata else given

    def _result(
        self, fields: Fields, feeds: Any, options: Any, cancellation: Cancellation
    ) -> StepResult:
        session, fetches, targets = fields["session"], fields["fetches"], fields["targets"]
        if "partial" in fields:
            return self._master.partial_run(session, fields["partial"], feeds, fetches, targets)
        return self._master.run_step(session, feeds, fetches, targets, options, cancellation)


class ClientsOwnRoad:
    """The road of a server that is the only task of its cluster: none but clients take it."""

    def __init__(
        self, interface: str, task_name: str, service: ClientService, credentials: Credentials
    ):
        self._service = service
        self._road = Road(interface, task_name, self._handle, credentials, service.lost)

    def methods(self) -> dict[str, Method]:
        """What the front door says of it."""
        return {METHOD: lambda request, cancellation: port_message(self._road.port)}

    def _handle(self, connection: Connection, fields: Fields, values: list[Value]) -> None:
        if is_for_clients(fields):
            self._service.handle(connection, fields, values)
        elif "call" in fields:
            unknown = errors.UnimplementedError(None, None, "this task works with no other task")
            connection.refuse(fields, unknown)

    def close(self) -> None:
        self._road.close()


def is_for_clients(fields: Fields) -> bool:
    """Whether a message comes from a client, and not from another task."""
    return fields.get("do") in (RUN, CANCEL)
