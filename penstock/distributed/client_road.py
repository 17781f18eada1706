"""A client's way to the road of its server, where there is one.

Servers of TensorFlow have none, and one may be out of reach where gRPC is not (a tunnel). Then
steps go by gRPC.
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
from collections.abc import Sequence
from typing import NamedTuple

from penstock import errors
from penstock.distributed import frames
from penstock.distributed.client_service import CANCEL, RUN
from penstock.distributed.connection import Connection
from penstock.distributed.credentials import read_credentials
from penstock.distributed.frames import Fields, Value
from penstock.distributed.grpc_client import MasterClient
from penstock.distributed.road import METHOD, Address, connected
from penstock.runtime.value_bytes import decoded_array

VARIABLE = "PENSTOCK_ROAD"  # 0: steps of clients go by gRPC
_SECONDS = 2.0  # that a server's road has to answer


class Form:
    """A form of step: which session, feeds, fetches and targets, under a number of this process."""

    _numbers = itertools.count(1)

    def __init__(
        self, session: str, feeds: list[str], fetches: list[str], targets: list[str]
    ) -> None:
        self.number = next(self._numbers)
        self.description: Fields = {
            "session": session,
            "feeds": feeds,
            "fetches": fetches,
            "targets": targets,
        }


class Way(NamedTuple):
    """A connection to a server, and the numbers of the forms that the server has from it."""

    connection: Connection
    forms: set[int]


class ClientRoad:
    """The connection of one session to its server; safe for many threads."""

    def __init__(self, target: str, client: MasterClient):
        self._address = target.removeprefix("grpc://")
        self._client = client
        self._lock = threading.Lock()
        self._way: Way | None = None
        self._has_none = os.environ.get(VARIABLE) == "0"

    def way(self) -> Way | None:
        """The way to the server, a new one if it was lost; None if steps have to go by gRPC."""
        found = self._way
        if found is not None and not found.connection.is_lost:
            return found
        with self._lock:
            found = self._way
            if found is None or found.connection.is_lost:
                made = None if self._has_none else self._connect()
                found = self._way = None if made is None else Way(made, set())
            return found

    def _connect(self) -> Connection | None:
        try:
            address = Address.parsed(self._client.ask_path(METHOD, _SECONDS))
        except (errors.UnavailableError, errors.DeadlineExceededError):
            return None  # a step by gRPC will say so, or the server comes back
        except (errors.OpError, ValueError, KeyError):
            self._has_none = True
            return None
        host = self._address.rpartition(":")[0]
        own = f"client {secrets.token_hex(4)}"
        other = f"The server at {self._address}"
        try:
            return connected(
                host,
                address,
                own,
                other,
                read_credentials(),
                _ignore,
                timeout=_SECONDS,
                decode=decoded_array,
            )
        except (OSError, frames.Disconnected, errors.OpError, KeyError):
            self._has_none = True
            return None

    def run(
        self, way: Way, form: Form, values: Sequence[Value], timeout: float | None
    ) -> tuple[Fields, list[Value]]:
        """Has the server run a step; one that is not waited for any more is cancelled.

        A step is described until it has been answered once, then named by its number.
        """
        connection, known = way
        number = form.number
        fields: Fields = {"do": RUN, "form": number}
        asked: tuple[Fields, list[Value]]
        if number in known:
            asked = connection.ask(fields, values, timeout, giving_up=CANCEL)
        else:
            described = {**fields, **form.description}
            asked = connection.ask(described, values, timeout, giving_up=CANCEL)
            known.add(number)
        return asked

    def run_part(
        self, way: Way, fields: Fields, values: Sequence[Value]
    ) -> tuple[Fields, list[Value]]:
        """Has the server run the next part of a step that it keeps."""
        asked: tuple[Fields, list[Value]]
        asked = way.connection.ask({"do": RUN, **fields}, values, giving_up=CANCEL)
        return asked

    def close(self) -> None:
        self._has_none = True
        if self._way is not None:
            self._way.connection.close()


def _ignore(connection: Connection, fields: Fields, values: list[Value]) -> None:
    """Servers answer, and say nothing of their own."""
