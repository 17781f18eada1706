"""Staging areas: values put aside by one step for another, in order or under keys."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors
from penstock.state.waiting import DONE, NOTHING, Attempt, Lines, Outcome, Waiter

_PUTS, _GETS = 0, 1


class _Limits:
    """How much an area holds: a number of elements and of bytes, 0 for no limit."""

    def __init__(self, capacity: int, memory_limit: int):
        self.capacity = capacity
        self.memory_limit = memory_limit
        self.used = 0

    def refuse_too_large(self, size: int) -> None:
        if 0 < self.memory_limit < size:
            raise errors.ResourceExhaustedError(
                None,
                None,
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging "
                f"Area with a memory limit of '{self.memory_limit}'.",
            )

    def have_room(self, elements: int, size: int) -> bool:
        if 0 < self.capacity <= elements:
            return False
        return self.memory_limit == 0 or self.used + size <= self.memory_limit


class StagingArea:
    """Elements in the order in which they were put."""

    def __init__(self, name: str, capacity: int = 0, memory_limit: int = 0):
        self.name = name
        self._limits = _Limits(capacity, memory_limit)
        self._elements: deque[tuple[Any, int]] = deque()
        self._lines = Lines()

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Sequence[Any], size: int, waiter: Waiter) -> None:
        """Adds an element of `size` bytes, when there is room."""
        self._limits.refuse_too_large(size)

        def attempt() -> Outcome:
            if not self._limits.have_room(len(self._elements), size):
                return NOTHING
            self._elements.append((element, size))
            self._limits.used += size
            return DONE

        self._lines.run(_PUTS, Attempt(attempt), waiter, "Stage")

    def get(self, waiter: Waiter) -> Any:
        """Removes the oldest element, when there is one."""
        taken: list[Any] = []

        def attempt() -> Outcome:
            if not self._elements:
                return NOTHING
            element, size = self._elements.popleft()
            self._limits.used -= size
            taken.append(element)
            return DONE

        self._lines.run(_GETS, Attempt(attempt), waiter, "Unstage")
        return taken[0]

    def peek(self, index: int, waiter: Waiter) -> Any:
        """The element with a number, which stays, when there are so many."""
        seen: list[Any] = []

        def attempt() -> Outcome:
            if len(self._elements) <= index:
                return NOTHING
            seen.append(self._elements[index][0])
            return DONE

        self._lines.run(_GETS, Attempt(attempt), waiter, "StagePeek")
        return seen[0]

    def clear(self) -> None:
        with self._lines.lock:
            self._elements.clear()
            self._limits.used = 0
            self._lines.flush()


class MapStagingArea:
    """Elements under integer keys; their components may be put and taken in parts.

    1. An element can be taken only once all of its components have been put.
    2. Without a key, the smallest one is taken from an `ordered` area, the oldest from others.
    """

    def __init__(
        self,
        name: str,
        capacity: int = 0,
        memory_limit: int = 0,
        *,
        ordered: bool = False,
    ):
        self.name = name
        self._limits = _Limits(capacity, memory_limit)
        self._ordered = ordered
        self._complete: dict[int, list[Any]] = {}
        self._incomplete: dict[int, list[Any]] = {}
        self._lines = Lines(unordered=True)

    def __len__(self) -> int:
        return len(self._complete)

    def incomplete_size(self) -> int:
        return len(self._incomplete)

    def put(
        self,
        key: int,
        indices: Sequence[int],
        values: Sequence[tuple[Any, int]],
        components: int,
        waiter: Waiter,
    ) -> None:
        """Puts some of an element's components (each a value and its bytes), when there is room."""
        if len(indices) != len(values):
            raise errors.InvalidArgumentError(
                None, None, f"{len(indices)} indices do not match {len(values)} values"
            )
        _check_indices(indices, components)
        size = sum(bytes_ for _, bytes_ in values)
        self._limits.refuse_too_large(size)

        def attempt() -> Outcome:
            if not self._limits.have_room(len(self._complete), size):
                return NOTHING
            element = self._incomplete.setdefault(key, [None] * components)
            for index, value in zip(indices, values, strict=True):
                if element[index] is not None:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"The tensor for index '{index}' for key '{key}' was already initialized "
                        f"'{components}'.",
                    )
                element[index] = value
            self._limits.used += size
            if all(value is not None for value in element):
                del self._incomplete[key]
                self._complete.setdefault(key, element)
            return DONE

        self._lines.run(_PUTS, Attempt(attempt), waiter, "MapStage")

    def get(self, key: int | None, indices: Sequence[int], waiter: Waiter) -> tuple[int, list[Any]]:
        """Removes components of the element with a key, or of any; (key, values)."""
        return self._find(key, indices, waiter, self._remove)

    def peek(self, key: int, indices: Sequence[int], waiter: Waiter) -> list[Any]:
        """Components of the element with a key, which stay."""
        return self._find(key, indices, waiter, None)[1]

    def _find(
        self,
        key: int | None,
        indices: Sequence[int],
        waiter: Waiter,
        then: Callable[[int, Sequence[int]], None] | None,
    ) -> tuple[int, list[Any]]:
        found: list[tuple[int, list[Any]]] = []

        def attempt() -> Outcome:
            if key not in self._complete and (key is not None or not self._complete):
                return NOTHING
            chosen = key if key is not None else self._next_key()
            element = self._complete[chosen]
            _check_indices(indices, len(element))
            for index in indices:
                if element[index] is None:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"Tensor at index '{index}' for key '{chosen}' has already been removed.",
                    )
            found.append((chosen, [element[index][0] for index in indices]))
            if then is not None:
                then(chosen, indices)
            return DONE

        self._lines.run(_GETS, Attempt(attempt), waiter, "MapUnstage")
        return found[0]

    def _next_key(self) -> int:
        return min(self._complete) if self._ordered else next(iter(self._complete))

    def _remove(self, key: int, indices: Sequence[int]) -> None:
        element = self._complete[key]
        for index in indices:
            self._limits.used -= element[index][1]
            element[index] = None
        if all(value is None for value in element):
            del self._complete[key]

    def clear(self) -> None:
        with self._lines.lock:
            self._complete.clear()
            self._incomplete.clear()
            self._limits.used = 0
            self._lines.flush()


def _check_indices(indices: Sequence[int], components: int) -> None:
    if any(a >= b for a, b in itertools.pairwise(indices)):
        raise errors.InvalidArgumentError(None, None, "Indices are not strictly ordered")
    for index in indices:
        if not 0 <= index < components:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Index '{index}' is out of range: an element has {components} components",
            )
