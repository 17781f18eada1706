"""Who reads from a connection: threads that stand by, or the one that waits for an answer.

1. A thread that stands by for all connections of the task (`Readers`) has its turn when a message
   comes. It reads and handles it.
2. A thread that has asked for something may hold the connection: what comes is then read by this
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
from penstock.distributed.readers import (
    NOT_READ,
    Readers,
    delegate,
    leave_jobs,
    leave_turn,
    pass_on,
    passes_on,
    turn_file,
)
from penstock.distributed.spinning import QUICK_PART_SECONDS, found_soon, wake_politely
from penstock.errors import OpError
from penstock.state.waiting import wake_held

if TYPE_CHECKING:
    from penstock.distributed.connection import Connection

_CONTESTED_SECONDS = 1.0  # that a connection is left to those who need it, after somebody did not
_LEADING_SECONDS = 0.1  # that a thread waits at the socket itself: more wakes than one don't count
_MOST_POLLS = 100  # that a thread keeps


class Reading:
    """The reading end of one connection.

    Args:
      sock: what is read from.
      receiver: makes messages of it.
      handle: gets every message, in the thread that read it, and must not wait.
      lose: is told that nothing can be read any more, and why.
      free: is called when no thread uses the socket any more, after `end`.
      readers: the threads that stand by.
    """

    def __init__(
        self,
        sock: Socket,
        receiver: Receiver,
        handle: Callable[[Fields, list[Value]], None],
        lose: Callable[[str], None],
        free: Callable[[], None],
        readers: Readers,
    ):
        self.file = sock.fileno()
        self.receiver = receiver
        self.readers = readers
        self._share = readers.share
        self._handle = handle
        self._lose = lose
        self._free = free
        self._lock = threading.Lock()
        self.mutex = threading.Lock()  # of the thread that reads
        self._users = 0  # threads that read, or hold the connection
        self._is_in_turn = False  # the thread that reads has the turn for it
        self._is_apart = False  # it has passed the turn on
        self._is_held = False
        self.is_wanted = False  # by others, while one thread holds it
        self.is_quick = True  # what was last waited for here came soon
        self._contested_until = 0.0
        self._is_over = False
        #: Does what a message asks for once its handler is done; see `Readers.work`.
        self.work = partial(readers.work, self)
        receiver.waits = self._read_on_apart

    def start(self) -> None:
        """Has the threads that stand by read here, too."""
        self.readers.add(self)

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
            self._free()

    # Threads that stand by ----------------------------------------------------------------------

    def read(self) -> None:
        """Reads and handles what has come, in the thread that has the turn."""
        if (self._is_held and not self.is_wanted) or not self._joined():
            return
        try:
            if self.mutex.acquire(blocking=False):
                self._is_in_turn = True
                self._read_some()
            else:  # who holds the connection is about to let go of it
                self._share(self.file, False)
                self.readers.start_reading(self.read_apart)
        finally:
            self._left()

    def read_apart(self) -> None:
        """The same in a thread without the turn."""
        if not self._joined():
            return
        try:
            self.mutex.acquire()
            self._is_apart = True
            self._read_some()
        finally:
            self._left()

    def _read_some(self) -> None:
        """Handles what has come; releases the mutex."""
        try:
            if self.receiver.has_come():  # nobody has read it yet
                self.take_message()
                while self.receiver.has_more() and not self._is_over:
                    self.take_message()
        except Disconnected as error:
            self.fail(error)
        finally:
            is_apart = self._is_apart
            self._is_in_turn = self._is_apart = False
            self.mutex.release()
            if is_apart:
                self._resume()

    def _read_on_apart(self) -> None:
        """The rest of a message has not come yet: others are not to wait for it."""
        if self._is_in_turn and passes_on():
            self._is_apart = True
            self._share(self.file, False)
        delegate()
        pass_on()

    def _resume(self) -> None:
        with self._lock:
            if not (self._is_held or self._is_over):
                self._share(self.file, True)

    # The thread that waits ----------------------------------------------------------------------

    def hold(self) -> bool:
        """Keeps those that stand by from reading, if nobody else does; the caller is to read.

        If somebody else does, those that stand by read at once or when that one has read.
        """
        with self._lock:
            if self._is_held:
                self._want()
                return False
            if self._is_over or not self.readers.lets_lead:
                return False
            self._is_held = True
            self._users += 1
            self._share(self.file, False)
        return True

    @property
    def is_contested(self) -> bool:
        """Whether a thread has lately wanted to hold it while another one did."""
        return time.monotonic() < self._contested_until

    def _want(self) -> None:
        self.is_wanted = True
        self._contested_until = time.monotonic() + _CONTESTED_SECONDS
        if self.mutex.acquire(blocking=False):
            self._share(self.file, True)
            self.mutex.release()

    def let_go(self) -> None:
        """Leaves the connection to those that stand by."""
        with self._lock:
            self._is_held = self.is_wanted = False
            has_more = self.receiver.has_more()
            if not (has_more or self._is_over):
                self._share(self.file, True)
            self._users -= 1
            is_last = self._is_over and not self._users
        if is_last:
            self._free()
        elif has_more:  # of which the system knows nothing: it would wake nobody
            self.readers.start_reading(self.read_apart)

    def take_message(self) -> None:
        """Reads and handles one message; with the mutex."""
        try:
            self._handle(*self.receiver.receive())
        except NOT_READ as error:
            self.fail(error)
        except BaseException as error:  # Ctrl-C: what follows half a message can't be understood
            self._lose(f"a message was not read to its end: {error!r}")
            raise

    def look(self) -> None:
        """Reads what has come, if who holds the connection is busy with something else."""
        if not self._is_held or not self.mutex.acquire(blocking=False):
            return
        try:
            while not self._is_over and self.receiver.has_come():
                self.take_message()
        except Disconnected as error:
            self.fail(error)
        finally:
            self.mutex.release()

    def fail(self, error: Exception) -> None:
        """Nothing more can be read here."""
        self._lose(_reason(error))

    def end(self) -> None:
        """The socket is shut down: no thread reads any more."""
        self.readers.remove(self)  # while the file is surely that of this connection
        with self._lock:
            self._is_over = True
            is_free = not self._users
        if is_free:
            self._free()


def _reason(error: Exception) -> str:
    if isinstance(error, Disconnected):
        return str(error)
    if isinstance(error, OpError):  # nobody was there to take an answer
        return error.message
    return f"a message can't be understood: {error!r}"


class Leading:
    """A thread that reads from connections what it waits for.

    It holds them from its first wait on, for whose answer the other side has some work to do: what
    was to be said has been said by then. Between its waits nobody reads, unless somebody else wants
    to: it is for those who expect to wait soon and not for long. It belongs to the thread that
    makes it, which has to `end` it.

    Where others wait for answers, they read, or those that stand by. `among_others` a thread reads
    nevertheless, but in its waits alone: one that is to compute with what it waits for, and would
    be woken late.

    After a wait of less than `quick` seconds it looks for what it waits for next before it sleeps.
    """

    def __init__(
        self,
        connections: Sequence[Connection],
        *,
        among_others: bool = False,
        quick: float = QUICK_PART_SECONDS,
    ):
        self._held: list[Reading] = []
        self._files: list[int] = []  # of those
        self._shared: list[Reading] = []  # to be held in waits alone
        self._new: list[Reading] = []  # to be held from now on
        self._outer = _thread.leading
        _thread.leading = self
        self._sleeps = False
        self._quick = quick
        self._is_quick = True  # what was last waited for at these connections came soon
        self._bell = _thread.bell or _thread.hang_bell()
        for connection in connections:
            reading = connection.reading
            if among_others and (connection.open_calls or reading.is_contested):
                self._shared.append(reading)
            elif not connection.open_calls:
                self._new.append(reading)

    def _hold(self, reading: Reading) -> None:
        if reading.hold():
            self._held.append(reading)
            self._files.append(reading.file)
            self._is_quick = self._is_quick and reading.is_quick

    def wait(self, came: Callable[[], object], deadline: float | None = None) -> bool:
        """Reads until something has come, for a while; whether it has.

        If the thread has the turn to read elsewhere, it passes that on when something comes there.
        """
        if self._held:
            self._make_way()
        for reading in (*self._new, *self._shared):
            self._hold(reading)
        self._new = []
        if not self._held:
            return bool(came())
        leave_jobs()
        began = time.monotonic()
        limit = began + _LEADING_SECONDS
        if deadline is not None:
            limit = min(limit, deadline)
        taken: list[Reading] = []
        try:
            for reading in self._held:
                if not reading.mutex.acquire(blocking=False):
                    # Another thread is in the middle of a message, and has to read it to its end.
                    leave_turn()
                    if not reading.mutex.acquire(timeout=max(0.0, limit - time.monotonic())):
                        return bool(came())
                taken.append(reading)
            self._sleeps = True  # before it looks: who brings something looks after that
            while not came():
                left = limit - time.monotonic()
                if left <= 0 or not self._held:  # it had to step aside
                    return False
                self._read_one(left)
        finally:
            self._sleeps = False
            self._is_quick = time.monotonic() - began < self._quick
            for reading in taken:
                reading.is_quick = self._is_quick
                reading.mutex.release()
            self._make_way()
        return True

    def _make_way(self) -> None:
        for reading in self._held:
            if reading.is_wanted or self._shared:
                self._let_go()
                return

    def _read_one(self, seconds: float) -> None:
        for reading in self._held:
            if reading.receiver.has_more():
                reading.take_message()
                return
        turn = turn_file()
        files = (turn, *self._files)
        poll = _thread.polls.get(files) or _thread.poll_of(files)
        # The wait itself can be interrupted: no byte is lost.
        # Who has a turn works for a client, which sleeps meanwhile, with another task.
        found = found_soon(poll, may_move=turn >= 0) if self._is_quick else []
        for file, _ in found or poll.poll(1000 * seconds):
            if file == self._bell.file:
                self._bell.silence()
            elif file == turn:
                leave_turn()
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
        self._new = self._shared = []
        if _thread.leading is self:
            _thread.leading = self._outer

    def _let_go(self) -> None:
        held, self._held, self._files = self._held, [], []
        for reading in held:
            reading.let_go()

    def step_aside(self) -> None:
        """Has others read from now on, also for those that lead further out in this thread."""
        self._let_go()
        self._new = self._shared = []
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
    bell: _Bell | None = None  # one for all that lead in this thread, one after the other

    def hang_bell(self) -> _Bell:
        wake_politely()
        self.bell = _Bell()
        self.polls: dict[tuple[int, ...], select.poll] = {}
        return self.bell

    def poll_of(self, files: tuple[int, ...]) -> select.poll:
        """A new poll of the bell and of files, but for those below 0; it is kept."""
        assert self.bell is not None
        if len(self.polls) >= _MOST_POLLS:
            self.polls.clear()
        made = self.polls[files] = select.poll()
        for file in (self.bell.file, *files):
            if file >= 0:
                made.register(file, select.POLLIN)
        return made


_thread = _Thread()


def step_aside() -> None:
    """Has others go on, and read what this thread would have read: it has to wait."""
    wake_held()
    if _thread.leading is not None:
        _thread.leading.step_aside()
    leave_turn()
