"""Kernels of sets: the last dimension of a tensor holds the members of a set.

Each member becomes a number, of which the higher part is the place of its set and the lower part
tells its value; then sets of all places are united or intersected at once.
"""

import math

import numpy as np

from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import (
    brackets,
    invalid,
    is_increasing,
    is_within,
    on_arrays,
    row_numbers,
)


def _distinct(numbers):
    """The numbers in order, each once."""
    ordered = _ordered(numbers)
    is_new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered if is_new.all() else ordered[is_new]


def _ordered(numbers):
    # A stable sort just merges the parts that are in order already.
    return numbers if is_increasing(numbers) else np.sort(numbers, kind="stable")


def _union(a, b):
    return _distinct(np.concatenate([a, b]))


def _intersection(a, b):
    both = _ordered(np.concatenate([a, b]))
    return both[:-1][both[1:] == both[:-1]]


def _difference(a, b):
    """What is in a alone: once among the numbers of a and of what a and b share."""
    numbers = _ordered(np.concatenate([a, _intersection(a, b)]))
    differs = np.ones(len(numbers) + 1, bool)
    np.not_equal(numbers[1:], numbers[:-1], out=differs[1:-1])
    return numbers[differs[1:] & differs[:-1]]


# On numbers in order, each once.
_OPERATIONS = {
    "a-b": _difference,
    "b-a": lambda a, b: _difference(b, a),
    "intersection": _intersection,
    "union": _union,
}


def _operation(node):
    """The function of a node's attr, by its name in any case of letters."""
    name = node.attrs["set_operation"]
    name = (name.decode() if isinstance(name, bytes) else name).lower()
    if name not in _OPERATIONS:
        raise invalid(f"Invalid set_operation {node.attrs['set_operation']}.")
    return _OPERATIONS[name]


class _Members:
    """The members of many sets: the flat place of the set of each, and its value."""

    def __init__(self, places, values):
        self.places = places
        self.values = values


def _dense_members(array):
    if array.ndim < 1:
        raise invalid(f"Input should be at least a vector, got shape {brackets(array.shape)}")
    size = array.shape[-1]
    count = array.size // size if size else 0
    # To sort each of the sets is much less work than to sort the members of all of them.
    members = np.sort(array, axis=-1).reshape(-1)
    return _Members(np.repeat(np.arange(count), size), members), array.shape[:-1]


def _sparse_members(indices, values, shape, validate):
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
        raise invalid(
            "A sparse tensor has a matrix of indices, a vector of values and a vector of sizes, "
            f"got shapes {brackets(indices.shape)}, {brackets(values.shape)} and "
            f"{brackets(shape.shape)}"
        )
    if len(values) != len(indices) or len(shape) != indices.shape[1]:
        raise invalid(
            f"Shape rank {len(shape)} and {len(values)} values don't fit indices of shape "
            f"{brackets(indices.shape)}"
        )
    if validate:
        _validate(indices, shape)
    sizes = shape[:-1].tolist()
    if not sizes or not len(indices):
        return _Members(np.zeros(len(indices), np.int64), values), sizes
    return _Members(np.ravel_multi_index(indices[:, :-1].T, sizes), values), sizes


def _validate(indices, shape):
    if not is_within(indices, shape):
        first = int(np.argmax(((indices < 0) | (indices >= shape)).any(axis=1)))
        raise invalid(
            f"indices[{first}] = {brackets(indices[first])} is out of bounds: need 0 <= index < "
            f"{brackets(shape)}"
        )
    numbers = row_numbers(indices)
    if not is_increasing(numbers, strictly=True):
        first = int(np.argmax(numbers[1:] <= numbers[:-1])) + 1
        wrong = "repeated" if numbers[first] == numbers[first - 1] else "out of order"
        raise invalid(
            f"indices[{first}] = {brackets(indices[first])} is {wrong}. Many sparse ops require "
            "sorted indices. Use `tf.sparse.reorder` to create a correctly ordered copy."
        )


class _Code:
    """Numbers for members: `width` times the place, plus what tells the value.

    Integers tell it themselves, if they are not too far from each other, other values by their
    rank among all of them.
    """

    def __init__(self, all_values, places):
        self._values = None
        self.width, self._low = 1, 0
        if not len(all_values):
            return
        if all_values.dtype != object:
            self._low = int(all_values.min())
            self.width = int(all_values.max()) - self._low + 1
            if self.width * places < 2**63:
                return
        self._values = np.unique(all_values)
        self.width, self._low = len(self._values), 0

    def numbers(self, members):
        """The numbers of the distinct members, in order."""
        if self._values is None:
            told = members.values - np.int64(self._low)
        else:
            told = np.searchsorted(self._values, members.values)
        return _distinct(members.places * self.width + told)

    def members(self, numbers, dtype):
        """The places and values that numbers stand for."""
        places, told = np.divmod(numbers, self.width)
        if self._values is None:
            return places, (told + self._low).astype(dtype)
        return places, self._values[told]


def _combined(a, b, sizes, operation):
    """The sparse tensor of the sets that an operation makes of the sets at each place."""
    code = _Code(np.concatenate([a.values, b.values]), max(math.prod(sizes), 1))
    numbers = operation(code.numbers(a), code.numbers(b))
    return _sparse_sets(*code.members(numbers, a.values.dtype), list(sizes))


def _sparse_sets(places, values, sizes):
    """Members in the order of their places, as indices, values and shape."""
    steps = np.arange(len(places))
    is_first = np.ones(len(places), bool)
    np.not_equal(places[1:], places[:-1], out=is_first[1:])
    rank_in_set = steps - np.maximum.accumulate(np.where(is_first, steps, 0))
    columns = (
        np.unravel_index(places, sizes) if sizes and len(places) else [places * 0] * len(sizes)
    )
    indices = np.stack([*columns, rank_in_set], axis=1).astype(np.int64, copy=False)
    largest = int(rank_in_set.max()) + 1 if len(places) else 0
    return indices, values, np.array([*sizes, largest], np.int64)


def _common_sizes(first, second):
    """The sizes of the groups of two tensors, which must agree."""
    if list(first) != list(second):
        raise invalid(f"Mismatched shapes {brackets(first)} vs {brackets(second)}")
    return list(first)


@kernel("DenseToDenseSetOperation", devices=HOST, fresh=True)
def _(node):
    operation = _operation(node)

    @on_arrays
    def run(set1, set2):
        a, sizes1 = _dense_members(set1)
        b, sizes2 = _dense_members(set2)
        _check_ranks(set1.ndim, set2.ndim)
        return _combined(a, b, _common_sizes(sizes1, sizes2), operation)

    return run


def _check_ranks(first, second):
    for rank in (first, second):
        if rank < 2:
            raise invalid(f"a tensor of sets has rank {rank} < 2")


@kernel("DenseToSparseSetOperation", devices=HOST, fresh=True)
def _(node):
    operation, validate = _operation(node), node.attrs["validate_indices"]

    @on_arrays
    def run(set1, indices, values, shape):
        _check_ranks(set1.ndim, len(shape))
        a, sizes1 = _dense_members(set1)
        b, sizes2 = _sparse_members(indices, values, shape, validate)
        return _combined(a, b, _common_sizes(sizes1, sizes2), operation)

    return run


@kernel("SparseToSparseSetOperation", devices=HOST, fresh=True)
def _(node):
    operation, validate = _operation(node), node.attrs["validate_indices"]

    @on_arrays
    def run(indices1, values1, shape1, indices2, values2, shape2):
        _check_ranks(len(shape1), len(shape2))
        a, sizes1 = _sparse_members(indices1, values1, shape1, validate)
        b, sizes2 = _sparse_members(indices2, values2, shape2, validate)
        return _combined(a, b, _common_sizes(sizes1, sizes2), operation)

    return run


@kernel("SetSize", devices=HOST, fresh=True)
def _(node):
    validate = node.attrs["validate_indices"]

    @on_arrays
    def run(indices, values, shape):
        members, sizes = _sparse_members(indices, values, shape, validate)
        total = math.prod(sizes)
        code = _Code(members.values, max(total, 1))
        counts = np.bincount(code.numbers(members) // code.width, minlength=total)
        return counts.reshape(sizes).astype(np.int32)

    return run
