"""Elements that threads compute go straight to where they will be in a batch.

A thread has just written its result, which is in its processor's cache: it copies it into the
batch at less cost than whoever joins all elements later, while the threads wait for nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import torch

from penstock.kernels.datasets.rows import Kind, Kinds, Row
from penstock.kernels.datasets.stacking import stacked
from penstock.state.datasets import Element

_LARGE = 1 << 16  # bytes; smaller parts are joined as quickly as they are


class _Placed(Kind):
    """A part is a batch and a row of it, where the value is, or else the value itself."""

    def value(self, part: Any) -> Any:
        if type(part) is not tuple:
            return part
        batch, row = part
        return batch[row]

    def joined(self, parts: Sequence[Any], number: int) -> Any:
        batch = parts[0][0] if type(parts[0]) is tuple else None
        if batch is None or not all(
            type(part) is tuple and part[0] is batch and part[1] == row
            for row, part in enumerate(parts)
        ):
            return stacked(number, [self.value(part) for part in parts])
        return batch if len(parts) == len(batch) else batch[: len(parts)]


#: The shape and type of each large component of an element; None for the others.
_Forms = list[tuple[torch.Size, torch.dtype] | None]


class _Batch:
    """A batch that is being filled: memory for each large component, and how many rows it lacks."""

    def __init__(self, size: int):
        self.memory: list[torch.Tensor | None] | None = None
        self.missing = size

    def allocate(self, forms: _Forms, size: int) -> None:
        self.memory = [
            None if form is None else torch.empty((size, *form[0]), dtype=form[1]) for form in forms
        ]


def _forms(element: Element) -> _Forms:
    return [(part.shape, part.dtype) if _is_large(part) else None for part in element]


def _is_large(part: Any) -> bool:
    return isinstance(part, torch.Tensor) and part.nbytes >= _LARGE and part.device.type == "cpu"


class BatchMemory:
    """The batches of `size` elements each that an iterator's elements will be joined to.

    Elements are counted from 0 on. Each number is `placed` or `left_out`, by any thread, once.
    """

    def __init__(self, size: int):
        self._size = size
        self._lock = threading.Lock()
        self._batches: dict[int, _Batch] = {}
        self._kinds: Kinds | None = None
        self._forms: _Forms | None = None  # of the elements so far, until one doesn't fit

    def offered(self, number: int, component: int) -> torch.Tensor | None:
        """Where a component of an element should be in the end, as far as that is known."""
        with self._lock:
            if self._forms is None:
                return None
            batch = self._batch(number)
            if batch.memory is None:
                batch.allocate(self._forms, self._size)
            assert batch.memory is not None
            memory = batch.memory[component]
        return None if memory is None else memory[number % self._size]

    def placed(self, number: int, element: Element) -> Row:
        """A row that stands for an element, which is in its batch now if it is large and fits."""
        row = number % self._size
        with self._lock:
            if self._kinds is None:
                self._kinds = Kinds([_Placed()] * len(element))
            batch = self._counted(number)
            if batch.memory is None:
                self._forms = _forms(element)
                batch.allocate(self._forms, self._size)
            memory = batch.memory
        assert memory is not None
        parts = [_put(*pair, row) for pair in zip(memory, element, strict=True)]
        if any(type(part) is not tuple and _is_large(part) for part in parts):
            self._forms = None
        return self._kinds, *parts

    def left_out(self, number: int) -> None:
        """Says that there won't be such an element."""
        with self._lock:
            self._counted(number)

    def _batch(self, number: int) -> _Batch:
        place = number // self._size
        if place not in self._batches:
            self._batches[place] = _Batch(self._size)
        return self._batches[place]

    def _counted(self, number: int) -> _Batch:
        batch = self._batch(number)
        batch.missing -= 1
        if not batch.missing:
            del self._batches[number // self._size]
        return batch


def _put(memory: torch.Tensor | None, part: Any, row: int) -> Any:
    if memory is None or part.shape != memory.shape[1:] or part.dtype is not memory.dtype:
        return part
    place = memory.data_ptr() + row * part.nbytes
    if part.data_ptr() != place or not part.is_contiguous():
        shared = part.untyped_storage().data_ptr() == memory.untyped_storage().data_ptr()
        memory[row].copy_(part.clone() if shared else part)
    return memory, row
