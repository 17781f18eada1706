"""Queues: elements go in, wait, and come out in the order that the kind of queue defines.

An element is a tuple of runtime values, one per component. What they are does not matter here:
kernels check, copy and stack them. A queue that has `rows` keeps small elements in arrays, and
orders the numbers of their rows.
"""

from __future__ import annotations

import heapq
import math
from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from penstock import errors
from penstock.dtypes import DType, runtime_name
from penstock.shapes import Shape, text
from penstock.state.queue_rows import Rows
from penstock.state.waiting import DONE, NOTHING, SOME, Attempt, Lines, Outcome, Reminder, Waiter

Element = tuple[Any, ...]
Kept = Any  # what a queue orders: an element, or the number of its row

_ENQUEUES, _DEQUEUES = 0, 1
_ENQUEUE, _DEQUEUE, _CLOSE = "Enqueue", "Dequeue", "Close"


class _Enqueue(Attempt):
    """An enqueue that waits, with the elements that there was no room for yet."""

    __slots__ = ("remaining",)
    remaining: deque[Kept]


class _Dequeue(Attempt):
    """A dequeue that waits, with the elements that it has already."""

    __slots__ = ("taken",)
    taken: list[Kept]


class Queue:
    """A queue with a capacity.

    1. Those who wait for room, and those who wait for elements, are served first come first served.
    2. A dequeue of several elements takes them as they come. Where the queue is closed before it
       has all, or the wait is given up, it puts them back.
    3. In a closed queue nothing can be put any more; what is in it can still be taken.
    """

    type_name: str
    pads = False

    def __init__(
        self,
        name: str,
        dtypes: Sequence[DType],
        shapes: Sequence[Shape] = (),
        capacity: int = -1,
        *,
        rows: Rows | None = None,
    ):
        self.name = name
        self.rows = rows
        self.dtypes = list(dtypes)
        self.shapes = list(shapes)
        self.capacity = math.inf if capacity < 0 else capacity
        self.closed = False
        self._lines = Lines()

    # What the kinds of queues do differently ---------------------------------------------------

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _put(self, element: Kept) -> None: ...

    @abstractmethod
    def _take(self) -> Kept: ...

    def _put_several(self, elements: Iterable[Kept]) -> None:
        for element in elements:
            self._put(element)

    def _take_several(self, count: int) -> list[Kept]:
        return [self._take() for _ in range(count)]

    @abstractmethod
    def _put_back(self, elements: list[Kept]) -> None:
        """Undoes takes, given in the order in which they happened."""

    def _ready(self) -> int:
        """How many elements may be taken now."""
        return len(self)

    # Putting -------------------------------------------------------------------------------------

    def enqueue(self, element: Element, waiter: Waiter) -> None:
        """Puts an element in, when there is room."""
        kept = self._kept(element)
        if not self._put_at_once([kept]):
            self._wait_for_room([kept], waiter)

    def enqueue_many(self, elements: list[Element], waiter: Waiter) -> None:
        """Puts elements in, each when there is room for it."""
        kept = elements if self.rows is None else [self.rows.keep(each) for each in elements]
        if not self._put_at_once(kept):
            self._wait_for_room(kept, waiter)

    def enqueue_columns(self, columns: Sequence[np.ndarray], waiter: Waiter) -> None:
        """Puts the elements in that arrays hold, one per component; for a queue with rows."""
        assert self.rows is not None
        kept = self.rows.keep_several(columns)
        if not self._put_at_once(kept):
            self._wait_for_room(kept, waiter)

    def _kept(self, element: Element) -> Kept:
        return element if self.rows is None else self.rows.keep(element)

    def _put_at_once(self, elements: list[Kept]) -> bool:
        """Puts elements in if there is room for all of them and nobody waits for it."""
        lines = self._lines
        with lines.lock:
            room = self.capacity - len(self)
            if self.closed or lines[_ENQUEUES] or len(elements) > room:
                return False
            self._put_several(elements)
            if lines[_DEQUEUES]:
                lines.flush()
            return True

    def _wait_for_room(self, elements: list[Kept], waiter: Waiter) -> None:
        remaining = deque(elements)

        def attempt() -> Outcome:
            if self.closed:
                raise errors.CancelledError(
                    None, None, f"{self.type_name} '{self.name}' is closed."
                )
            room = self.capacity - len(self)
            if len(remaining) <= room:
                self._put_several(remaining)
                remaining.clear()
                return DONE
            if room <= 0:
                return NOTHING
            self._put_several([remaining.popleft() for _ in range(int(room))])
            return SOME

        waiting = _Enqueue(attempt, in_parts=len(elements) > 1)
        waiting.remaining = remaining
        try:
            self._lines.run(_ENQUEUES, waiting, waiter, _ENQUEUE)
        finally:
            if remaining and self.rows is not None:  # it was given up
                self.rows.release(list(remaining))

    # Taking --------------------------------------------------------------------------------------

    def dequeue(self, waiter: Waiter, reminder: Reminder | None = None) -> Element:
        """Takes an element out, when there is one."""
        (kept,) = self._taken(1, waiter, allow_fewer=False, reminder=reminder)
        element: Element = kept if self.rows is None else self.rows.taken(kept)
        return element

    def dequeue_many(
        self,
        count: int,
        waiter: Waiter,
        *,
        allow_fewer: bool = False,
        reminder: Reminder | None = None,
    ) -> list[Element]:
        """Takes `count` elements out; with `allow_fewer` the last ones of a closed queue too."""
        taken = self._taken(count, waiter, allow_fewer=allow_fewer, reminder=reminder)
        return taken if self.rows is None else [self.rows.taken(row) for row in taken]

    def dequeue_columns(
        self,
        count: int,
        waiter: Waiter,
        *,
        allow_fewer: bool = False,
        reminder: Reminder | None = None,
    ) -> list[np.ndarray]:
        """Takes elements out as `dequeue_many` does, as an array per component; of rows."""
        assert self.rows is not None
        taken = self._taken(count, waiter, allow_fewer=allow_fewer, reminder=reminder)
        return self.rows.batch(taken)

    def _taken(
        self, count: int, waiter: Waiter, *, allow_fewer: bool, reminder: Reminder | None
    ) -> list[Kept]:
        lines = self._lines
        if waiter.parked is not None:
            attempt: _Dequeue = lines.parked(_DEQUEUES, waiter, _DEQUEUE)
            return attempt.taken
        with lines.lock:
            if not lines[_DEQUEUES] and self._ready() >= count:
                taken = self._take_several(count)
                if lines[_ENQUEUES]:
                    lines.flush()
                return taken
        return self._wait_for_elements(count, waiter, allow_fewer=allow_fewer, reminder=reminder)

    def _wait_for_elements(
        self, count: int, waiter: Waiter, *, allow_fewer: bool, reminder: Reminder | None
    ) -> list[Kept]:
        taken: list[Kept] = []

        def give_back() -> None:
            self._put_back(taken)
            taken.clear()

        def attempt() -> Outcome:
            wanted = count
            if self.closed and len(taken) + len(self) < count:
                give_back()
                if not allow_fewer or not len(self):
                    if allow_fewer and self._lines[_ENQUEUES]:
                        return NOTHING
                    raise errors.OutOfRangeError(
                        None,
                        None,
                        f"{self.type_name} '{self.name}' is closed and has insufficient elements "
                        f"(requested {count}, current size {len(self)})",
                    )
                wanted = len(self)
            ready = min(wanted - len(taken), self._ready())
            if ready > 0:
                taken.extend(self._take_several(ready))
            if len(taken) == wanted:
                return DONE
            return SOME if ready > 0 else NOTHING

        waiting = _Dequeue(attempt, give_back)
        waiting.taken = taken
        self._lines.run(_DEQUEUES, waiting, waiter, _DEQUEUE, reminder)
        return taken

    # Life ----------------------------------------------------------------------------------------

    def close_for(self, waiter: Waiter, *, cancel_pending_enqueues: bool = False) -> None:
        """Closes the queue, after the enqueues that wait already or in their place."""
        if cancel_pending_enqueues:
            self.close()
            return

        def attempt() -> Outcome:
            if self.closed:
                message = f"Queue '{self.name}' is already closed."
                raise errors.CancelledError(None, None, message)
            self.closed = True
            return DONE

        self._lines.run(_ENQUEUES, Attempt(attempt), waiter, _CLOSE)

    def close(self) -> None:
        """Closes the queue and cancels the enqueues that wait."""
        lines = self._lines
        with lines.lock:
            self.closed = True
            for attempt in lines[_ENQUEUES]:
                attempt.end(
                    errors.CancelledError(None, None, f"{_ENQUEUE} operation was cancelled")
                )
            lines[_ENQUEUES].clear()
            lines.flush()

    def read(self) -> np.ndarray:
        """What an old handle holds as a value: the names of container and queue."""
        return np.array([b"", self.name.encode()], dtype=object)

    # Saving --------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """What `restore` makes the queue as it is now of, as plain data with runtime values in it.

        What a dequeue that still waits has collected is in the queue; so are the elements of
        enqueues that wait for room: a program that goes on from here won't enqueue them again.
        """
        lines = self._lines
        with lines.lock:
            kept = [*self._collected(), *self._contents()]
            for attempt in lines[_ENQUEUES]:
                kept += getattr(attempt, "remaining", ())
            elements = kept if self.rows is None else map(self.rows.element, kept)
            return {
                "type": self.type_name,
                "types": [dtype.name for dtype in self.dtypes],
                "closed": self.closed,
                "elements": [list(element) for element in elements],
                **self._more_state(),
            }

    def _collected(self) -> list[Kept]:
        return [
            element
            for attempt in self._lines[_DEQUEUES]
            for element in getattr(attempt, "taken", ())
        ]

    def restore(self, state: dict[str, Any]) -> None:
        """Takes over what `snapshot` gave, in the place of what the queue holds."""
        own = self.type_name, [dtype.name for dtype in self.dtypes]
        saved = state["type"], state["types"]
        if saved != own:
            has, is_ = (f"{kind} of {', '.join(types)}" for kind, types in (saved, own))
            raise errors.InvalidArgumentError(
                None, None, f"The state of a {has} can't be that of '{self.name}', a {is_}."
            )
        self._check_saved_shapes(state["elements"])
        elements = [self._kept(tuple(element)) for element in state["elements"]]
        with self._lines.lock:
            if self.rows is not None:
                self.rows.release(list(self._contents()))
            self._clear()
            self._restore_more(state)
            self._put_several(elements)
            self.closed = state["closed"]
            self._lines.flush()

    def _check_saved_shapes(self, elements: Sequence[Sequence[Any]]) -> None:
        if self.rows is None:
            return
        for element in elements:
            for value, shape in zip(element, self.rows.shapes, strict=True):
                if tuple(value.shape) != shape:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"A saved value of shape {text(tuple(value.shape))} can't be in "
                        f"'{self.name}', where its component has shape {text(shape)}.",
                    )

    @abstractmethod
    def _contents(self) -> Sequence[Kept]:
        """The elements, in an order in which putting them makes the same queue."""

    @abstractmethod
    def _clear(self) -> None: ...

    def _more_state(self) -> dict[str, Any]:
        """What the queue knows beside its elements."""
        return {}

    def _restore_more(self, state: dict[str, Any]) -> None:
        pass

    # Sharing -------------------------------------------------------------------------------------

    def mismatch(self, other: Queue) -> str | None:
        """Why a node that would make `other` can't share this queue."""
        shared = f"Shared queue '{self.name}' has"
        if type(self) is not type(other):
            return (
                f"{shared} type '{self.type_name}' that does not match type of Node "
                f"'{other.name}': {other.type_name}"
            )
        for what, has, wants in zip(
            ("capacity", "component types", "component shapes"),
            self._settings(),
            other._settings(),
            strict=True,
        ):
            if has != wants:
                verb = "was" if what == "capacity" else "were"
                return f"{shared} {what} {has} but requested {what} {verb} {wants}"
        return None

    def _settings(self) -> tuple[Any, str, str]:
        capacity = -1 if self.capacity == math.inf else self.capacity
        types = ", ".join(runtime_name(dtype) for dtype in self.dtypes)
        return capacity, types, "[" + ", ".join(text(shape) for shape in self.shapes) + "]"


class FIFOQueue(Queue):
    """First in, first out."""

    type_name = "FIFOQueue"

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._elements: deque[Kept] = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def _put(self, element: Kept) -> None:
        self._elements.append(element)

    def _put_several(self, elements: Iterable[Kept]) -> None:
        self._elements.extend(elements)

    def _take(self) -> Kept:
        return self._elements.popleft()

    def _put_back(self, elements: list[Kept]) -> None:
        self._elements.extendleft(reversed(elements))

    def _contents(self) -> Sequence[Kept]:
        return self._elements

    def _clear(self) -> None:
        self._elements.clear()


class PaddingFIFOQueue(FIFOQueue):
    """First in, first out; elements of different sizes are padded when several are taken."""

    type_name = "PaddingFIFOQueue"
    pads = True


class RandomWords(Protocol):
    """A generator of random 32-bit words that can tell where it is."""

    def several(self, count: int) -> list[int]: ...

    def snapshot(self) -> list[int]: ...

    def restore(self, state: list[int]) -> None: ...


class RandomShuffleQueue(Queue):
    """Random order; `min_after_dequeue` elements stay behind, to mix well, until it is closed."""

    type_name = "RandomShuffleQueue"

    def __init__(
        self,
        *args: Any,
        min_after_dequeue: int = 0,
        seeds: tuple[int, int] = (0, 0),
        random_words: RandomWords,
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.min_after_dequeue = min_after_dequeue
        self.seeds = seeds
        self._random_words = random_words
        self._elements: list[Kept] = []

    def __len__(self) -> int:
        return len(self._elements)

    def _ready(self) -> int:
        return len(self._elements) - (0 if self.closed else self.min_after_dequeue)

    def _put(self, element: Kept) -> None:
        self._elements.append(element)

    def _put_several(self, elements: Iterable[Kept]) -> None:
        self._elements.extend(elements)

    def _take(self) -> Kept:
        return self._take_several(1)[0]

    def _take_several(self, count: int) -> list[Kept]:
        elements, left, taken = self._elements, len(self._elements), []
        for word in self._random_words.several(count):
            index = word % left
            left -= 1
            taken.append(elements[index])
            elements[index] = elements[left]
        del elements[left:]
        return taken

    def _put_back(self, elements: list[Kept]) -> None:
        self._elements.extend(elements)

    def _contents(self) -> Sequence[Kept]:
        return self._elements

    def _clear(self) -> None:
        self._elements.clear()

    def _more_state(self) -> dict[str, Any]:
        return {"random": self._random_words.snapshot()}

    def _restore_more(self, state: dict[str, Any]) -> None:
        self._random_words.restore(state["random"])

    def mismatch(self, other: Queue) -> str | None:
        wrong = super().mismatch(other)
        if wrong is not None:
            return wrong
        assert isinstance(other, RandomShuffleQueue)
        shared = f"Shared queue '{self.name}' has"
        if self.min_after_dequeue != other.min_after_dequeue:
            return (
                f"{shared} min_after_dequeue {self.min_after_dequeue} but requested "
                f"min_after_dequeue was {other.min_after_dequeue}"
            )
        if self.seeds != other.seeds:
            return f"{shared} random seeds {self.seeds} but requested seeds are {other.seeds}"
        return None


class PriorityQueue(Queue):
    """The smallest first component first; equal ones in the order in which they came."""

    type_name = "PriorityQueue"

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._heap: list[tuple[int, int, Element]] = []
        self._last = self._first = 0

    def __len__(self) -> int:
        return len(self._heap)

    def _put(self, element: Element) -> None:
        self._last += 1
        heapq.heappush(self._heap, (int(element[0]), self._last, element))

    def _take(self) -> Element:
        return heapq.heappop(self._heap)[2]

    def _put_back(self, elements: list[Element]) -> None:
        for element in reversed(elements):  # before all equal ones, in the order that they had
            self._first -= 1
            heapq.heappush(self._heap, (int(element[0]), self._first, element))

    def _contents(self) -> Sequence[Kept]:
        return [element for _, _, element in sorted(self._heap, key=lambda entry: entry[:2])]

    def _clear(self) -> None:
        self._heap.clear()
