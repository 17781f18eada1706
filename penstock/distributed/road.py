"""The road between tasks: sockets that stay open, found through the tasks' front doors.

A task's address in the cluster is that of its gRPC door. Another task asks there, once, where the
road is, and keeps the connection: a Unix socket on the same host, which is faster, else TCP. Who
connects says which protocol it speaks and proves that it has the cluster's token before anything
else is read.
"""

from __future__ import annotations

import hmac
import json
import random
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from penstock import errors
from penstock.distributed import frames
from penstock.distributed.arena import host_identity
from penstock.distributed.connection import Connection, Handler
from penstock.distributed.credentials import Credentials
from penstock.distributed.interrupts import Open
from penstock.distributed.readers import Readers, TaskReaders
from penstock.distributed.tls_socket import TlsSocket
from penstock.runtime.value_bytes import decoded

OnLost = Callable[[Connection], None]

METHOD = "/penstock.Tasks/Road"
PROTOCOL = 6  # changes whenever two releases could misunderstand each other
_HANDSHAKE_SECONDS = 10.0
_RETRY_SECONDS = 0.1
_MOST_HELLO = 1 << 12  # bytes of a greeting, which has no tensors
_MOST_GREETINGS = 128  # under way at a time
# Below those that systems give to who asks for any: a program may have been told of one of them for
# the next server that it starts.
_OWN_PORTS = range(25_000, 32_768)
_TRIED_PORTS = 20
# A side that vanishes without a word is noticed by the system after a minute and a half.
_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class Address(NamedTuple):
    """Where a road is: a TCP port, and the name of a Unix socket if there is one."""

    port: int
    local: str = ""

    def message(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def parsed(cls, message: bytes) -> Address:
        fields = json.loads(message)
        return cls(int(fields["port"]), str(fields.get("local", "")))


def _digest(token: str, challenge: str) -> str:
    return hmac.new(token.encode(), challenge.encode(), "sha256").hexdigest()


class Road:
    """The listening end: accepts connections of other tasks and hands them to `handler`.

    `readers` are the threads that read what comes; without, each connection has some of its own.

    Attributes:
      address: where others reach it.
    """

    def __init__(
        self,
        interface: str,
        task: str,
        handler: Handler,
        credentials: Credentials,
        on_lost: OnLost | None = None,
        readers: TaskReaders | None = None,
    ):
        self._task = task
        self._handler = handler
        self._on_lost = on_lost
        self._readers = readers
        self._credentials = credentials
        self._tls = _server_tls(credentials) if credentials.has_certificates else None
        listener = _tcp_listener(interface)
        local, name = _local_listener()
        self.address = Address(listener.getsockname()[1], name)
        self._listeners = [listener] if local is None else [listener, local]
        self._lock = threading.Lock()
        self._open: dict[Connection, None] = {}
        self._accepted: dict[str, Connection] = {}  # the newest of each task
        self._greeted: dict[socket.socket, None] = {}  # the oldest first
        self._closed = False
        for each in self._listeners:
            threading.Thread(
                target=self._accept, args=(each,), name="penstock-road", daemon=True
            ).start()

    def _accept(self, listener: socket.socket) -> None:
        while not self._closed:
            try:
                sock, _ = listener.accept()
            except OSError:
                # Closed; or the system has no room for another socket, and will have some again.
                time.sleep(_RETRY_SECONDS)
                continue
            try:
                if self._tls is not None:
                    sock = self._tls.wrap_socket(
                        sock, server_side=True, do_handshake_on_connect=False
                    )
            except OSError:  # it is gone already
                sock.close()
                continue
            self._make_room(sock)
            threading.Thread(target=self._greet, args=(sock,), daemon=True).start()

    def _make_room(self, sock: socket.socket) -> None:
        """Hangs up on the slowest if too many greet at once: who belongs here is quick."""
        with self._lock:
            self._greeted[sock] = None
            if len(self._greeted) > _MOST_GREETINGS:
                slowest = next(iter(self._greeted))
                del self._greeted[slowest]
                with suppress(OSError):  # its thread closes it
                    socket.socket.shutdown(slowest, socket.SHUT_RDWR)

    def _greet(self, plain: socket.socket) -> None:
        sock: frames.Socket = plain
        try:
            plain.settimeout(_HANDSHAKE_SECONDS)
            _keep_alive(plain)
            if isinstance(plain, ssl.SSLSocket):
                plain.do_handshake()
                sock = TlsSocket(plain)
            task, one_host = self._introduced(sock)
            sock.settimeout(None)
        except (frames.Disconnected, OSError, errors.PermissionDeniedError):
            sock.close()
            return
        finally:
            with self._lock:
                self._greeted.pop(plain, None)
        readers = None if self._readers is None else self._readers.dealt()
        connection = Connection(
            sock, task, self._handler, self._lost, one_host=one_host, readers=readers
        )
        with self._lock:
            self._open[connection] = None
            self._accepted[task] = connection
            closed = self._closed
        connection.start()
        if closed:
            connection.close()

    def _introduced(self, sock: frames.Socket) -> tuple[str, bool]:
        """Who has connected, and whether it is on this host; raises if it doesn't belong here."""
        challenge = secrets.token_hex(16)
        frames.send(sock, {"protocol": PROTOCOL, "task": self._task, "challenge": challenge})
        hello = _read_greeting(sock, _HANDSHAKE_SECONDS)
        refusal = self._refusal(hello, challenge)
        host = host_identity()
        frames.send(sock, {"refused": refusal, "host": "" if refusal else host})
        if refusal:
            raise errors.PermissionDeniedError(None, None, refusal)
        return str(hello.get("task", "")), bool(host) and hello.get("host") == host

    def _lost(self, connection: Connection) -> None:
        with self._lock:
            self._open.pop(connection, None)
            if self._accepted.get(connection.task) is connection:
                del self._accepted[connection.task]
        if self._on_lost is not None:
            self._on_lost(connection)

    def accepted(self, task: str) -> Connection | None:
        """The open connection that a task has made, if there is one."""
        return self._accepted.get(task)

    @property
    def connections(self) -> list[Connection]:
        with self._lock:
            return list(self._open)

    def _refusal(self, hello: frames.Fields, challenge: str) -> str:
        if hello.get("protocol") != PROTOCOL:
            return f"it speaks protocol {PROTOCOL}, and this task {hello.get('protocol')}"
        token, proof = self._credentials.token, str(hello.get("proof")).encode()
        if token and not hmac.compare_digest(proof, _digest(token, challenge).encode()):
            return "this task does not have the token of its cluster"
        return ""

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for sock in self._greeted:
                with suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
        # Closing alone would leave the accepting thread waiting.
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in self.connections:
            connection.close()


class Peers:
    """Kept connections to the other tasks of a cluster.

    Args:
      task: the own task.
      addresses: the address of each task's front door.
      find_road: asks a front door where the road is; raises if nobody answers.
      handler: gets what other tasks send over these connections.
      on_lost: is told of connections that end.
      readers: see `Road`.
    """

    def __init__(
        self,
        task: str,
        addresses: Mapping[str, str],
        find_road: Callable[[str, float], Address],
        handler: Handler,
        credentials: Credentials,
        on_lost: OnLost | None = None,
        readers: TaskReaders | None = None,
    ):
        self._task = task
        self._on_lost = on_lost
        self._readers = readers
        self._addresses = dict(addresses)
        self._find_road = find_road
        self._handler = handler
        self._credentials = credentials
        self._lock = threading.Lock()
        self._each: dict[str, threading.Lock] = {name: threading.Lock() for name in addresses}
        self._connections: dict[str, Connection] = {}

    @property
    def tasks(self) -> list[str]:
        return list(self._addresses)

    @property
    def connections(self) -> list[Connection]:
        """Those that are open."""
        return [each for each in list(self._connections.values()) if not each.is_lost]

    def connect(self, task: str, patience: float = 0.0) -> Connection:
        """The connection to a task; one that does not answer yet is given `patience` seconds."""
        found = self.known(task)
        if found is not None:
            return found
        if task not in self._addresses:
            known = ", ".join(self._addresses)
            raise errors.NotFoundError(None, None, f"{task} is not in the cluster: {known}")
        with self._each[task]:
            found = self.known(task)
            if found is None:
                found = self._connections[task] = self._connected(task, patience)
            return found

    def known(self, task: str) -> Connection | None:
        """The connection to a task, if it is open."""
        found = self._connections.get(task)
        return None if found is None or found.is_lost else found

    @property
    def lost(self) -> list[str]:
        """Tasks that there was a connection to."""
        return [task for task, each in list(self._connections.items()) if each.is_lost]

    def tell(self, task: str, fields: frames.Fields, timeout: float) -> None:
        """Tells a task something over a new connection, which ends when it has answered.

        No thread is needed for it: a program that ends can't start one.
        """
        limit = time.monotonic() + timeout
        address = self._addresses[task]
        road = self._find_road(address, timeout)
        left = max(0.1, limit - time.monotonic())
        host = address.rpartition(":")[0]
        sock, _ = _greeted(host, road, self._task, task, self._credentials, left)
        try:
            frames.send(sock, {**fields, "call": 0})
            _read_greeting(sock, left)
        finally:
            sock.close()

    def _connected(self, task: str, patience: float) -> Connection:
        limit = time.monotonic() + patience
        while True:
            try:
                with Open():
                    return self._once(task, max(1.0, limit - time.monotonic()))
            except (OSError, frames.Disconnected, errors.UnavailableError) as error:
                if time.monotonic() >= limit:
                    raise errors.UnavailableError(
                        None,
                        None,
                        f"{task} at {self._addresses[task]} does not answer: {error}. Is it "
                        "running, and is the address right?",
                    ) from error
                time.sleep(_RETRY_SECONDS)

    def _once(self, task: str, timeout: float) -> Connection:
        address = self._addresses[task]
        road = self._find_road(address, timeout)
        host = address.rpartition(":")[0]
        return connected(
            host,
            road,
            self._task,
            task,
            self._credentials,
            self._handler,
            self._on_lost,
            readers=None if self._readers is None else self._readers.dealt(),
        )

    def close(self) -> None:
        for connection in list(self._connections.values()):
            connection.close()


def connected(
    host: str,
    address: Address,
    own: str,
    other: str,
    credentials: Credentials,
    handler: Handler,
    on_lost: OnLost | None = None,
    timeout: float = _HANDSHAKE_SECONDS,
    decode: frames.Decode = decoded,
    readers: Readers | None = None,
) -> Connection:
    """A connection to the road of another task; raises if it can't be made.

    Args:
      host, address: where the road is.
      own, other: the names of the two sides.
      credentials: those of the cluster.
      handler, on_lost: see `Connection`.
      timeout: seconds that each part of the greeting may take.
      decode: see `frames.Receiver`.
      readers: see `Connection`.
    """
    sock, one_host = _greeted(host, address, own, other, credentials, timeout)
    sock.settimeout(None)
    connection = Connection(
        sock, other, handler, on_lost, one_host=one_host, readers=readers, decode=decode
    )
    connection.start()
    return connection


def _greeted(
    host: str, address: Address, own: str, other: str, credentials: Credentials, timeout: float
) -> tuple[frames.Socket, bool]:
    """A socket to the road of another task that has taken this one in; whether on this host."""
    plain = _opened(host, address, timeout)
    sock: frames.Socket = plain
    try:
        _keep_alive(plain)
        if credentials.has_certificates:
            sock = TlsSocket(_client_tls(credentials).wrap_socket(plain))
        greeting = _read_greeting(sock, timeout)
        proof = _digest(credentials.token, str(greeting.get("challenge")))
        identity = host_identity()
        frames.send(sock, {"protocol": PROTOCOL, "task": own, "proof": proof, "host": identity})
        verdict = _read_greeting(sock, timeout)
    except BaseException:
        sock.close()
        raise
    refusal = verdict.get("refused", "it does not speak the protocol between tasks")
    if refusal:
        sock.close()
        raise errors.PermissionDeniedError(None, None, f"{other} refuses the connection: {refusal}")
    return sock, bool(identity) and verdict.get("host") == identity


class _ReadInTime:
    """A socket that can be read until a time, however slowly bytes come until then."""

    def __init__(self, sock: frames.Socket, seconds: float):
        self._sock = sock
        self._limit = time.monotonic() + seconds

    def recv_into(self, view: memoryview, count: int = 0, flags: int = 0) -> int:
        left = self._limit - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        return self._sock.recv_into(view, count, flags)


def _read_greeting(sock: frames.Socket, seconds: float) -> frames.Fields:
    """A message from who may be anybody: it is short, and comes in time."""
    reader = frames.Receiver(_ReadInTime(sock, seconds), 0, ahead=0, most_fields=_MOST_HELLO)
    fields, _ = reader.receive()
    return fields


def _tcp_listener(interface: str) -> socket.socket:
    """A socket that listens on an interface; on all of them it takes IPv4 and IPv6 alike."""
    if interface != "[::]":
        family = socket.AF_INET6 if interface.startswith("[") else socket.AF_INET
        return _listening(interface.strip("[]"), family=family)
    if not socket.has_dualstack_ipv6():  # a system without IPv6
        return _listening("")
    return _listening("", family=socket.AF_INET6, dualstack_ipv6=True)


def _listening(host: str, **settings: Any) -> socket.socket:
    """On a port that programs which look for a free one for their next server are not told of."""
    for _ in range(_TRIED_PORTS):
        with suppress(OSError):
            return socket.create_server((host, random.choice(_OWN_PORTS)), **settings)
    return socket.create_server((host, 0), **settings)


def _local_listener() -> tuple[socket.socket | None, str]:
    """A Unix socket that listens, and its name, which is no file's; none where there can't be one.

    Like shared memory it is for processes of the same running system.
    """
    if not host_identity():
        return None, ""
    name = f"penstock-{secrets.token_hex(16)}"
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(f"\0{name}")
        listener.listen()
    except OSError:
        listener.close()
        return None, ""
    return listener, name


def _opened(host: str, address: Address, timeout: float) -> socket.socket:
    """A connected socket, by the shortest way."""
    if address.local and host_identity():
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(timeout)
        try:
            sock.connect(f"\0{address.local}")
            return sock
        except OSError:  # it is on another host, or in another container
            sock.close()
    return socket.create_connection((host.strip("[]"), address.port), timeout=timeout)


def _keep_alive(sock: socket.socket) -> None:
    if sock.family == socket.AF_UNIX:  # the other side can't vanish without a word
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):  # not on every system
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _server_tls(credentials: Credentials) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=_authority(credentials))
    context.verify_mode = ssl.CERT_REQUIRED
    _load_chain(context, credentials)
    return context


def _client_tls(credentials: Credentials) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cadata=_authority(credentials))
    context.check_hostname = False  # the authority signs for the tasks of this cluster alone
    _load_chain(context, credentials)
    return context


def _authority(credentials: Credentials) -> str:
    return credentials.authority.decode()


def _load_chain(context: ssl.SSLContext, credentials: Credentials) -> None:
    import tempfile

    # The standard library takes certificates from files alone.
    with tempfile.NamedTemporaryFile() as file:
        file.write(credentials.certificate + b"\n" + credentials.key)
        file.flush()
        context.load_cert_chain(file.name)
