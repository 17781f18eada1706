"""Barriers: the components of an element come one by one, under a key, and leave together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import errors
from penstock.dtypes import DType, int64, string
from penstock.shapes import Shape, text
from penstock.state.queues import Element, PriorityQueue
from penstock.state.waiting import Waiter

_FIRST_INDEX = -(2**63)


class _Incomplete:
    """An element that lacks components, and its place in the order of first insertion."""

    __slots__ = ("index", "values")

    def __init__(self, index: int, count: int):
        self.index = index
        self.values: list[Any] = [None] * count


class Barrier:
    """Elements that wait for components, and a queue of those that are complete.

    1. Complete elements are taken in the order in which their keys first came. Keys that came with
       one insertion have the same index.
    2. A closed barrier takes no new keys; keys that it has can still be completed, unless pending
       insertions were cancelled.
    """

    def __init__(self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape]):
        self.name = name
        self.dtypes = list(dtypes)
        self.shapes = list(shapes) or [None] * len(self.dtypes)
        self._ready = PriorityQueue(name, [int64, string, *dtypes])
        self._incomplete: dict[bytes, _Incomplete] = {}
        self._next_index = _FIRST_INDEX
        self._closed = self._cancelled = False
        self._lock = threading.Lock()

    def insert_many(
        self, keys: Sequence[bytes], values: Sequence[Any], component: int, waiter: Waiter
    ) -> None:
        """Gives elements their component number `component`."""
        with self._lock:
            new = self._check_open(keys)
            try:
                complete = [
                    element
                    for key, value in zip(keys, values, strict=True)
                    if (element := self._insert(key, value, component)) is not None
                ]
            finally:
                self._next_index += new > 0
            is_last = self._closed and not self._incomplete
        self._ready.enqueue_many(complete, waiter)
        if is_last:
            self._ready.close()

    def _check_open(self, keys: Sequence[bytes]) -> int:
        """How many of the keys are new, where the barrier still takes them."""
        new = [key for key in keys if key not in self._incomplete]
        if self._closed and (self._cancelled or new):
            brand_new = (
                f", but attempted to insert a brand new key: {new[0].decode(errors='replace')}"
                if new
                else ""
            )
            raise errors.CancelledError(
                None,
                None,
                f"Barrier {self.name} is closed{brand_new}.  Pending enqueues cancelled: "
                f"{int(self._cancelled)}.  Number of new insertions: {len(new)}.  Number of "
                f"incomplete keys: {len(self._incomplete)}.",
            )
        return len(new)

    def _insert(self, key: bytes, value: Any, component: int) -> Element | None:
        """Adds a component; the element where that was the last one."""
        entry = self._incomplete.get(key)
        if entry is None:
            entry = self._incomplete[key] = _Incomplete(self._next_index, len(self.dtypes))
        if entry.values[component] is not None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Key {key.decode(errors='replace')} already has a value for component "
                f"{component} in barrier {self.name}",
            )
        entry.values[component] = value
        if any(given is None for given in entry.values):
            return None
        del self._incomplete[key]
        return entry.index, key, *entry.values

    def take_many(self, count: int, waiter: Waiter, *, allow_fewer: bool) -> list[Element]:
        """Takes complete elements out: (index, key, components …)."""
        with self._lock:
            if self._closed:
                available = len(self._ready)
                wanted = count
                if allow_fewer:
                    wanted = min(count, available)
                else:
                    available += len(self._incomplete)
                if available < max(wanted, 1):
                    raise errors.OutOfRangeError(
                        None,
                        None,
                        f"Barrier '{self.name}' is closed and has insufficient elements "
                        f"(requested {wanted}, total size {available})",
                    )
                count = wanted
        if count == 0:
            return []
        return self._ready.dequeue_many(count, waiter, allow_fewer=allow_fewer)

    def close_for(self, *, cancel_pending_enqueues: bool) -> None:
        with self._lock:
            if self._closed and (self._cancelled or not cancel_pending_enqueues):
                message = f"Barrier '{self.name}' is already closed."
                raise errors.CancelledError(None, None, message)
            self._closed = True
            if cancel_pending_enqueues:
                self._cancelled = True
                self._incomplete.clear()
            is_over = not self._incomplete
        if is_over:
            self._ready.close()

    def close(self) -> None:
        """Ends all waits: the container of the barrier is cleared."""
        self._ready.close()

    def ready_size(self) -> int:
        return len(self._ready)

    def incomplete_size(self) -> int:
        return len(self._incomplete)

    def read(self) -> np.ndarray:
        """What an old handle holds as a value: the names of container and barrier."""
        return np.array([b"", self.name.encode()], dtype=object)

    def mismatch(self, other: Barrier) -> str | None:
        """Why a node that would make `other` can't share this barrier."""
        shared = f"Shared barrier '{self.name}' has"
        if self.dtypes != other.dtypes:
            has, wants = (", ".join(d.name for d in b.dtypes) for b in (self, other))
            return f"{shared} component types {has} but requested component types were {wants}"
        if self.shapes != other.shapes:
            has, wants = (", ".join(text(s) for s in b.shapes) for b in (self, other))
            return f"{shared} component shapes {has} but requested component shapes were {wants}"
        return None
