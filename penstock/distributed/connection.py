"""A kept connection between two tasks: calls that are answered, and notes that are not."""

from __future__ import annotations

import itertools
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from penstock import errors
from penstock.distributed import frames
from penstock.distributed.frames import Disconnected, Fields, Socket, Value
from penstock.errors import OpError

Answer = Callable[[Fields, list[Value], "OpError | None"], None]
Handler = Callable[["Connection", Fields, list[Value]], None]


class Connection:
    """One socket. A thread reads; whoever has something to say writes.

    `handler` gets every call and note of the other side, in the reading thread: it must not wait.
    Answers go to those who called. When the connection is lost, calls that wait for an answer get
    an UnavailableError that names the other task, and `on_lost` is called.

    Attributes:
      heard: when something last came from the other side, in seconds of the monotonic clock.
      sent, received: bytes so far.
    """

    def __init__(
        self,
        sock: Socket,
        task: str,
        handler: Handler,
        on_lost: Callable[[Connection], None] | None = None,
    ):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.task = task
        self._sock = sock
        self._handler = handler
        self._on_lost = on_lost
        self._writing = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: dict[int, Answer] = {}
        self._numbers = itertools.count(1)
        self.is_lost = False
        self.heard = time.monotonic()
        self.sent = 0
        self.received = 0

    def start(self) -> None:
        name = f"penstock-from-{self.task}"
        threading.Thread(target=self._read, name=name, daemon=True).start()

    def note(self, fields: Fields, values: Sequence[Value] = ()) -> None:
        """Tells the other side something that it does not answer."""
        try:
            with self._writing:
                frames.send(self._sock, fields, values, self._moved)
        except Disconnected as error:
            self._lose(str(error))
            raise self._unavailable(str(error)) from error

    def ping(self) -> None:
        """Asks for a sign of life, unless that would have to wait behind something else."""
        if not self._writing.acquire(blocking=False):
            return
        try:
            room = select.poll()
            room.register(self._sock, select.POLLOUT)
            if room.poll(0):
                frames.send(self._sock, {"do": "ping"})
        except (Disconnected, OSError, ValueError) as error:
            reason = str(error)
        else:
            return
        finally:
            self._writing.release()
        self._lose(reason)

    def call(self, fields: Fields, values: Sequence[Value], answer: Answer) -> None:
        """Asks the other side; `answer` is called once, in another thread or in this one."""
        number = next(self._numbers)
        with self._lock:
            lost = self.is_lost
            if not lost:
                self._waiting[number] = answer
        if lost:
            answer({}, [], self._unavailable("the connection was lost"))
            return
        with suppress(errors.UnavailableError):  # the answer has been told
            self.note({**fields, "call": number}, values)

    def ask(
        self, fields: Fields, values: Sequence[Value] = (), timeout: float | None = None
    ) -> Any:
        """Asks and waits for the answer: its fields and values."""
        gate = threading.Lock()
        gate.acquire()
        found: list[Any] = []

        def answer(fields: Fields, values: list[Value], error: OpError | None) -> None:
            found.append((fields, values, error))
            gate.release()

        self.call(fields, values, answer)
        if not gate.acquire(timeout=-1 if timeout is None else timeout):
            raise errors.DeadlineExceededError(
                None, None, f"{self.task} did not answer within {timeout} seconds"
            )
        reply, given, error = found[0]
        if error is not None:
            raise error
        return reply, given

    def reply(self, to: Fields, fields: Fields, values: Sequence[Value] = ()) -> None:
        """Answers a call of the other side."""
        self.note({**fields, "reply": to["call"]}, values)

    def refuse(self, to: Fields, error: Exception) -> None:
        """Answers a call with an error."""
        code = error.error_code if isinstance(error, OpError) else errors.UNKNOWN
        text = error.message if isinstance(error, OpError) else f"{type(error).__name__}: {error}"
        self.note({"reply": to["call"], "code": int(code), "message": text[:3000]})

    def _read(self) -> None:
        try:
            while True:
                fields, values = frames.receive(self._sock, arrived=self._arrived)
                if "reply" in fields:
                    self._answered(fields, values)
                elif fields.get("do") == "ping":
                    self.note({"do": "pong"})
                elif fields.get("do") != "pong":
                    self._handler(self, fields, values)
        except Disconnected as error:
            self._lose(str(error))
        except OpError as error:  # nobody was there to take an answer
            self._lose(error.message)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            self._lose(f"a message can't be understood: {error!r}")

    def _moved(self, count: int) -> None:
        self.sent += count
        # The other side has made room for it: a large tensor may take long, without an answer.
        if count >= frames.CHUNK:
            self.heard = time.monotonic()

    def _arrived(self, count: int) -> None:
        self.heard = time.monotonic()
        self.received += count

    def _answered(self, fields: Fields, values: list[Value]) -> None:
        with self._lock:
            answer = self._waiting.pop(fields["reply"], None)
        if answer is None:
            return
        code = fields.get("code")
        error: OpError | None = None
        if code is not None:
            message = f"From {self.task}:\n{fields['message']}"
            error = errors.exception_type_from_error_code(code)(None, None, message)  # type: ignore[call-arg]
        answer(fields, values, error)

    def _unavailable(self, reason: str) -> errors.UnavailableError:
        return errors.UnavailableError(None, None, f"{self.task} can't be reached: {reason}")

    def _lose(self, reason: str) -> None:
        with self._lock:
            if self.is_lost:
                return
            self.is_lost = True
            waiting, self._waiting = self._waiting, {}
        with suppress(OSError):  # closing alone would leave the reading thread waiting
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        for answer in waiting.values():
            answer({}, [], self._unavailable(reason))
        if self._on_lost is not None:
            self._on_lost(self)

    def close(self, reason: str = "the connection was closed") -> None:
        self._lose(reason)
