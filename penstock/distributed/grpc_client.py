"""Calls of TensorFlow's MasterService at a server, of Penstock or of TensorFlow."""

from __future__ import annotations

import logging
import threading
from typing import Any

import grpc

from penstock.distributed.credentials import FOLDER_VARIABLE, Credentials, read_credentials
from penstock.distributed.grpc_door import MESSAGE_SIZES
from penstock.distributed.grpc_master import MASTER_SERVICE
from penstock.distributed.statuses import error_of
from penstock.distributed.step_messages import parse
from penstock.ir.graph import Graph

_OPTIONS = (
    *MESSAGE_SIZES,
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_http_proxy", 0),
    # A server that vanished without a word is noticed; TensorFlow's servers hang up on clients
    # that ask more often than every five minutes.
    ("grpc.keepalive_time_ms", 330_000),
    ("grpc.keepalive_timeout_ms", 20_000),
)
_REMINDER = 10.0  # seconds without a connection until that is said
_log = logging.getLogger("penstock")


def channel_to(address: str, credentials: Credentials) -> Any:
    """A gRPC channel to host:port, by TLS where the cluster has certificates."""
    if not credentials.has_certificates:
        return grpc.insecure_channel(address, options=_OPTIONS)
    identity = grpc.ssl_channel_credentials(
        credentials.authority, credentials.key, credentials.certificate
    )
    return grpc.secure_channel(address, identity, options=_OPTIONS)


class MasterClient:
    """A connection to the master at `target` (grpc://host:port); safe for many threads."""

    def __init__(self, target: str, graph: Graph | None = None):
        self._target = target
        self._graph = graph
        credentials = read_credentials()
        self._metadata = credentials.metadata()
        self._channel = channel_to(target.removeprefix("grpc://"), credentials)
        self._methods: dict[str, Any] = {}
        self._connected = threading.Event()

    def call(self, method: str, request: bytes, timeout: float | None = None) -> bytes:
        """The answer to a request.

        The first one waits until somebody listens; after that, a server that is gone is an
        UnavailableError.
        """
        if not self._connected.is_set():
            return self._first_call(method, request, timeout)
        try:
            answer: bytes = self._method(method)(request, timeout=timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            raise self._error(error) from None
        return answer

    def ask(self, method: str, request: Any, kind: Any, timeout: float | None = None) -> Any:
        """The same with messages; `kind` is that of the answer."""
        return parse(kind, self.call(method, request.SerializeToString(), timeout))

    def ask_path(self, path: str, timeout: float) -> bytes:
        """What the server says at a path that is none of the master's."""
        try:
            method = self._channel.unary_unary(path)
            answer: bytes = method(b"", timeout=timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            raise self._error(error) from None
        return answer

    def last_call(self, method: str, request: Any) -> None:
        """Makes a call whose answer nobody waits for, and closes the connection after it."""
        call = self._method(method).future(
            request.SerializeToString(), timeout=5.0, metadata=self._metadata
        )
        call.add_done_callback(lambda _: self._channel.close())

    def close(self) -> None:
        self._channel.close()

    def _method(self, name: str) -> Any:
        found = self._methods.get(name)
        if found is None:
            found = self._methods[name] = self._channel.unary_unary(f"/{MASTER_SERVICE}/{name}")
        return found

    def _first_call(self, method: str, request: bytes, timeout: float | None) -> bytes:
        """A call that says so while it waits for a connection."""
        call = self._method(method).future(
            request, timeout=timeout, metadata=self._metadata, wait_for_ready=True
        )
        timer = threading.Timer(_REMINDER, self._still_waiting)
        timer.daemon = True
        timer.start()
        try:
            answer: bytes = call.result()
        except grpc.RpcError as error:
            raise self._error(error) from None
        except BaseException:  # Ctrl-C
            call.cancel()
            raise
        finally:
            timer.cancel()
        self._connected.set()
        return answer

    def _still_waiting(self) -> None:
        # What is missing is not known here: the server waits for its cluster's tasks itself, and
        # one that has other certificates can't be told from one that is not there.
        _log.warning(
            "Still waiting for a server at %s; is it running, are the other tasks of its cluster, "
            "and do all have the same %s?",
            self._target,
            FOLDER_VARIABLE,
        )

    def _error(self, error: Any) -> Exception:
        return error_of(error.code().value[0], error.details() or str(error), self._graph)
