"""The rows of indices of sparse tensors: checked, numbered, put in order, matched.

These kernels compute on the host in NumPy, which has every type and shares memory with tensors.
"""

import functools
import math

import numpy as np

from penstock import errors
from penstock.kernels.values import from_array, to_array


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def on_arrays(function):
    """A function of arrays, which returns an array or a tuple of them, as a kernel's function."""

    @functools.wraps(function)
    def run(*inputs):
        with np.errstate(all="ignore"):
            result = function(*[to_array(value) for value in inputs])
        if isinstance(result, tuple):
            return [from_array(part) for part in result]
        return from_array(result)

    return run


def brackets(sizes):
    """A list of numbers as TensorFlow's errors write it: [2,3]."""
    return "[" + ",".join(str(int(size)) for size in sizes) + "]"


def check_parts(indices, values, shape, what="Input"):
    """Refuses indices, values and a shape that don't make a sparse tensor."""
    for part, name, rank, wanted in (
        (indices, "indices", 2, "matrix"),
        (values, "values", 1, "vector"),
        (shape, "shape", 1, "vector"),
    ):
        if part.ndim != rank:
            raise invalid(
                f"{what} {name} should be a {wanted} but received shape {brackets(part.shape)}"
            )
    if len(values) != len(indices):
        raise invalid(
            f"Number of values must match first dimension of indices. Got {len(values)} values, "
            f"indices shape: {brackets(indices.shape)}"
        )
    if len(shape) != indices.shape[1]:
        raise invalid(
            f"Number of dimensions must match second dimension of indices. Got {len(shape)} "
            f"dimensions, indices shape: {brackets(indices.shape)}"
        )


def is_within(indices, shape):
    """Whether all rows of indices are inside of a shape.

    Column by column: NumPy's loop over the short rows of a matrix takes ten times as long.
    """
    if not len(indices):
        return True
    return all(
        column.min() >= 0 and column.max() < size
        for column, size in zip(indices.T, shape, strict=True)
    )


def check_bounds(indices, shape, message):
    """Refuses a row outside of the shape; `message(row number, row)` says what is wrong."""
    if is_within(indices, shape):
        return
    inside = (indices >= 0) & (indices < np.asarray(shape))
    if not inside.all():
        first = int(np.argmin(inside.all(axis=1)))
        raise invalid(message(first, indices[first]))


def row_numbers(*matrices):
    """One number per row: equal rows have equal numbers, and numbers are in the order of rows.

    Rows of several matrices are numbered alike; then the result is a list of vectors.
    """
    filled = [matrix for matrix in matrices if matrix.size]
    if not filled:
        numbers = [np.zeros(len(matrix), np.int64) for matrix in matrices]
    else:
        numbers = _numbers(matrices, filled)
    return numbers[0] if len(matrices) == 1 else numbers


def _numbers(matrices, filled):
    rank = filled[0].shape[1]
    low = [min(int(matrix[:, axis].min()) for matrix in filled) for axis in range(rank)]
    high = [max(int(matrix[:, axis].max()) for matrix in filled) for axis in range(rank)]
    spans = [most - least + 1 for most, least in zip(high, low, strict=True)]
    if math.prod(spans) >= 2**63:
        together = np.unique(np.concatenate(matrices), axis=0, return_inverse=True)[1].reshape(-1)
        return np.split(together, np.cumsum([len(matrix) for matrix in matrices[:-1]]))
    return [_positions(matrix, low, spans) for matrix in matrices]


def _positions(rows, low, spans):
    """The position of each row in a box of sizes `spans` that starts at `low`."""
    numbers = rows[:, 0] - low[0]
    for axis in range(1, rows.shape[1]):
        numbers *= spans[axis]
        numbers += rows[:, axis]
        if low[axis]:
            numbers -= low[axis]
    return numbers


def is_increasing(numbers, strictly=False):
    steps = numbers[1:] > numbers[:-1] if strictly else numbers[1:] >= numbers[:-1]
    return bool(steps.all())


def order_of(numbers):
    """The stable permutation that sorts numbers; None where they are in order already."""
    return None if is_increasing(numbers) else np.argsort(numbers, kind="stable")


def in_order(indices, values):
    """Indices and values in the order of the rows of indices."""
    order = order_of(row_numbers(indices))
    return (indices, values) if order is None else (indices[order], values[order])


def merge(a, b):
    """Walks through two lists of row numbers side by side, as if both were in order.

    Returns for each step the positions in `a` and in `b`, -1 where only the other has the row.
    """
    if not (is_increasing(a, strictly=True) and is_increasing(b, strictly=True)):
        return _merge_one_by_one(a.tolist(), b.tolist())
    both = np.union1d(a, b)
    positions = []
    for numbers in (a, b):
        position = np.full(len(both), -1)
        position[np.searchsorted(both, numbers)] = np.arange(len(numbers))
        positions.append(position)
    return positions[0], positions[1]


def _merge_one_by_one(a, b):
    """The general case: rows may repeat or be out of order."""
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        takes_a, takes_b = a[i] <= b[j], b[j] <= a[i]
        pairs.append((i if takes_a else -1, j if takes_b else -1))
        i += takes_a
        j += takes_b
    pairs += [(rest, -1) for rest in range(i, len(a))]
    pairs += [(-1, rest) for rest in range(j, len(b))]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def or_zero(values, positions):
    """The values at positions, zero where a position is -1."""
    padded = np.concatenate([values, np.zeros(1, values.dtype)])
    return padded[positions]


class Groups:
    """Rows that agree in some of their columns: `starts` of the groups in `order`ed rows.

    `number` tells the group of each row, in the rows' own order.
    """

    def __init__(self, rows):
        numbers = row_numbers(rows)
        self._order = order_of(numbers)
        ordered = numbers if self._order is None else numbers[self._order]
        is_first = np.ones(len(ordered), bool)
        is_first[1:] = ordered[1:] != ordered[:-1]
        self.starts = np.flatnonzero(is_first)
        in_order_of_groups = np.cumsum(is_first) - 1
        if self._order is None:
            self.number = in_order_of_groups
        else:
            self.number = np.empty_like(in_order_of_groups)
            self.number[self._order] = in_order_of_groups
        sorted_rows = rows if self._order is None else rows[self._order]
        self.rows = sorted_rows[self.starts]

    def reduce(self, ufunc, values):
        """The values of each group combined by a NumPy function."""
        if not len(values):
            return values
        ordered = values if self._order is None else values[self._order]
        # NumPy would add small integers as larger ones.
        return ufunc.reduceat(ordered, self.starts, dtype=ordered.dtype)
