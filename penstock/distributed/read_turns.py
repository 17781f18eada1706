"""Whose turn it is to read from a socket that several threads wait at.

A thread that has read a message is to do what the message asks for, at once. Waking another
thread to read on would take as long as most steps do; so that one waits at the socket already, and
the system wakes it if there is something to read.
"""

from __future__ import annotations

import select
import threading
import time
from typing import Protocol

from penstock.distributed.frames import Socket
from penstock.distributed.spinning import QUICK_SECONDS, at_work, found_soon, one_looks


class ReadTurns(Protocol):
    """One thread at a time has the turn, from `take` until it gives it to the next."""

    def take(self) -> None:
        """Waits for the turn, and for something to read."""
        ...

    def is_true(self) -> bool:
        """Whether what a turn was given for is still there to be read."""
        ...

    def pass_on(self) -> None:
        """Lets another thread read."""
        ...

    def hold(self) -> bool:
        """Gives no more turns, until `let_go`; False if that can't be done."""
        ...

    def let_go(self) -> None: ...

    def end(self) -> None:
        """Gives all threads a turn, now that the socket is shut down."""
        ...

    def close(self) -> None: ...


def read_turns(sock: Socket) -> ReadTurns:
    return _SystemTurns(sock) if hasattr(select, "epoll") else _LockTurns()


class _SystemTurns:
    """By Linux's epoll: it tells one of the waiting threads, and no other until it is set again.

    A thread that looks out for what comes soon does so at the socket itself: epoll would wake
    another one for the same message.
    """

    def __init__(self, sock: Socket) -> None:
        self._file = sock.fileno()
        self._epoll = select.epoll()
        self._epoll.register(self._file, select.EPOLLIN | select.EPOLLONESHOT)
        # One for the thread that looks, one for the thread that reads: none serves two at once.
        self._lookout, self._poll = select.poll(), select.poll()
        for poll in (self._lookout, self._poll):
            poll.register(self._file, select.POLLIN)
        self._lock = threading.Lock()
        self._is_quick = False  # what was last waited for came soon
        self._is_looked_at = False
        self._is_held = False
        self._is_over = False

    def take(self) -> None:
        began = time.monotonic()
        if not self._is_quick or not self._found_soon():
            self._epoll.poll()
        self._is_quick = time.monotonic() - began < QUICK_SECONDS

    def _found_soon(self) -> bool:
        if at_work or not one_looks.acquire(blocking=False):
            return False
        try:
            with self._lock:
                if self._is_held or self._is_over:
                    return False
                self._is_looked_at = True
                self._epoll.modify(self._file, 0)
            found = bool(found_soon(self._lookout, self._has_to_stop))
            self._is_looked_at = False
            if not found:
                self.pass_on()
            return found
        finally:
            one_looks.release()

    def _has_to_stop(self) -> object:
        return at_work or self._is_held or self._is_over

    def is_true(self) -> bool:
        return bool(self._poll.poll(0))

    def pass_on(self) -> None:
        with self._lock:
            if not (self._is_over or self._is_held or self._is_looked_at):
                self._epoll.modify(self._file, select.EPOLLIN | select.EPOLLONESHOT)

    def hold(self) -> bool:
        with self._lock:
            if not self._is_over:
                self._is_held = True
                self._epoll.modify(self._file, 0)
        return self._is_held

    def let_go(self) -> None:
        self._is_held = False
        self.pass_on()

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            self._epoll.modify(self._file, select.EPOLLIN)

    def close(self) -> None:
        self._epoll.close()


class _LockTurns:
    """By a lock, for other systems: who has it waits for what there is to read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def take(self) -> None:
        self._lock.acquire()

    def is_true(self) -> bool:
        return True

    def pass_on(self) -> None:
        self._lock.release()

    def hold(self) -> bool:
        return False

    def let_go(self) -> None:
        pass

    def end(self) -> None:
        pass  # reading from a socket that is shut down fails, in one thread after the other

    def close(self) -> None:
        pass
