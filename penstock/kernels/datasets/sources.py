"""Datasets of tensors, of numbers, of random numbers."""

from __future__ import annotations

import numpy as np
import torch

from penstock.kernels.datasets.random_words import RandomWords, given_seeds
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import from_array, to_array, torch_type
from penstock.state.datasets import INFINITE, Context, Dataset, Elements


class _Indexed(Elements):
    """Elements that their number determines: the place is a count."""

    def __init__(self, count: int):
        self._count = count
        self._position = 0

    def at(self, position: int):
        raise NotImplementedError

    def next(self):
        position = self._position
        if position >= self._count:
            return None
        self._position = position + 1
        return self.at(position)

    def save(self):
        return self._position

    def restore(self, state):
        self._position = state


class _IndexedDataset(Dataset):
    def __init__(self, count, make):
        self._count = count
        self._make = make

    @property
    def is_plain(self) -> bool:
        return True

    def iterate(self, context: Context) -> Elements:
        return self._make()

    def cardinality(self) -> int:
        return self._count


class _Once(_Indexed):
    def __init__(self, element):
        super().__init__(1)
        self._element = element

    def at(self, position):
        return self._element


@dataset_kernel("TensorDataset")
def _(node):
    return lambda *components: _IndexedDataset(1, lambda: _Once(components))


class _Slices(_Indexed):
    """The rows of tensors: views, made one at a time."""

    def __init__(self, components, count):
        super().__init__(count)
        self._components = components

    def at(self, position):
        return tuple(
            [
                part[position] if isinstance(part, torch.Tensor) else part[position, ...]
                for part in self._components
            ]
        )


@dataset_kernel("TensorSliceDataset")
def _(node):
    def run(*components):
        for part in components:
            if not part.ndim:
                raise invalid("Unbatching a tensor is only supported for rank >= 1")
        sizes = {part.shape[0] for part in components}
        if len(sizes) != 1:
            raise invalid(
                "Dataset components must have the same size in the 0th dimension, got "
                f"{[part.shape[0] for part in components]}"
            )
        count = sizes.pop()
        return _IndexedDataset(count, lambda: _Slices(components, count))

    return run


class _Range(_Indexed):
    def __init__(self, numbers, dtype):
        super().__init__(len(numbers))
        self._numbers = numbers
        self._dtype = dtype

    def at(self, position):
        return (torch.tensor(self._numbers[position], dtype=self._dtype),)


@dataset_kernel("RangeDataset")
def _(node):
    dtype = torch_type(node.attrs["output_types"][0])

    def run(start, stop, step):
        step = int(step)
        if step == 0:
            raise invalid("step must be a non-zero integer.")
        numbers = range(int(start), int(stop), step)
        count = max(0, -((int(start) - int(stop)) // step))
        return _IndexedDataset(count, lambda: _Range(numbers, dtype))

    return run


class _SparseSlices(_Indexed):
    """The entries of a sparse tensor along its first dimension, as (indices, values, shape)."""

    def __init__(self, indices, values, shape):
        super().__init__(int(shape[0]))
        self._indices, self._values = indices, values
        self._shape = from_array(shape[1:].copy())
        self._ends = np.searchsorted(indices[:, 0], np.arange(int(shape[0]) + 1))

    def at(self, position):
        rows = slice(self._ends[position], self._ends[position + 1])
        values = self._values[rows]
        indices = np.ascontiguousarray(self._indices[rows, 1:])
        return from_array(indices), from_array(values.copy()), self._shape


@dataset_kernel("SparseTensorSliceDataset")
def _(node):
    def run(indices, values, shape):
        indices, values, shape = to_array(indices), to_array(values), to_array(shape)
        if indices.ndim != 2:
            raise invalid(f"Input indices must be a matrix. Got: {list(indices.shape)}")
        if values.ndim != 1:
            raise invalid(f"Input values must be a vector. Got: {list(values.shape)}")
        if len(indices) != len(values):
            raise invalid(
                "Number of values must match first dimension of indices. Got "
                f"{len(values)} values, indices shape: {list(indices.shape)}"
            )
        if len(shape) != indices.shape[1]:
            raise invalid(
                "Number of dimensions must match second dimension of indices. Got "
                f"{len(shape)} dimensions, indices shape: {list(indices.shape)}"
            )
        if len(shape) == 0:
            raise invalid("The shape argument requires at least one element.")
        if (np.diff(indices[:, 0]) < 0).any():
            raise invalid(
                "The SparseTensor must be ordered in the batch dimension; handling arbitrarily "
                "ordered input is not currently supported."
            )
        return _IndexedDataset(int(shape[0]), lambda: _SparseSlices(indices, values, shape))

    return run


class _RandomNumbers(Elements):
    def __init__(self, words: RandomWords):
        self._words = words

    def next(self):
        return (torch.tensor(self._words.next(), dtype=torch.int64),)

    def save(self):
        return self._words.save()

    def restore(self, state):
        self._words.restore(state)


class _RandomDataset(Dataset):
    def __init__(self, seeds: tuple[int, int]):
        self._seeds = seeds

    def iterate(self, context: Context) -> Elements:
        return _RandomNumbers(RandomWords(*self._seeds))

    def cardinality(self) -> int:
        return INFINITE


@dataset_kernel("RandomDataset", "ExperimentalRandomDataset")
def _(node):
    return lambda seed, seed2: _RandomDataset(given_seeds(seed, seed2))
