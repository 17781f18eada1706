"""Messages between tasks: a few fields, and the memory of tensors behind them.

A frame is a fixed head (kind, length of the fields, length of the tensors), the fields as JSON,
and the tensors, each at a multiple of 64 bytes, so that a received message's tensors are views of
one buffer. Tensors that together are large follow in frames of their own, piece by piece, with
frames of other messages between them. A tensor that lies in memory which both sides share
(`arena.py`) is not in the frame at all. Nothing in a frame is executed; sizes are checked before
memory is taken.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from penstock.distributed.arena import SMALLEST, Inbox, Outbox, Place
from penstock.distributed.kept_buffers import buffer_of
from penstock.distributed.spinning import found_soon
from penstock.runtime.value_bytes import Buffer, decoded, encoded

_HEAD = struct.Struct("<4sIQ")
_HEAD_SIZE = _HEAD.size
_WHOLE = b"PSTK"  # fields and tensors
_BEGUN = b"PSTB"  # fields, and how long the tensors are that follow in pieces
_PIECE = b"PSTP"  # the number of the message instead of fields, and a piece; an empty one: no more
_ALIGNMENT = 64
_NEXT_SECONDS = 1e-4  # between parts of a large value that come fast
_MOST_FIELDS = 1 << 26
_MOST_BUFFERS = 1000  # of one sendmsg; the system's limit is 1024
_MOST_BEGUN = 4096  # messages of which some pieces have come
SMALL = 1 << 16  # bytes that are copied, to be written at once, or not at all
_AHEAD = 1 << 15  # bytes: a small message
CHUNK = 1 << 20
# What is written at a time: twice as much is a tenth slower by TCP, since the reader begins later.
WRITTEN = 1 << 19
MOST_BYTES = 1 << 36
# What reading a message may raise that nobody of this protocol has sent, or that has no room here.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError)
_PADDING = [bytes(count) for count in range(_ALIGNMENT)]
_NOTHING = np.empty(0, np.uint8)
# Made once, and without the looks at encodings and options that json.dumps and loads begin with.
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _encoder() -> Callable[[Any, int], Iterable[str]]:
    """What writes JSON; where Python has it in C, that alone."""
    made = json.JSONEncoder(separators=(",", ":"), check_circular=False)
    from_c = json.encoder.c_make_encoder  # type: ignore[attr-defined]
    if from_c is None:
        return made.iterencode  # type: ignore[return-value]
    text_of = json.encoder.encode_basestring_ascii
    chunks: Callable[[Any, int], Iterable[str]] = from_c(
        None, made.default, text_of, None, ":", ",", False, False, True
    )
    return chunks


_chunks_of = _encoder()

Fields = dict[str, Any]
Moved = Callable[[int], None]
Decode = Callable[[str, list[int], Any, int, int], Any]  # from kind, shape, memory, start, length
Value = Any  # a tensor, a NumPy array of bytes, or bytes


class Readable(Protocol):
    """What messages are received by."""

    def recv_into(self, buffer: memoryview, count: int = 0, flags: int = 0, /) -> int: ...


class Socket(Readable, Protocol):
    """What messages are sent and received by: a socket, or one with TLS."""

    def send(self, data: bytes, flags: int, /) -> int: ...

    def sendmsg(self, buffers: Sequence[memoryview], /) -> int: ...

    def setsockopt(self, level: int, option: int, value: int, /) -> None: ...

    def settimeout(self, seconds: float | None, /) -> None: ...

    def fileno(self) -> int: ...

    def shutdown(self, how: int, /) -> None: ...

    def close(self) -> None: ...


class Disconnected(Exception):
    """The other side has gone, or speaks something else."""


# Sending ----------------------------------------------------------------------------------------


@dataclass
class Message:
    """What is to be sent: the buffers of the tensors have `size` bytes together."""

    fields: Fields
    buffers: list[Buffer]
    size: int

    def whole(self) -> list[Any]:
        """The message as one frame."""
        text = "".join(_chunks_of(self.fields, 0)).encode()
        return [_HEAD.pack(_WHOLE, len(text), self.size), text, *self.buffers]

    def frames(self, number: int) -> Iterator[list[Any]]:
        """The message as several frames, none of them long."""
        text = "".join(_chunks_of({**self.fields, "number": number}, 0)).encode()
        yield [_HEAD.pack(_BEGUN, len(text), self.size), text]
        pending = deque(memoryview(buffer) for buffer in self.buffers if len(buffer))
        while pending:
            piece = _next_chunk(pending, CHUNK - _HEAD.size)
            length = sum(len(part) for part in piece)
            _drop(pending, length)
            yield [_HEAD.pack(_PIECE, number, length), *piece]


def plain(fields: Fields) -> bytes:
    """The frame of a message without tensors."""
    text = "".join(_chunks_of(fields, 0)).encode()
    return _HEAD.pack(_WHOLE, len(text), 0) + text


def given_up(number: int) -> list[Any]:
    """The frame that says that the rest of a message will not come."""
    return [_HEAD.pack(_PIECE, number, 0)]


def packed(
    fields: Fields, values: Sequence[Value], outbox: Outbox | None = None
) -> bytes | Message:
    """A message, its frame if it is small.

    Large values go into the shared memory, where there is one with room.
    """
    heads: list[list[Any]] = []
    buffers: list[Buffer] = []
    size = 0
    try:
        for value in values:
            head, parts = encoded(value)
            length = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
            head.append(length)
            heads.append(head)
            if outbox is not None and length >= SMALLEST:
                place = outbox.put(parts, length)
                if place is not None:
                    heads[-1] += [place.slot, place.begin]
                    continue
            buffers += parts
            padding = -length % _ALIGNMENT
            if padding:
                buffers.append(_PADDING[padding])
            size += length + padding
    except BaseException:
        for _, _, _, *where in heads:
            if where and outbox is not None:
                outbox.take_back(Place(*where))
        raise
    fields = {**fields, "values": heads}
    if size < SMALL:
        text = "".join(_chunks_of(fields, 0)).encode()
        if size + len(text) < SMALL:
            return b"".join([_HEAD.pack(_WHOLE, len(text), size), text, *buffers])
    return Message(fields, buffers, size)


def write(sock: Socket, buffers: Sequence[Any], moved: Moved | None = None) -> None:
    """Writes buffers without a copy; `moved` is told of bytes as they go."""
    try:
        pending = deque(memoryview(buffer).cast("B") for buffer in buffers if len(buffer))
        while pending:
            sent = sock.sendmsg(_next_chunk(pending, WRITTEN))
            if moved is not None:
                moved(sent)
            _drop(pending, sent)
    except OSError as error:
        raise Disconnected(str(error)) from error
    except BaseException:
        _break(sock)
        raise


def written_at_once(sock: Socket, data: bytes) -> int:
    """Writes what can be written without waiting; how many bytes."""
    try:
        return sock.send(data, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 0
    except OSError as error:
        raise Disconnected(str(error)) from error
    except BaseException:
        _break(sock)
        raise


def _break(sock: Socket) -> None:
    """After Ctrl-C: what follows half a frame could not be understood."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _drop(pending: deque[memoryview], count: int) -> None:
    """Takes so many bytes from the front."""
    while pending and count >= len(pending[0]):
        count -= len(pending.popleft())
    if count:
        pending[0] = pending[0][count:]


def _next_chunk(pending: Iterable[memoryview], room: int) -> list[memoryview]:
    """As much as is written at a time: a write that does not come further must be seen."""
    chunk: list[memoryview] = []
    for buffer in pending:
        chunk.append(buffer[:room])
        room -= len(buffer)
        if room <= 0 or len(chunk) == _MOST_BUFFERS:
            break
    return chunk


def send(sock: Socket, fields: Fields) -> None:
    """Writes a message without tensors, before there is a connection."""
    write(sock, [plain(fields)])


def _fields_of(data: bytes) -> Fields:
    text = data.decode()
    try:
        found, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("the fields are no JSON") from None
    if not isinstance(found, dict) or end < len(text):
        raise ValueError("the fields are not those of a message")
    return found


# Receiving --------------------------------------------------------------------------------------


def _poll_of(sock: Any) -> select.poll | None:
    """What tells whether there is something to read, of what is a socket."""
    if not hasattr(sock, "fileno"):
        return None
    poll = select.poll()
    poll.register(sock.fileno(), select.POLLIN)
    return poll


class _Begun:
    """A message of which some pieces have come."""

    def __init__(self, fields: Fields, size: int):
        self.fields = fields
        self.buffer = buffer_of(size)
        self.view = self.buffer.data
        self.size = size
        self.filled = 0


class Receiver:
    """Reads the messages of one socket.

    Args:
      sock: where they come from.
      most_bytes: what the tensors of all messages that are on their way may have.
      ahead: how many bytes may be read at once, if they have come; 0 leaves to others what is not
        part of a message that was asked for.
      decode: makes the values: tensors, or for a client arrays (`decoded_array`).
      most_fields: what the fields of a message may have.

    Attributes:
      inbox: the memory that the other side puts large tensors into, once there is one.
      waits: called when the rest of a message has to be waited for.
      heard: when bytes last came, in seconds of the monotonic clock.
      received: bytes so far.
    """

    def __init__(
        self,
        sock: Readable,
        most_bytes: int = MOST_BYTES,
        ahead: int = _AHEAD,
        decode: Decode = decoded,
        most_fields: int = _MOST_FIELDS,
    ) -> None:
        self._sock = sock
        self._most_fields = most_fields
        self._decrypted: Callable[[], int] | None = getattr(sock, "pending", None)  # of TLS
        self._poll = _poll_of(sock) if self._decrypted is None else None
        self._most_bytes = most_bytes
        self._decode = decode
        self._begun: dict[int, _Begun] = {}
        self._room = memoryview(bytearray(ahead))  # that bytes come into
        self._ahead = b""  # those that have come
        self._at = 0  # how many of them were taken
        self.inbox: Inbox | None = None
        self.waits: Callable[[], None] | None = None
        self.heard = time.monotonic()
        self.received = 0

    def receive(self) -> tuple[Fields, list[Value]]:
        """The next message that is complete."""
        while True:
            if len(self._ahead) - self._at < _HEAD_SIZE:
                self._read_ahead(_HEAD_SIZE)
            ahead = self._ahead
            kind, count, size = _HEAD.unpack_from(ahead, self._at)
            self._at = begin = self._at + _HEAD_SIZE
            middle = begin + count
            end = middle + size
            try:
                if kind == _WHOLE and end <= len(ahead):  # most have come with their first bytes
                    self._at = end
                    fields = _fields_of(ahead[begin:middle])
                    if "values" not in fields:
                        return fields, []
                    # A copy, which tensors may be changed in.
                    return fields, self._values(fields, bytearray(ahead[middle:end]))
                self._wait_for_rest()
                message = self._frame(kind, count, size)
            except _UNREADABLE as error:
                raise Disconnected(f"a message can't be read: {error}") from error
            if message is not None:
                return message
            if not self.has_more():
                self._comes_soon()  # the next piece

    def has_come(self) -> bool:
        """Whether there is something to read; what has come is read, without a wait."""
        if len(self._ahead) > self._at or (self._decrypted is not None and self._decrypted() > 0):
            return True
        count = self._receive(self._room, socket.MSG_DONTWAIT)
        self._ahead = self._room[:count].tobytes()
        self._at = 0
        return count > 0

    def _wait_for_rest(self) -> None:
        if self.waits is not None:
            self.waits()

    def has_more(self) -> bool:
        """Whether bytes have been read that no message was made of."""
        if len(self._ahead) > self._at:
            return True
        return self._decrypted is not None and self._decrypted() > 0

    def _frame(self, kind: bytes, count: int, size: int) -> tuple[Fields, list[Value]] | None:
        if kind == _PIECE:
            return self._piece(count, size)
        if kind not in (_WHOLE, _BEGUN):
            raise Disconnected("the other side does not speak the protocol between tasks")
        on_their_way = sum(each.size for each in self._begun.values()) if self._begun else 0
        if count > self._most_fields or size + on_their_way > self._most_bytes:
            raise Disconnected(f"a message of {count} and {size} bytes is too large")
        fields = _fields_of(self._read(count))
        if kind == _BEGUN:
            if len(self._begun) >= _MOST_BEGUN:
                raise Disconnected(f"more than {_MOST_BEGUN} messages at once are too many")
            self._begun[fields.pop("number")] = _Begun(fields, size)
            return None
        if not size:
            return fields, self._values(fields, _NOTHING) if "values" in fields else []
        buffer = buffer_of(size)
        self._read_into(buffer.data)
        return fields, self._values(fields, buffer)

    def _piece(self, number: int, size: int) -> tuple[Fields, list[Value]] | None:
        begun = self._begun[number]
        if not size:
            del self._begun[number]
            return None
        if size > begun.size - begun.filled:
            raise ValueError("its pieces are longer than it is")
        self._read_into(begun.view[begun.filled : begun.filled + size])
        begun.filled += size
        if begun.filled < begun.size:
            return None
        del self._begun[number]
        return begun.fields, self._values(begun.fields, begun.buffer)

    def _values(self, fields: Fields, buffer: bytearray | np.ndarray) -> list[Value]:
        values, start = [], 0
        for kind, shape, length, *where in fields.pop("values", ()):
            if where:
                if self.inbox is None:
                    raise ValueError("there is no memory that is shared")
                view = self.inbox.view(Place(*where), length)
                values.append(self._decode(kind, shape, view, 0, length))
                continue
            if not 0 <= length <= len(buffer) - start:
                raise ValueError("a tensor is longer than its message")
            values.append(self._decode(kind, shape, buffer, start, length))
            start += length + -length % _ALIGNMENT
        return values

    def _read(self, size: int) -> bytes:
        """The next few bytes; what has come behind them is kept for the next read."""
        begin = self._at
        end = begin + size
        if end > len(self._ahead):
            self._read_ahead(size)
            begin, end = 0, size
        self._at = end
        return self._ahead[begin:end]

    def _read_ahead(self, size: int) -> None:
        """Gets at least so many bytes, and what has come behind them."""
        found = self._ahead[self._at :]
        while len(found) < size:
            if found:
                self._wait_for_rest()
            missing = size - len(found)
            room = self._room if missing <= len(self._room) else memoryview(bytearray(missing))
            found += room[: self._receive(room)]
        self._ahead = found
        self._at = 0

    def _read_into(self, view: memoryview) -> None:
        ready = min(len(view), len(self._ahead) - self._at)
        if ready:
            view[:ready] = self._ahead[self._at : self._at + ready]
            self._at += ready
            view = view[ready:]
        comes_fast = True
        while len(view):
            comes_fast = comes_fast and len(view) >= SMALL and self._comes_soon()
            view = view[self._receive(view) :]

    def _comes_soon(self) -> bool:
        """Looks for more of a large value, for a moment; whether there is something to read.

        While it comes fast, who reads it does not sleep: to wake a thread for each part would take
        the sender, by TCP, a quarter of its time.
        """
        poll = self._poll
        return poll is not None and bool(found_soon(poll, None, _NEXT_SECONDS))

    def _receive(self, view: memoryview, flags: int = 0) -> int:
        try:
            count = self._sock.recv_into(view, 0, flags)
        except BlockingIOError:  # only where the flags ask for it
            return 0
        except OSError as error:
            raise Disconnected(str(error)) from error
        if count == 0:
            raise Disconnected("the connection was closed")
        self.heard = time.monotonic()
        self.received += count
        return count
