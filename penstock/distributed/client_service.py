"""Steps of clients that come over the road between tasks instead of gRPC.

A client of Penstock opens its session by gRPC, as any client does; its steps, with what they feed
and fetch, then take the road. Both lead to the same master.
"""

from __future__ import annotations

from functools import partial

from penstock import dtypes, errors, proto
from penstock.distributed.connection import Connection
from penstock.distributed.credentials import Credentials
from penstock.distributed.frames import Fields, Value
from penstock.distributed.grpc_master import Method
from penstock.distributed.master import Master, StepForm
from penstock.distributed.readers import TaskReaders, leave_turn
from penstock.distributed.road import METHOD, Road
from penstock.distributed.statuses import status_of
from penstock.distributed.step_messages import parse
from penstock.distributed.value_arrays import array_of, array_type, sendable
from penstock.state.waiting import Cancellation

RUN = "run_step"
CANCEL = "cancel_step"
FOR_CLIENTS = (RUN, CANCEL)  # kinds of messages that come from clients, not from other tasks


class _Client:
    """What a service knows of one client.

    Attributes:
      running: its steps under way, by the numbers of their calls.
      forms: the session and the form of the steps that it has described, by its numbers for them.
    """

    def __init__(self) -> None:
        self.running: dict[int, Cancellation] = {}
        self.forms: dict[int, tuple[str, StepForm]] = {}

    def learn(self, fields: Fields) -> None:
        """Takes note of the session and the form of a step that is described."""
        names = (tuple(fields[key]) for key in ("feeds", "fetches", "targets"))
        self.forms[fields["form"]] = fields["session"], StepForm(*names)


class ClientService:
    """Runs steps for clients, each in the thread that read it.

    A step is cancelled when its client says so, and when its connection is lost.
    """

    def __init__(self, master: Master, task_name: str):
        self._master = master
        self._task_name = task_name
        self._clients: dict[Connection, _Client] = {}

    def handle(self, connection: Connection, fields: Fields, values: list[Value]) -> None:
        """Takes a message of a client, in the thread that read it."""
        client = self._clients.get(connection) or self._clients.setdefault(connection, _Client())
        if fields["do"] == CANCEL:
            found = client.running.get(fields["step"])
            if found is not None:
                found.cancel()
            return
        client.running[fields["call"]] = cancellation = Cancellation()
        answer = partial(self._answer, connection, client, fields, values, cancellation)
        connection.work(answer, instant=True)  # or the master has others read

    def lost(self, connection: Connection) -> None:
        """Ends the steps of a client that is gone."""
        client = self._clients.pop(connection, None)
        if client is not None:
            for cancellation in list(client.running.values()):
                cancellation.cancel()

    def _answer(
        self,
        connection: Connection,
        client: _Client,
        fields: Fields,
        values: list[Value],
        cancellation: Cancellation,
    ) -> None:
        if connection.is_lost:
            cancellation.cancel()
            self._clients.pop(connection, None)
        try:
            reply, given = self._run(client, fields, values, cancellation)
        except Exception as error:
            code, text = status_of(error, self._task_name)
            reply, given = {"status": int(code), "message": text}, []
        finally:
            del client.running[fields["call"]]
        try:  # noqa: SIM105 - every step comes along here
            connection.reply(fields, reply, given)
        except errors.UnavailableError:
            pass  # who asked is gone

    def _run(
        self,
        client: _Client,
        fields: Fields,
        values: list[Value],
        cancellation: Cancellation,
    ) -> tuple[Fields, list[Value]]:
        if "partial" in fields:
            return self._run_part(fields, values)
        if "session" in fields:
            client.learn(fields)
        session, form = client.forms[fields["form"]]
        options = None
        if len(values) > len(form.feeds):
            options = parse(proto.RunOptions, values.pop())
        given, told = self._master.run_form(session, form, values, options, cancellation)
        if told is None:
            return {}, given
        return {"told": True}, [*given, told.SerializeToString()]

    def _run_part(self, fields: Fields, values: list[Value]) -> tuple[Fields, list[Value]]:
        """Runs the next part of a step that the session keeps."""
        leave_turn()
        feeds = {
            name: array_of(value, array_type(dtypes.as_dtype(kind)))
            for (name, kind), value in zip(fields["feeds"], values, strict=True)
        }
        result = self._master.partial_run(
            fields["session"], fields["partial"], feeds, fields["fetches"], fields["targets"]
        )
        return {}, [sendable(sent.value, sent.dtype) for sent in result.tensors]


class ClientsOwnRoad:
    """The road of a server that is the only task of its cluster: none but clients take it."""

    def __init__(
        self, interface: str, task_name: str, service: ClientService, credentials: Credentials
    ):
        self._service = service
        self._readers = TaskReaders()
        self._road = Road(
            interface, task_name, self._handle, credentials, service.lost, self._readers
        )

    def methods(self) -> dict[str, Method]:
        """What the front door says of it."""
        return {METHOD: lambda request, cancellation: self._road.address.message()}

    def _handle(self, connection: Connection, fields: Fields, values: list[Value]) -> None:
        if fields.get("do") in FOR_CLIENTS:
            self._service.handle(connection, fields, values)
        elif "call" in fields:
            unknown = errors.UnimplementedError(None, None, "this task works with no other task")
            connection.refuse(fields, unknown)

    def close(self) -> None:
        self._road.close()
        self._readers.close()
