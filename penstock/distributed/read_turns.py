"""Whose turn it is to read, of several threads that wait at the same sockets.

A thread that has read a message is to do what the message asks for, at once. Waking another
thread to read on would take as long as most steps do; so that one waits at the sockets already,
and the system wakes it if there is something to read.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from contextlib import suppress
from typing import Protocol

from penstock.distributed.spinning import (
    QUICK_SECONDS,
    at_work,
    found_soon,
    one_looks,
)


class ReadTurns(Protocol):
    """One thread at a time has the turn, from `take` until it passes it on.

    Attributes:
      lets_lead: whether a socket can be left to a thread that waits for an answer.
      file: what tells of something to read; -1 where nothing does.
    """

    lets_lead: bool
    file: int

    def watch(self, file: int) -> None:
        """Gives turns for what comes at another socket, too."""
        ...

    def forget(self, file: int) -> None: ...

    def share(self, file: int, is_shared: bool) -> None:
        """Gives no turns for a socket that is not shared: somebody else reads there."""
        ...

    def take(self, has_turn: bool) -> list[tuple[int, int]]:
        """Waits for something to read, with the turn; what a poll says of the sockets that have it.

        It may have been read by then. There is nothing after the end.
        """
        ...

    def pass_on(self) -> None:
        """Lets another thread read."""
        ...

    def end(self) -> None:
        """Gives all threads a turn in which there is nothing to read."""
        ...

    def close(self) -> None: ...


def read_turns() -> ReadTurns:
    return _SystemTurns() if hasattr(select, "epoll") else LockTurns()


_WATCHED = getattr(select, "EPOLLIN", 0)
# Of a socket that is left to others the system tells no more than that it is broken, once.
_LEFT = getattr(select, "EPOLLONESHOT", 0)


class _SystemTurns:
    """By Linux's epoll: one knows the sockets; another one knows that one, and tells one of the
    waiting threads of it, and no other until it is set again.

    A thread that looks out for what comes soon keeps the turn meanwhile: nobody is woken for what
    it finds.
    """

    lets_lead = True

    def __init__(self) -> None:
        self._sockets = select.epoll()
        self.file = self._sockets.fileno()
        self._threads = select.epoll()
        self._threads.register(self.file, _WATCHED | select.EPOLLONESHOT)
        self._lock = threading.Lock()
        self._is_taken = False
        self._is_quick = False  # what was last waited for came soon
        self._bell = -1  # at the end
        self._is_over = False

    def watch(self, file: int) -> None:
        self._sockets.register(file, _WATCHED)

    def forget(self, file: int) -> None:
        with suppress(ValueError):  # all is over
            self._sockets.unregister(file)

    def share(self, file: int, is_shared: bool) -> None:
        try:  # noqa: SIM105 - every step comes along here
            self._sockets.modify(file, _WATCHED if is_shared else _LEFT)
        except (FileNotFoundError, ValueError):
            pass  # it was forgotten meanwhile, or all is over

    def take(self, has_turn: bool) -> list[tuple[int, int]]:
        began = time.monotonic()
        found: list[tuple[int, int]] = []
        while not found and not self._is_over:
            has_turn = has_turn or (self._is_quick and self._claimed(asks=True))
            if has_turn:
                found = self._found_soon()
            if not found:
                if has_turn:
                    self.pass_on()
                self._threads.poll()
                has_turn = self._claimed()
                found = self._sockets.poll(0) if has_turn else []
        self._is_quick = time.monotonic() - began < QUICK_SECONDS
        return found

    def _claimed(self, *, asks: bool = False) -> bool:
        """Takes the turn if it is free; one who `asks` for it was not told that it is."""
        with self._lock:
            if self._is_taken or self._is_over:
                return False
            self._is_taken = True
            if asks:
                self._threads.modify(self.file, 0)
        return True

    def _found_soon(self) -> list[tuple[int, int]]:
        if not self._is_quick or at_work or not one_looks.acquire(blocking=False):
            return self._sockets.poll(0)
        try:
            return found_soon(self._sockets, self._has_to_stop)
        finally:
            one_looks.release()

    def _has_to_stop(self) -> object:
        return at_work or self._is_over

    def pass_on(self) -> None:
        with self._lock:
            self._is_taken = False
            if not self._is_over:
                self._threads.modify(self.file, _WATCHED | select.EPOLLONESHOT)

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            self._bell = os.eventfd(1)
            self._sockets.register(self._bell, _WATCHED)
            self._threads.modify(self.file, _WATCHED)

    def close(self) -> None:
        self._threads.close()
        self._sockets.close()
        if self._bell >= 0:
            os.close(self._bell)


class LockTurns:
    """By a lock, for other systems: who has it waits for what there is to read."""

    lets_lead = False
    file = -1

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._files: set[int] = set()  # those that are watched
        self._ear, self._bell = socket.socketpair()  # which tells of changes
        self._bell.setblocking(False)
        self._is_over = False

    def watch(self, file: int) -> None:
        with self._lock:
            self._files.add(file)
        self._ring()

    def forget(self, file: int) -> None:
        with self._lock:
            self._files.discard(file)
        self._ring()

    def share(self, file: int, is_shared: bool) -> None:
        if is_shared:
            self.watch(file)
        else:
            self.forget(file)

    def _ring(self) -> None:
        with suppress(OSError):  # it has been rung often enough, or all is over
            self._bell.send(b"!")

    def take(self, has_turn: bool) -> list[tuple[int, int]]:
        if not has_turn:
            self._turn.acquire()
        while not self._is_over:
            poll = select.poll()
            with self._lock:
                files = [*self._files]
            for file in (self._ear.fileno(), *files):
                poll.register(file, select.POLLIN)
            found = poll.poll()
            others = [each for each in found if each[0] != self._ear.fileno()]
            if len(others) < len(found) and not self._is_over:
                self._ear.recv(4096)
            if others:
                return others
        return []

    def pass_on(self) -> None:
        self._turn.release()

    def end(self) -> None:
        self._is_over = True
        self._ring()

    def close(self) -> None:
        self._ear.close()
        self._bell.close()
