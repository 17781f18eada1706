"""Mutexes that steps lock, and give back when what they guard is done."""

from __future__ import annotations

from weakref import WeakSet

from penstock.state.containers import ResourceManager
from penstock.state.waiting import DONE, NOTHING, Attempt, Lines, Outcome, Waiter


class Mutex:
    """Held by one lock at a time; those who wait get it in the order in which they came."""

    def __init__(self, name: str):
        self.name = name
        self._lines = Lines(1)
        self._is_held = False

    def acquire(self, waiter: Waiter) -> MutexLock:
        """The lock, when nobody else holds one."""

        def attempt() -> Outcome:
            if self._is_held:
                return NOTHING
            self._is_held = True
            return DONE

        self._lines.run(0, Attempt(attempt), waiter, "MutexLock")
        return MutexLock(self)

    def release(self) -> None:
        with self._lines.lock:
            self._is_held = False
            self._lines.flush()


class MutexLock:
    """The right to be inside: released once, or when a step that failed drops it."""

    def __init__(self, mutex: Mutex):
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        self.release()


class _HeldLocks(WeakSet[MutexLock]):
    """The locks of a step, for where it fails: an error may keep them alive."""


def hold_until_failure(resources: ResourceManager, lock: MutexLock) -> None:
    """Has `release_locks` of the step with these resources release a lock."""
    resources.get_or_create(_HeldLocks, "", "", _HeldLocks).add(lock)


def release_locks(resources: ResourceManager) -> None:
    """Releases what a step that failed still holds."""
    held = resources.find(_HeldLocks, "", "")
    for lock in held or ():
        lock.release()
