"""Who reads from a connection: threads that stand by, or the one that waits for an answer.

1. A thread that stands by has its turn when a message comes. It reads and handles it; if there is
   work to be done for it, the thread does that, too, while another one stands by. Work that takes
   but a moment is done before the turn is passed on: the same thread then reads the next message.
2. A thread that has asked for something may hold the turns: what comes is then read by this
   thread, while it waits, and no other one has to be woken (`Leading`).
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from penstock.distributed.frames import Disconnected, Fields, Receiver, Socket, Value
from penstock.distributed.read_turns import read_turns
from penstock.distributed.spinning import (
    QUICK_ANSWER_SECONDS,
    at_work,
    found_soon,
    wake_politely,
)
from penstock.errors import OpError
from penstock.runtime.crew import Crew
from penstock.state.waiting import wake_held

if TYPE_CHECKING:
    from penstock.distributed.connection import Connection

_MOST_STANDING_BY = 2  # threads that wait for messages: one more than does something with one
_LEADING_SECONDS = 0.1  # that a thread waits at the socket itself: more wakes than one don't count

Job = Callable[[], None]


class Reading:
    """The reading end of one connection.

    Args:
      sock: what is read from.
      receiver: makes messages of it.
      handle: gets every message, in the thread that read it, and must not wait.
      lose: is told that nothing can be read any more, and why.
      free: is called when no thread uses the socket any more, after `end`.
      crew: gives the threads.
    """

    def __init__(
        self,
        sock: Socket,
        receiver: Receiver,
        handle: Callable[[Fields, list[Value]], None],
        lose: Callable[[str], None],
        free: Callable[[], None],
        crew: Crew,
    ):
        self.file = sock.fileno()
        self.receiver = receiver
        self._handle = handle
        self._lose = lose
        self._free = free
        self._crew = crew
        self._turns = read_turns(sock)
        self._lock = threading.Lock()
        self.mutex = threading.Lock()  # of the thread that reads
        self._users = 0  # threads that may read
        self._standing_by = 0  # those of them that wait for their turn
        self._is_held = False
        self.is_wanted = False  # by others, while one thread holds the turns
        self.is_quick = True  # what was last waited for here came soon
        self._is_over = False
        self._work: Job | None = None  # of the message that was just handled
        self._is_instant = False  # that work
        self._handling = 0  # the thread that is handling a message

    def work(self, job: Job, *, instant: bool = False) -> None:
        """Does what a message asks for once its handler is done.

        Meanwhile another thread reads on, unless it is `instant`: a moment's work without waits.
        """
        if self._handling == threading.get_ident() and self._work is None:
            self._work, self._is_instant = job, instant
        else:
            self._crew.start(job)

    # Threads that stand by ----------------------------------------------------------------------

    def start(self) -> None:
        """Has another thread stand by."""
        if self._joined():
            self._crew.start(self._read)

    def _joined(self) -> bool:
        with self._lock:
            if self._is_over:
                return False
            self._users += 1
        return True

    def _left(self) -> None:
        with self._lock:
            self._users -= 1
            is_last = self._is_over and not self._users
        if is_last:
            self._close()

    def _close(self) -> None:
        self._turns.close()
        self._free()

    def _read(self, *, at_once: bool = False) -> None:
        if not _thread.is_polite:
            _thread.make_polite()
        try:
            has_turn = at_once or self._stood_by()
            while has_turn:
                at_work.add(self.file)
                job = self._next_job()
                if job is not None:
                    job()
                    del job
                at_work.discard(self.file)
                has_turn = self._stood_by()
        except _NOT_READ as error:
            self._lose(_reason(error))
        finally:
            at_work.discard(self.file)
            self._left()

    def _stood_by(self) -> bool:
        """Waits for the turn to read; False if there are enough others that do."""
        with self._lock:
            if self._is_over or self._standing_by >= _MOST_STANDING_BY:
                return False
            self._standing_by += 1
        self._turns.take()
        with self._lock:
            self._standing_by -= 1
        return True

    def _next_job(self) -> Job | None:
        """Reads messages until one is work for this thread, or no more is there; passes on."""
        job: Job | None = None
        has_more = instant = False
        try:
            with self.mutex:
                if self.receiver.has_more() or self._turns.is_true():  # nobody has read it yet
                    job, has_more = self._read_some()
                    instant = job is not None and self._is_instant and not has_more
            if job is not None and instant:
                _thread.turn = self
                job()
                return None
        finally:
            if not has_more and (not instant or _thread.turn is self):
                self._turns.pass_on()
            _thread.turn = None
        if has_more:  # of which the system knows nothing: it would wake nobody
            self.go_on()
        elif job is not None and not self._standing_by:
            self.start()
        return job

    def leave_turn(self) -> None:
        """Lets another thread read after all, while this one does what should take a moment."""
        _thread.turn = None
        self._turns.pass_on()
        if not self._standing_by:
            self.start()

    def _read_some(self) -> tuple[Job | None, bool]:
        while True:
            fields, values = self.receiver.receive()
            self._handling = threading.get_ident()
            try:
                self._handle(fields, values)
            finally:
                self._handling = 0
            del fields, values  # which may be large
            job, self._work = self._work, None
            has_more = self.receiver.has_more()
            if job is not None or not has_more:
                return job, has_more

    def go_on(self) -> None:
        """Has another thread read what has come already."""
        if self._joined():
            self._crew.start(partial(self._read, at_once=True))
        else:
            self._turns.pass_on()

    # The thread that waits ----------------------------------------------------------------------

    def hold(self) -> bool:
        """Keeps those that stand by from reading, if nobody else does; the caller is to read.

        If somebody else does, those that stand by read at once or when that one has read.
        """
        with self._lock:
            if self._is_held:
                self._want()
                return False
            if self._is_over or not self._turns.hold():
                return False
            self._is_held = True
            self._users += 1
        return True

    def _want(self) -> None:
        self.is_wanted = True
        if self.mutex.acquire(blocking=False):
            with suppress(OSError, ValueError):
                self._turns.let_go()
            self.mutex.release()

    def let_go(self) -> None:
        """Leaves the turns to those that stand by."""
        with self._lock:
            self._is_held = self.is_wanted = False
        try:  # noqa: SIM105 - every step comes along here
            self._turns.let_go()
        except (OSError, ValueError):
            pass  # the connection was lost
        if self.receiver.has_more():
            self.go_on()
        self._left()

    def take_message(self) -> None:
        """Reads and handles one message; with the mutex."""
        try:
            self._handle(*self.receiver.receive())
        except _NOT_READ as error:
            self._lose(_reason(error))
        except BaseException as error:  # Ctrl-C: what follows half a message can't be understood
            self._lose(f"a message was not read to its end: {error!r}")
            raise

    def look(self) -> None:
        """Reads what has come, if who holds the turns is busy with something else."""
        if not self._is_held or not self.mutex.acquire(blocking=False):
            return
        try:
            while not self._is_over and (self.receiver.has_more() or self._turns.is_true()):
                self.take_message()
        finally:
            self.mutex.release()

    def end(self) -> None:
        """The socket is shut down: no thread reads any more."""
        with self._lock:
            self._is_over = True
            is_free = not self._users
        with suppress(OSError, ValueError):
            self._turns.end()
        if is_free:
            self._close()


_NOT_READ = (Disconnected, OpError, KeyError, TypeError, ValueError, IndexError)


def _reason(error: Exception) -> str:
    if isinstance(error, Disconnected):
        return str(error)
    if isinstance(error, OpError):  # nobody was there to take an answer
        return error.message
    return f"a message can't be understood: {error!r}"


class Leading:
    """A thread that reads from connections what it waits for.

    Between its waits nobody reads, unless somebody else wants to: it is for those who expect to
    wait soon and not for long. It belongs to the thread that makes it, which has to `end` it.
    """

    def __init__(self, connections: Sequence[Connection]):
        if not _thread.is_polite:
            _thread.make_polite()
        self._held: list[Reading] = []
        self._outer = _thread.leading
        _thread.leading = self
        self._sleeps = False
        self._is_quick = True  # what was last waited for at these connections came soon
        self._poll = select.poll()
        for connection in connections:
            reading = connection.reading
            if not connection.open_calls and reading.hold():
                self._held.append(reading)
                self._poll.register(reading.file, select.POLLIN)
                self._is_quick &= reading.is_quick
        if self._held:
            self._bell = _thread.bell or _thread.hang_bell()
            self._poll.register(self._bell.file, select.POLLIN)

    def wait(self, came: Callable[[], object], deadline: float | None = None) -> bool:
        """Reads until something has come, for a while; whether it has."""
        self._make_way()
        if not self._held:
            return bool(came())
        began = time.monotonic()
        limit = began + _LEADING_SECONDS
        if deadline is not None:
            limit = min(limit, deadline)
        taken: list[Reading] = []
        try:
            # Another thread may be in the middle of a message, and has to read it to its end.
            for reading in self._held:
                if not reading.mutex.acquire(timeout=max(0.0, limit - time.monotonic())):
                    return bool(came())
                taken.append(reading)
            self._sleeps = True  # before it looks: who brings something looks after that
            while not came():
                left = limit - time.monotonic()
                if left <= 0:
                    return False
                self._read_one(left)
        finally:
            self._sleeps = False
            self._is_quick = time.monotonic() - began < QUICK_ANSWER_SECONDS
            for reading in taken:
                reading.is_quick = self._is_quick
                reading.mutex.release()
            self._make_way()
        return True

    def _make_way(self) -> None:
        for reading in self._held:
            if reading.is_wanted:
                self._let_go()
                return

    def _read_one(self, seconds: float) -> None:
        for reading in self._held:
            if reading.receiver.has_more():
                reading.take_message()
                return
        # The wait itself can be interrupted: no byte is lost.
        found = found_soon(self._poll) if self._is_quick else []
        for file, _ in found or self._poll.poll(1000 * seconds):
            if file == self._bell.file:
                self._bell.silence()
            for reading in self._held:
                if reading.file == file:
                    reading.take_message()
            return

    def wake(self) -> None:
        """Has the thread look again whether something has come, by another way."""
        if self._sleeps and _thread.leading is not self:
            self._bell.ring()

    def end(self) -> None:
        """Leaves the reading to others."""
        self._let_go()
        if _thread.leading is self:
            _thread.leading = self._outer

    def _let_go(self) -> None:
        held, self._held = self._held, []
        for reading in held:
            reading.let_go()

    def step_aside(self) -> None:
        """Has others read from now on, also for those that lead further out in this thread."""
        self._let_go()
        if self._outer is not None:
            self._outer.step_aside()


class _Bell:
    """Something to wait for beside sockets."""

    def __init__(self) -> None:
        self.file = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def ring(self) -> None:
        os.eventfd_write(self.file, 1)

    def silence(self) -> None:
        with suppress(BlockingIOError):
            os.eventfd_read(self.file)

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(self.file)


class _Thread(threading.local):
    leading: Leading | None = None
    turn: Reading | None = None  # that it keeps while it does a moment's work
    bell: _Bell | None = None  # one for all that lead in this thread, one after the other
    is_polite = False

    def make_polite(self) -> None:
        self.is_polite = True
        wake_politely()

    def hang_bell(self) -> _Bell:
        self.bell = _Bell()
        return self.bell


_thread = _Thread()


def step_aside() -> None:
    """Has others go on, and read what this thread would have read: it has to wait."""
    wake_held()
    if _thread.leading is not None:
        _thread.leading.step_aside()
    leave_turn()


def leave_turn() -> None:
    """Has another thread read on, if this one keeps its turn for what should take a moment."""
    if _thread.turn is not None:
        _thread.turn.leave_turn()
