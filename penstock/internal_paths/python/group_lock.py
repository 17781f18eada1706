"""`tensorflow.python.util.lock_util`: a lock that a group holds, not a single thread."""

from __future__ import annotations

import threading


class GroupLock:
    """Lets the members of one group in at a time, any number of them.

    Args:
      num_groups: how many groups there are.
    """

    def __init__(self, num_groups: int = 2):
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._ready = threading.Condition(threading.Lock())
        self._num_groups = num_groups
        self._group_member_counts = [0] * num_groups

    def group(self, group_id: int) -> _Membership:
        """A context in which the group holds the lock."""
        self._validate_group_id(group_id)
        return _Membership(self, group_id)

    def acquire(self, group_id: int) -> None:
        """Waits until no other group holds the lock, and joins this one."""
        self._validate_group_id(group_id)
        with self._ready:
            self._ready.wait_for(lambda: not self._another_group_active(group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Leaves the group; the last one lets the others in."""
        self._validate_group_id(group_id)
        with self._ready:
            self._group_member_counts[group_id] -= 1
            if not self._group_member_counts[group_id]:
                self._ready.notify_all()

    def _another_group_active(self, group_id: int) -> bool:
        return any(
            members > 0
            for group, members in enumerate(self._group_member_counts)
            if group != group_id
        )

    def _validate_group_id(self, group_id: int) -> None:
        if not 0 <= group_id < self._num_groups:
            raise ValueError(
                f"group_id={group_id} should be between 0 and num_groups={self._num_groups}"
            )


class _Membership:
    """The `with` block of one member; it may be entered again."""

    def __init__(self, lock: GroupLock, group_id: int):
        self._lock = lock
        self._group_id = group_id

    def __enter__(self) -> None:
        self._lock.acquire(self._group_id)

    def __exit__(self, *exception: object) -> None:
        self._lock.release(self._group_id)
