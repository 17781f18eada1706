"""Datasets that repeat another, remember it, or put several together."""

from __future__ import annotations

import threading

from penstock.kernels.datasets.cache_files import FileCacheDataset
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.shuffling import ShuffleDataset
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import (
    INFINITE,
    UNKNOWN,
    Context,
    Dataset,
    Elements,
)


class _Repeated(Elements):
    """A dataset over and over, `count` times or, if that is negative, for ever."""

    def __init__(self, dataset, count, context):
        self._dataset, self._count, self._context = dataset, count, context
        self._round = 0
        self._elements = dataset.iterate(context)
        self._is_empty = True  # nothing came in this round
        self.gives_rows = self._elements.gives_rows

    def next(self):
        while self._round != self._count:
            element = self._begun().next()
            if element is not None:
                self._is_empty = False
                return element
            if self._is_last_round():
                break
        return None

    def several(self, most):
        while self._round != self._count:
            entries = self._begun().several(most)
            if entries:
                self._is_empty = False
                return entries
            if self._is_last_round():
                break
        return []

    def _begun(self):
        """The elements of the round."""
        if self._elements is None:
            self._elements = self._dataset.iterate(self._context)
            self._is_empty = True
        return self._elements

    def _is_last_round(self):
        """Ends a round; whether it makes no sense to begin another one."""
        self._elements.close()
        self._elements = None
        self._round += 1
        return self._count < 0 and self._is_empty

    def save(self):
        inner = None if self._elements is None else [self._elements.save()]
        return [self._round, self._is_empty, inner]

    def restore(self, state):
        self._round, self._is_empty, inner = state
        self.close()
        self._elements = None
        if inner is not None:
            self._elements = self._dataset.iterate(self._context)
            self._elements.restore(inner[0])

    def close(self):
        if self._elements is not None:
            self._elements.close()


class _RepeatDataset(Dataset):
    def __init__(self, source, count):
        self._source, self._count = source, count

    @property
    def is_plain(self) -> bool:
        return self._source.is_plain

    def iterate(self, context: Context) -> Elements:
        if context.fuses_shuffles and self._count and isinstance(self._source, ShuffleDataset):
            fused = self._source.fused_with_repeat(self._count)
            if fused is not None:
                return fused.iterate(context)
        return _Repeated(self._source, self._count, context)

    def cardinality(self) -> int:
        once = self._source.cardinality()
        if self._count == 0 or once == 0:
            return 0
        if self._count < 0:
            return INFINITE
        return once * self._count if once > 0 else once


@dataset_kernel("RepeatDataset")
def _(node):
    def run(source, count):
        return source if int(count) == 1 else _RepeatDataset(source, int(count))

    return run


class _Concatenated(Elements):
    def __init__(self, datasets, context):
        self._datasets, self._context = datasets, context
        self._number = 0
        self._elements = datasets[0].iterate(context)

    def next(self):
        while True:
            element = self._elements.next()
            if element is not None or self._number == len(self._datasets) - 1:
                return element
            self._elements.close()
            self._number += 1
            self._elements = self._datasets[self._number].iterate(self._context)

    def save(self):
        return [self._number, self._elements.save()]

    def restore(self, state):
        self._number, inner = state
        self.close()
        self._elements = self._datasets[self._number].iterate(self._context)
        self._elements.restore(inner)

    def close(self):
        self._elements.close()


class _ConcatenateDataset(Dataset):
    def __init__(self, *datasets):
        self._datasets = datasets

    @property
    def is_plain(self) -> bool:
        return all(dataset.is_plain for dataset in self._datasets)

    def iterate(self, context: Context) -> Elements:
        return _Concatenated(self._datasets, context)

    def cardinality(self) -> int:
        numbers = [dataset.cardinality() for dataset in self._datasets]
        if INFINITE in numbers:
            return INFINITE
        return UNKNOWN if UNKNOWN in numbers else sum(numbers)


@dataset_kernel("ConcatenateDataset")
def _(node):
    return _ConcatenateDataset


class _Zipped(Elements):
    def __init__(self, sources):
        self._sources = sources

    def next(self):
        parts = []
        for source in self._sources:
            element = source.next()
            if element is None:
                return None
            parts += element
        return tuple(parts)

    def save(self):
        return [source.save() for source in self._sources]

    def restore(self, state):
        for source, place in zip(self._sources, state, strict=True):
            source.restore(place)

    def close(self):
        for source in self._sources:
            source.close()


class _ZipDataset(Dataset):
    def __init__(self, *datasets):
        self._datasets = datasets

    @property
    def is_plain(self) -> bool:
        return all(dataset.is_plain for dataset in self._datasets)

    def iterate(self, context: Context) -> Elements:
        return _Zipped([dataset.iterate(context) for dataset in self._datasets])

    def cardinality(self) -> int:
        numbers = [dataset.cardinality() for dataset in self._datasets]
        if UNKNOWN in numbers:
            return UNKNOWN
        finite = [number for number in numbers if number != INFINITE]
        return min(finite) if finite else INFINITE


@dataset_kernel("ZipDataset")
def _(node):
    return _ZipDataset


class _Memory:
    """The elements that a whole iteration over a dataset gave."""

    def __init__(self):
        self.lock = threading.Lock()
        self.elements = None


class _Cached(Elements):
    """The elements of a memory, or of the source while they are being remembered."""

    def __init__(self, dataset, memory, context):
        self._dataset, self._memory, self._context = dataset, memory, context
        self._position = 0
        self._source = None
        self._collected = []
        if memory.elements is None:
            self._source = dataset.iterate(context)

    def next(self):
        if self._source is None:
            elements = self._memory.elements
            if self._position >= len(elements):
                return None
            self._position += 1
            return elements[self._position - 1]
        element = self._source.next()
        if element is not None:
            self._collected.append(element)
            return element
        with self._memory.lock:
            if self._memory.elements is None:
                self._memory.elements = self._collected
        self._source.close()
        self._source = None
        self._position = len(self._memory.elements)
        return None

    def save(self):
        if self._source is None:
            return [self._position, list(map(list, self._memory.elements)), None]
        return [0, list(map(list, self._collected)), [self._source.save()]]

    def restore(self, state):
        self._position, elements, source = state
        elements = [tuple(element) for element in elements]
        self.close()
        self._source = None
        if source is None:
            self._memory.elements = elements
        else:
            self._collected = elements
            self._source = self._dataset.iterate(self._context)
            self._source.restore(source[0])

    def close(self):
        if self._source is not None:
            self._source.close()


class _CacheDataset(Dataset):
    def __init__(self, source, memory):
        self._source, self._memory = source, memory

    @property
    def is_plain(self) -> bool:
        return self._source.is_plain

    def iterate(self, context: Context) -> Elements:
        return _Cached(self._source, self._memory, context)

    def cardinality(self) -> int:
        return self._source.cardinality()


@dataset_kernel("CacheDataset", "CacheDatasetV2")
def _(node):
    width = len(node.attrs["output_types"])

    def run(source, filename, memory=None):
        name = filename.item().decode()
        if name:
            return FileCacheDataset(source, name, width)
        return _CacheDataset(source, _Memory() if memory is None else memory)

    return run


@kernel("AnonymousMemoryCache", devices=HOST)
def _(node):
    def run():
        memory = _Memory()
        return memory, memory

    return run


@kernel("DeleteMemoryCache", devices=HOST)
def _(node):
    return lambda memory, deleter: None  # it is gone with its last reader


class _Directed(Elements):
    """Elements of several sources; another one says whose is next."""

    def __init__(self, selector, sources, stop_on_empty):
        self._selector = selector
        self._sources = sources
        self._open = set(range(len(sources)))
        self._stop_on_empty = stop_on_empty

    def next(self):
        while self._open:
            chosen = self._selector.next()
            if chosen is None:
                return None
            index = int(chosen[0])
            if not 0 <= index < len(self._sources):
                raise invalid(f"Selector index out of range: {index} >= {len(self._sources)}")
            if index not in self._open:
                continue
            element = self._sources[index].next()
            if element is not None:
                return element
            self._open.discard(index)
            if self._stop_on_empty:
                self._open.clear()
        return None

    def save(self):
        places = [source.save() for source in self._sources]
        return [self._selector.save(), sorted(self._open), places]

    def restore(self, state):
        selector, still_open, places = state
        self._selector.restore(selector)
        self._open = set(still_open)
        for source, place in zip(self._sources, places, strict=True):
            source.restore(place)

    def close(self):
        self._selector.close()
        for source in self._sources:
            source.close()


class _DirectedDataset(Dataset):
    def __init__(self, selector, datasets, stop_on_empty):
        self._selector, self._datasets = selector, datasets
        self._stop_on_empty = stop_on_empty

    def iterate(self, context: Context) -> Elements:
        sources = [dataset.iterate(context) for dataset in self._datasets]
        return _Directed(self._selector.iterate(context), sources, self._stop_on_empty)


@dataset_kernel("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def _(node):
    stop = node.attrs.get("stop_on_empty_dataset", False)
    return lambda selector, *datasets: _DirectedDataset(selector, datasets, stop)
