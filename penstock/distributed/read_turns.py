"""Whose turn it is to read from a socket that several threads wait at.

A thread that has read a message is to do what the message asks for, at once. Waking another
thread to read on would take as long as most steps do; so that one waits at the socket already, and
the system wakes it if there is something to read.
"""

from __future__ import annotations

import select
import threading
from typing import Protocol

from penstock.distributed.frames import Socket
from penstock.distributed.spinning import Lookout


class ReadTurns(Protocol):
    """One thread at a time has the turn, from `take` until it gives it to the next."""

    def take(self) -> int:
        """Waits for the turn, and for something to read; the number of this turn."""
        ...

    def is_true(self, turn: int) -> bool:
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
    """By Linux's epoll: it tells one of the waiting threads, and no other until it is set again."""

    def __init__(self, sock: Socket) -> None:
        self._file = sock.fileno()
        self._epoll = select.epoll()
        self._epoll.register(self._file, select.EPOLLIN | select.EPOLLONESHOT)
        self._lookout = Lookout(self._epoll)
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)
        self._lock = threading.Lock()
        self._is_held = False
        self._is_over = False
        self._holds = 0  # so far: who holds the turns reads what others have a turn for

    def take(self) -> int:
        holds = self._holds
        self._lookout.wait()
        return holds

    def is_true(self, turn: int) -> bool:
        return turn == self._holds or bool(self._poll.poll(0))

    def pass_on(self) -> None:
        with self._lock:
            if not self._is_over and not self._is_held:
                self._epoll.modify(self._file, select.EPOLLIN | select.EPOLLONESHOT)

    def hold(self) -> bool:
        with self._lock:
            if not self._is_over:
                self._is_held = True
                self._holds += 1
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

    def take(self) -> int:
        self._lock.acquire()
        return 0

    def is_true(self, turn: int) -> bool:
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
