"""Datasets of batches, of the rows of batches, and of windows."""

from __future__ import annotations

from collections import deque

import numpy as np

from penstock import errors
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.rows import as_element, joined_rows
from penstock.kernels.datasets.stacking import batch_of, row
from penstock.kernels.sparse_rows import brackets, invalid
from penstock.kernels.values import to_array
from penstock.state.datasets import (
    UNKNOWN,
    Context,
    Dataset,
    DerivedDataset,
    Elements,
    UnaryElements,
)


def batch_count(of_source, size, drop_remainder):
    """The number of batches of so many elements."""
    if of_source < 0:
        return of_source
    return of_source // size if drop_remainder else -(-of_source // size)


def positive_batch_size(size):
    size = int(size)
    if size <= 0:
        raise invalid("Batch size must be greater than zero.")
    return size


class Batched(UnaryElements):
    """Batches of `size` elements; `join` makes one of a list of elements."""

    def __init__(self, source, size, drop_remainder, join):
        super().__init__(source)
        self._size, self._drop_remainder, self._join = size, drop_remainder, join
        self._ended = False
        if join is batch_of:
            source.expect_batches(size)

    @property
    def is_fresh(self):
        return True

    def next(self):
        if self._ended:
            return None
        entries = self._collected()
        if not entries or (self._ended and self._drop_remainder):
            return None
        if not self._source.gives_rows:
            return self._join(entries)
        batch = joined_rows(entries) if self._join is batch_of else None
        return self._join([as_element(entry) for entry in entries]) if batch is None else batch

    def _collected(self):
        """The elements of the next batch, or rows that stand for them."""
        if self._source.gives_rows:
            return self._several_collected()
        source_next, elements = self._source.next, []
        for _ in range(self._size):
            element = source_next()
            if element is None:
                self._ended = True
                break
            elements.append(element)
        return elements

    def _several_collected(self):
        entries, size = [], self._size
        while len(entries) < size:
            some = self._source.several(size - len(entries))
            if not some:
                self._ended = True
                break
            entries += some
        return entries

    def save(self):
        return [self._ended, self._source.save()]

    def restore(self, state):
        self._ended, source = state
        self._source.restore(source)


class WholeBatches(Batched):
    """Batches that take all their elements from the source even if one of them fails."""

    def _collected(self):
        entries, missing, failure = [], self._size, None
        while missing:
            try:
                some = self._source.several(missing)
            except errors.OpError as error:
                failure = failure or error
                missing -= 1
                continue
            if not some:
                self._ended = True
                break
            entries += some
            missing -= len(some)
        if failure is not None:
            raise failure
        return entries


@dataset_kernel("BatchDataset", "BatchDatasetV2")
def _(node):
    def run(source, size, drop_remainder=False):
        size, drop = positive_batch_size(size), bool(drop_remainder)
        kind = WholeBatches if source.is_mapped else Batched  # TensorFlow fuses a map and a batch
        return DerivedDataset(
            source,
            lambda elements, _: kind(elements, size, drop, batch_of),
            lambda count: batch_count(count, size, drop),
        )

    return run


class _Rows(UnaryElements):
    """The entries of each element along the first dimension."""

    def __init__(self, source):
        super().__init__(source)
        self._element = None
        self._position = self._count = 0

    def next(self):
        while self._position >= self._count:
            self._element = self._source.next()
            if self._element is None:
                self._position = self._count = 0
                return None
            sizes = [part.shape[0] if part.ndim else None for part in self._element]
            if None in sizes:
                raise invalid("Input element must have a non-scalar value in each component.")
            if len(set(sizes)) != 1:
                raise invalid(
                    "Input element must have the same batch size in each component. Component 0 "
                    f"had size {sizes[0]} but component "
                    f"{next(i for i, size in enumerate(sizes) if size != sizes[0])} had size "
                    f"{next(size for size in sizes if size != sizes[0])}."
                )
            self._position, self._count = 0, sizes[0]
        position = self._position
        self._position += 1
        return tuple([row(part, position) for part in self._element])

    def save(self):
        element = None if self._element is None else list(self._element)
        return [self._position, self._count, element, self._source.save()]

    def restore(self, state):
        self._position, self._count, element, source = state
        self._element = None if element is None else tuple(element)
        self._source.restore(source)


@dataset_kernel("UnbatchDataset", "ExperimentalUnbatchDataset")
def _(node):
    return lambda source: DerivedDataset(source, lambda elements, _: _Rows(elements))


class _ListElements(Elements):
    def __init__(self, elements):
        self._elements = elements
        self._position = 0

    def next(self):
        if self._position == len(self._elements):
            return None
        self._position += 1
        return self._elements[self._position - 1]

    def save(self):
        return self._position

    def restore(self, state):
        self._position = state


class ListDataset(Dataset):
    """Elements that are there already: a window, a group."""

    def __init__(self, elements):
        self.elements = elements

    @property
    def is_plain(self) -> bool:
        return True

    def iterate(self, context: Context) -> Elements:
        return _ListElements(self.elements)

    def cardinality(self) -> int:
        return len(self.elements)


class _Windows(UnaryElements):
    """Windows over the sequence: for each component a dataset of `size` elements."""

    def __init__(self, source, size, shift, stride, drop_remainder):
        super().__init__(source)
        self._size, self._shift, self._stride = size, shift, stride
        self._drop_remainder = drop_remainder
        self._span = (size - 1) * stride + 1
        self._buffer = deque()
        self._ended = False
        self._to_skip = 0

    def next(self):
        self._fill()
        if not self._buffer or (self._drop_remainder and len(self._buffer) < self._span):
            return None
        chosen = list(self._buffer)[: self._span : self._stride]
        for _ in range(min(self._shift, len(self._buffer))):
            self._buffer.popleft()
        self._to_skip = 0 if self._buffer or self._ended else max(0, self._shift - self._span)
        return tuple(
            [ListDataset([(part,) for part in parts]) for parts in zip(*chosen, strict=True)]
        )

    def _fill(self):
        while not self._ended and len(self._buffer) < self._span:
            element = self._source.next()
            if element is None:
                self._ended = True
            elif self._to_skip:
                self._to_skip -= 1
            else:
                self._buffer.append(element)

    def save(self):
        buffer = [list(element) for element in self._buffer]
        return [buffer, self._ended, self._to_skip, self._source.save()]

    def restore(self, state):
        buffer, self._ended, self._to_skip, source = state
        self._buffer = deque(tuple(element) for element in buffer)
        self._source.restore(source)


@dataset_kernel("WindowDataset")
def _(node):
    def run(source, size, shift, stride, drop_remainder):
        numbers = {"size": int(size), "shift": int(shift), "stride": int(stride)}
        for name, number in numbers.items():
            if number <= 0:
                raise invalid(f"Window {name} must be greater than zero.")
        size, shift, stride = numbers.values()
        drop = bool(drop_remainder)

        def cardinality(count):
            if count < 0:
                return count
            if not drop:
                return -(-count // shift)
            span = (size - 1) * stride + 1
            return 0 if count < span else (count - span) // shift + 1

        return DerivedDataset(
            source, lambda elements, _: _Windows(elements, size, shift, stride, drop), cardinality
        )

    return run


class _Sliding(UnaryElements):
    """Batches of overlapping windows; what is left at the end is dropped."""

    def __init__(self, windows):
        super().__init__(windows)

    def next(self):
        datasets = self._source.next()
        if datasets is None:
            return None
        columns = [[element[0] for element in dataset.elements] for dataset in datasets]
        return batch_of(list(zip(*columns, strict=True)))


@dataset_kernel("SlidingWindowDataset", "ExperimentalSlidingWindowDataset")
def _(node):
    def run(source, size, shift, stride):
        for name, number in (("size", size), ("shift", shift), ("stride", stride)):
            if int(number) <= 0:
                raise invalid(f"Window {name} must be greater than zero.")
        return DerivedDataset(
            source,
            lambda elements, _: _Sliding(
                _Windows(elements, int(size), int(shift), int(stride), True)
            ),
        )

    return run


def _sparse_batch(row_shape):
    """The function that makes one sparse tensor of elements, packed as a variant of three."""

    def join(elements):
        arrays = [to_array(element[0]) for element in elements]
        shape = list(row_shape)
        for array in arrays:
            if array.ndim != len(shape):
                raise invalid(
                    f"Input element of shape {brackets(array.shape)} is incompatible with the row "
                    f"shape {brackets(row_shape)}"
                )
            for axis, size in enumerate(array.shape):
                if row_shape[axis] >= 0 and size > row_shape[axis]:
                    raise errors.DataLossError(
                        None,
                        None,
                        f"Input element had shape {brackets(array.shape)} that is larger than the "
                        f"row shape {brackets(row_shape)}",
                    )
                if row_shape[axis] < 0:
                    shape[axis] = max(shape[axis], size)
        full = [
            np.concatenate(
                [
                    np.full((array.size, 1), place),
                    np.indices(array.shape).reshape(array.ndim, -1).T,
                ],
                axis=1,
            )
            for place, array in enumerate(arrays)
        ]
        packed = np.empty(3, dtype=object)
        packed[0] = np.concatenate(full).astype(np.int64)
        packed[1] = np.concatenate([array.reshape(-1) for array in arrays])
        packed[2] = np.array([len(arrays), *(max(size, 0) for size in shape)], dtype=np.int64)
        return (packed,)

    return join


@dataset_kernel("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset")
def _(node):
    def run(source, size, row_shape):
        size = positive_batch_size(size)
        join = _sparse_batch(to_array(row_shape).tolist())
        return DerivedDataset(
            source,
            lambda elements, _: Batched(elements, size, False, join),
            lambda count: batch_count(count, size, False) if count != UNKNOWN else UNKNOWN,
        )

    return run
