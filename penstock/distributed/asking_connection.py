"""A connection whose callers read their answers themselves: no other thread has to be woken."""

from __future__ import annotations

import select
import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from penstock import errors
from penstock.distributed.connection import Connection
from penstock.distributed.frames import Disconnected, Fields, Value
from penstock.errors import OpError

_GLANCE_MILLISECONDS = 50  # until who reads sees that others are to
_IDLE_SECONDS = 1.0  # after which what came without being asked for is looked at


class _Waiting:
    """A thread that waits for an answer; it is woken to look, and may find nothing."""

    def __init__(self) -> None:
        self.found: tuple[Fields, list[Value], OpError | None] | None = None
        self.bell: SimpleQueue[None] = SimpleQueue()

    def answer(self, fields: Fields, values: list[Value], error: OpError | None) -> None:
        self.found = fields, values, error
        self.bell.put(None)


class AskingConnection(Connection):
    """The end of a client, which asks and is not asked.

    1. One of those who wait for answers reads, those of the others too. When it has its own, it
       wakes another one to read on.
    2. While nobody waits, a thread looks once in a second: for questions whether this side is still
       there, and for the end of the connection.
    3. From the first call with a time limit on, threads of the connection's own do the reading.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._poll = select.poll()
        self._poll.register(self._sock, select.POLLIN)
        self._leading = threading.Lock()
        self._waiters: list[_Waiting] = []
        self._over = threading.Event()
        self._wants_readers = False  # see 3.

    def start(self) -> None:
        name = f"penstock-idle-{self.task}"
        threading.Thread(target=self._look_while_idle, name=name, daemon=True).start()

    def ask(
        self,
        fields: Fields,
        values: Sequence[Value] = (),
        timeout: float | None = None,
        giving_up: str = "",
    ) -> Any:
        if timeout is not None or self._wants_readers:
            self._let_others_read()
            return super().ask(fields, values, timeout, giving_up)
        waiting = _Waiting()
        self._waiters.append(waiting)
        try:
            number = self.call(fields, values, waiting.answer)
            try:
                self._await(waiting)
            except BaseException:  # Ctrl-C
                self._forget(number)
                if giving_up:
                    with suppress(errors.UnavailableError):
                        self.note({"do": giving_up, "step": number})
                raise
        finally:
            self._waiters.remove(waiting)
            self._wake_another()
        assert waiting.found is not None
        reply, given, error = waiting.found
        if error is not None:
            raise error
        return reply, given

    def _await(self, waiting: _Waiting) -> None:
        while waiting.found is None:
            if not self._wants_readers and self._leading.acquire(blocking=False):
                try:
                    self._lead(waiting)
                finally:
                    self._leading.release()
            else:
                waiting.bell.get()

    def _lead(self, waiting: _Waiting) -> None:
        """Reads until the answer has come, or other threads are to read."""
        while waiting.found is None and not self._wants_readers:
            # The wait itself can be interrupted: no byte is lost.
            if self._receiver.has_more() or self._poll.poll(_GLANCE_MILLISECONDS):
                self._take_message()
        self._start_readers()

    def _take_message(self) -> None:
        try:
            self._handle(*self._receiver.receive())
        except Disconnected as error:
            self._lose(str(error))
        except OpError as error:
            self._lose(error.message)
        except BaseException as error:
            self._lose(f"a message was not read to its end: {error!r}")
            raise

    def _wake_another(self) -> None:
        for other in list(self._waiters):
            if other.found is None:
                other.bell.put(None)
                return

    def _let_others_read(self) -> None:
        """Has threads of the connection read; who reads here now will start them."""
        self._wants_readers = True
        if self._leading.acquire(blocking=False):
            try:
                self._start_readers()
            finally:
                self._leading.release()

    def _start_readers(self) -> None:
        if self._wants_readers and not self._readers:
            self._add_reader()

    def _look_while_idle(self) -> None:
        while not self._over.wait(_IDLE_SECONDS):
            if self._wants_readers:
                return
            if self._leading.acquire(blocking=False):
                try:
                    while not self.is_lost and (self._receiver.has_more() or self._poll.poll(0)):
                        self._take_message()
                finally:
                    self._leading.release()
                self._wake_another()

    def _lose(self, reason: str) -> None:
        super()._lose(reason)
        self._over.set()
