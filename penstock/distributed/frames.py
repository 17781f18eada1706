"""Messages between tasks: a few fields, and the memory of tensors behind them.

A frame is a fixed head (magic, length of the fields, length of the tensors), the fields as JSON,
and the tensors, each at a multiple of 64 bytes, so that a received frame's tensors are views of one
buffer. Nothing in a frame is executed; sizes are checked before memory is taken.
"""

from __future__ import annotations

import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from penstock.runtime.value_bytes import decoded, encoded, new_buffer

_HEAD = struct.Struct("<4sIQ")
_MAGIC = b"PSTK"
_ALIGNMENT = 64
_MOST_FIELDS = 1 << 26
_MOST_BUFFERS = 1000  # of one sendmsg; the system's limit is 1024
CHUNK = 1 << 20
MOST_BYTES = 1 << 36

Fields = dict[str, Any]
Moved = Callable[[int], None]
Value = Any  # a tensor, a NumPy array of bytes, or bytes


class Socket(Protocol):
    """What messages are sent and received by: a socket, or one with TLS."""

    def sendmsg(self, buffers: Sequence[memoryview], /) -> int: ...

    def recv_into(self, buffer: memoryview, /) -> int: ...

    def setsockopt(self, level: int, option: int, value: int, /) -> None: ...

    def settimeout(self, seconds: float | None, /) -> None: ...

    def fileno(self) -> int: ...

    def shutdown(self, how: int, /) -> None: ...

    def close(self) -> None: ...


class Disconnected(Exception):
    """The other side has gone, or speaks something else."""


def send(
    sock: Socket,
    fields: Fields,
    values: Sequence[Value] = (),
    moved: Moved | None = None,
) -> None:
    """Writes one frame, large tensors without a copy; `moved` is told of bytes as they go."""
    heads, buffers, size = [], [], 0
    for value in values:
        head, parts = encoded(value)
        length = sum(len(part) for part in parts)
        padding = -length % _ALIGNMENT
        heads.append([*head, length])
        buffers += parts
        if padding:
            buffers.append(memoryview(bytes(padding)))
        size += length + padding
    text = json.dumps({**fields, "values": heads} if heads else fields).encode()
    _write(sock, [_HEAD.pack(_MAGIC, len(text), size), text, *buffers], moved)


def _write(sock: Socket, buffers: list[Any], moved: Moved | None) -> None:
    pending = deque(memoryview(buffer).cast("B") for buffer in buffers if len(buffer))
    try:
        while pending:
            sent = sock.sendmsg(_next_chunk(pending))
            if moved is not None:
                moved(sent)
            while pending and sent >= len(pending[0]):
                sent -= len(pending.popleft())
            if sent:
                pending[0] = pending[0][sent:]
    except OSError as error:
        raise Disconnected(str(error)) from error
    except BaseException:  # Ctrl-C: what follows half a message could not be understood
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
        raise


def _next_chunk(pending: Iterable[memoryview]) -> list[memoryview]:
    """As much as is written at a time: a write that does not come further must be seen."""
    chunk: list[memoryview] = []
    room = CHUNK
    for buffer in pending:
        chunk.append(buffer[:room])
        room -= len(buffer)
        if room <= 0 or len(chunk) == _MOST_BUFFERS:
            break
    return chunk


def receive(
    sock: Socket,
    most_bytes: int = MOST_BYTES,
    arrived: Moved | None = None,
) -> tuple[Fields, list[Value]]:
    """Reads one frame; `arrived` is told of bytes as they come."""
    magic, fields_size, size = _HEAD.unpack(_read(sock, _HEAD.size, arrived))
    if magic != _MAGIC:
        raise Disconnected("the other side does not speak the protocol between tasks")
    if fields_size > _MOST_FIELDS or size > most_bytes:
        raise Disconnected(f"a message of {fields_size} and {size} bytes is too large")
    try:
        fields = json.loads(_read(sock, fields_size, arrived))
        heads = fields.pop("values", [])
        buffer = new_buffer(size)
        _read_into(sock, memoryview(buffer.numpy()), arrived)
        return fields, _values(heads, buffer)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Disconnected(f"a message can't be read: {error}") from error


def _read(sock: Socket, size: int, arrived: Moved | None) -> bytes:
    buffer = bytearray(size)
    _read_into(sock, memoryview(buffer), arrived)
    return bytes(buffer)


def _read_into(sock: Socket, view: memoryview, arrived: Moved | None) -> None:
    while len(view):
        try:
            count = sock.recv_into(view)
        except OSError as error:
            raise Disconnected(str(error)) from error
        if count == 0:
            raise Disconnected("the connection was closed")
        if arrived is not None:
            arrived(count)
        view = view[count:]


def _values(heads: list[Any], buffer: Any) -> list[Value]:
    values, start = [], 0
    for kind, shape, length in heads:
        if not 0 <= length <= len(buffer) - start:
            raise ValueError("a tensor is longer than its message")
        values.append(decoded(kind, shape, buffer[start : start + length]))
        start += length + -length % _ALIGNMENT
    return values
