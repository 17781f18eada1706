"""Kernels of crosses of features.

For each row the features of all columns are combined; the combinations of one row are counted
through like the digits of a number, the last column being the lowest digit.
"""

import numpy as np

from penstock import dtypes
from penstock.kernels.hashes import farmhash, hash_strings
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import brackets, invalid
from penstock.kernels.values import from_array, to_array

_SEPARATOR = b"_X_"
_MASK = 2**64 - 1
_MULTIPLIER = np.uint64(0xC6A4A7935BD1E995)
_LARGEST = 2**63 - 1
_GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7800)
_FIRST_HASH = np.uint64(0xDECAFCAFFE)


class _Column:
    """The features of an input: all of them in the order of rows, and where each row starts."""

    def __init__(self, features, starts):
        self.features = features
        self.starts = starts

    @property
    def counts(self):
        return np.diff(self.starts)


def _sparse_column(indices, values, shape, rows):
    if indices.ndim != 2 or indices.shape[1] != 2:
        raise invalid(
            f"Expected indices to be a matrix of 2 columns, got shape {brackets(indices.shape)}"
        )
    if values.ndim != 1 or len(values) != len(indices):
        raise invalid(
            f"Expected values to be a vector of {len(indices)} elements, got shape "
            f"{brackets(values.shape)}"
        )
    if shape.ndim != 1 or len(shape) != 2:
        raise invalid("Expect all shapes to be vectors of 2 elements, got " + str(shape.shape))
    if shape[0] != rows:
        raise invalid(f"Expected batch size {rows}, got {int(shape[0])}")
    return _Column(values, np.searchsorted(indices[:, 0], np.arange(rows + 1)))


def _dense_column(values, rows):
    if values.ndim != 2:
        raise invalid(f"Dense inputs should be a matrix, got shape {brackets(values.shape)}")
    if len(values) != rows:
        raise invalid(f"Expected batch size {rows} for dense inputs, got {len(values)}")
    return _Column(values.reshape(-1), np.arange(rows + 1) * values.shape[1])


def _columns(arrays, sparse, dense):
    """The inputs of a node as columns, and the number of rows."""
    indices, values = arrays[:sparse], arrays[sparse : 2 * sparse]
    shapes, others = arrays[2 * sparse : 3 * sparse], arrays[3 * sparse : 3 * sparse + dense]
    if sparse:
        rows = int(shapes[0][0]) if shapes[0].size else 0
    else:
        rows = len(others[0]) if others and others[0].ndim else 0
    columns = [_sparse_column(*part, rows) for part in zip(indices, values, shapes, strict=True)]
    return [*columns, *[_dense_column(other, rows) for other in others]], rows


def _combinations(columns, rows):
    """For each combination its row, its number in the row, and its feature in each column."""
    counts = np.stack([column.counts for column in columns], axis=1)
    totals = counts.prod(axis=1)
    row = np.repeat(np.arange(rows), totals)
    number = np.arange(len(row)) - np.repeat(np.cumsum(totals) - totals, totals)
    chosen, rest = [], number
    for column, of_row in zip(reversed(columns), reversed(counts.T), strict=True):
        rest, digit = np.divmod(rest, of_row[row])
        chosen.append(column.features[column.starts[row] + digit])
    return row, number, chosen[::-1], totals


def _texts(features):
    if features.dtype == object:
        return features.tolist()
    return [b"%d" % number for number in features.tolist()]


def _fingerprints(features):
    if features.dtype == object:
        return hash_strings(farmhash, features.tolist())
    return features.astype(np.uint64)


def _shift_mixed(values):
    return values ^ (values >> np.uint64(47))


def _concatenated(first, second):
    """TensorFlow's FingerprintCat64."""
    result = first ^ _MULTIPLIER
    result ^= _shift_mixed(second * _MULTIPLIER) * _MULTIPLIER
    result *= _MULTIPLIER
    return _shift_mixed(_shift_mixed(result) * _MULTIPLIER)


def _joined(chosen, separator):
    result = np.empty(len(chosen[0]), dtype=object)
    columns = [_texts(features) for features in chosen]
    result[:] = [separator.join(parts) for parts in zip(*columns, strict=True)]
    return result


def _hashed(chosen, key, buckets):
    hashes = np.full(len(chosen[0]), key & _MASK, np.uint64)
    with np.errstate(over="ignore"):
        for features in chosen:
            hashes = _concatenated(hashes, _fingerprints(features))
    return (hashes % np.uint64(buckets or _LARGEST)).astype(np.int64)


def _combined(first, second):
    """How crosses were hashed before they had keys: of signed numbers, as the shift shows."""
    shifted = (first.view(np.int64) >> np.int64(4)).view(np.uint64)
    return first ^ (second + _GOLDEN_RATIO + (first << np.uint64(10)) + shifted)


def _hashed_without_key(chosen, buckets):
    hashes = np.full(len(chosen[0]), _FIRST_HASH, np.uint64)
    with np.errstate(over="ignore"):
        for features in chosen:
            hashes = _combined(hashes, _fingerprints(features))
    return (hashes % np.uint64(buckets or _LARGEST)).astype(np.int64)


def _crossing(sparse, dense, combine):
    def run(*inputs):
        arrays = [to_array(value) for value in inputs]
        columns, rows = _columns(arrays, sparse, dense)
        row, number, chosen, totals = _combinations(columns, rows)
        values = combine(chosen, *arrays[3 * sparse + dense :])
        shape = np.array([rows, totals.max() if len(totals) else 0], np.int64)
        indices = np.stack([row, number], axis=1).astype(np.int64)
        return [from_array(part) for part in (indices, values, shape)]

    return run


@kernel("SparseCross", devices=HOST, fresh=True)
@kernel("SparseFeatureCrossV2", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs
    sparse, dense = attrs["N"], len(attrs["dense_types"])
    numbers = dtypes.int64 in (*attrs["sparse_types"], *attrs["dense_types"])
    if numbers and attrs["internal_type"] is dtypes.string:
        raise invalid("Input features of type int64 need internal_type=int64, got string")
    if attrs["hashed_output"]:
        key, buckets = attrs["hash_key"], attrs["num_buckets"]
        return _crossing(sparse, dense, lambda chosen: _hashed(chosen, key, buckets))
    return _crossing(sparse, dense, lambda chosen: _joined(chosen, _SEPARATOR))


@kernel("SparseFeatureCross", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs
    sparse, dense = attrs["N"], len(attrs["dense_types"])
    if attrs["hashed_output"]:
        buckets = attrs["num_buckets"]
        return _crossing(sparse, dense, lambda chosen: _hashed_without_key(chosen, buckets))
    return _crossing(sparse, dense, lambda chosen: _joined(chosen, _SEPARATOR))


@kernel("SparseCrossV2", devices=HOST, fresh=True)
def _(node):
    sparse, dense = node.attrs["N"], len(node.attrs["dense_types"])
    return _crossing(sparse, dense, lambda chosen, separator: _joined(chosen, separator[()]))
