"""Kernels of sets: the last dimension of a tensor holds the members of a set.

Each member becomes a number, of which the higher part is the place of its set and the lower part
its rank among all values; then sets of all places are united or intersected at once.
"""

import numpy as np

from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import brackets, invalid, is_increasing, on_arrays, row_numbers

_OPERATIONS = {
    "a-b": lambda a, b: np.setdiff1d(a, b, assume_unique=True),
    "b-a": lambda a, b: np.setdiff1d(b, a, assume_unique=True),
    "intersection": lambda a, b: np.intersect1d(a, b, assume_unique=True),
    "union": np.union1d,
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
    return _Members(np.repeat(np.arange(count), size), array.reshape(-1)), array.shape[:-1]


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
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        first = int(np.argmax(outside))
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


def _combined(a, b, sizes, operation):
    """The sparse tensor of the sets that an operation makes of the sets at each place."""
    values, codes = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
    codes = codes.reshape(-1)
    width = max(len(values), 1)
    of_a = np.unique(a.places * width + codes[: len(a.values)])
    of_b = np.unique(b.places * width + codes[len(a.values) :])
    places, codes = np.divmod(operation(of_a, of_b), width)
    return _sparse_sets(places, values[codes], list(sizes))


def _sparse_sets(places, values, sizes):
    """Members in the order of their places, as indices, values and shape."""
    starts = np.searchsorted(places, places)
    rank_in_set = np.arange(len(places)) - starts
    columns = (
        np.unravel_index(places, sizes) if sizes and len(places) else [places * 0] * len(sizes)
    )
    indices = np.stack([*columns, rank_in_set], axis=1).astype(np.int64)
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
        unique, codes = np.unique(members.values, return_inverse=True)
        width = max(len(unique), 1)
        numbers = np.unique(members.places * width + codes.reshape(-1))
        total = int(np.prod(sizes))
        counts = np.bincount(numbers // width, minlength=total)
        return counts.reshape(sizes).astype(np.int32)

    return run
