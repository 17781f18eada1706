"""Elements of one pipeline, dealt out in turns."""

from __future__ import annotations

import threading
from collections import deque

from penstock import errors
from penstock.state.datasets import Context, Dataset, Element, Elements, Step


class DealtElements:
    """What the handle of a multi-device iterator stands for.

    1. Of n shards, number i gets the elements i, i + n, i + 2n, …
    2. A shard that is ahead of the others leaves their elements for them.
    3. Each start has a number of its own; those that ask for an earlier one's elements are refused.
    """

    def __init__(self, name: str, shards: int, container: str = ""):
        self.name = name
        self.container = container
        self._shards = shards
        self._lock = threading.Lock()
        self._elements: Elements | None = None
        self._left: list[deque[Element | errors.OpError]] = []
        self._turn = 0
        self._incarnation = 0

    def start(self, dataset: Dataset, step: Step) -> int:
        """Begins at the beginning of a dataset; the number of this start."""
        elements = dataset.iterate(Context(step))
        with self._lock:
            before, self._elements = self._elements, elements
            self._left = [deque() for _ in range(self._shards)]
            self._turn = 0
            self._incarnation += 1
            number = self._incarnation
        if before is not None:
            before.close()
        return number

    def next(self, shard: int, incarnation: int) -> Element | None:
        """The shard's next element, None at the end."""
        if not 0 <= shard < self._shards:
            raise errors.InvalidArgumentError(
                None, None, f"shard {shard} is not one of {self._shards}"
            )
        with self._lock:
            if incarnation != self._incarnation or self._elements is None:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Invalid incarnation id. Provided: {incarnation}, Expected: "
                    f"{self._incarnation}",
                )
            while not self._left[shard]:
                found = self._read()
                if found is None:
                    return None
                self._left[self._turn].append(found)
                self._turn = (self._turn + 1) % self._shards
            found = self._left[shard].popleft()
        if isinstance(found, errors.OpError):
            raise found
        return found

    def _read(self) -> Element | errors.OpError | None:
        """The next element, or why there is none in its place: that, too, is some shard's."""
        assert self._elements is not None
        try:
            return self._elements.next()
        except errors.OpError as error:
            return error

    def close(self) -> None:
        """Stops the pipeline."""
        elements = self._elements
        if elements is not None:
            elements.close()
