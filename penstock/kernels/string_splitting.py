"""Kernels that split strings."""

import itertools
import re

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import attr_bytes, string_vector
from penstock.kernels.values import to_array, torch_type


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


@kernel("StringSplit", devices=HOST)
def _(node):
    skip_empty = node.attrs["skip_empty"]

    def run(input, delimiter):
        _check(input, delimiter, "delimiter")
        split = _splitter(delimiter.item(), skip_empty)
        return _as_sparse([split(string) for string in input])

    return run


@kernel("StringSplitV2", devices=HOST)
def _(node):
    limit = node.attrs["maxsplit"]

    def run(input, separator):
        _check(input, separator, "sep")
        sep = separator.item()
        if limit == 0:
            return _as_sparse([[string] for string in input])
        if sep:
            return _as_sparse([string.split(sep, limit) for string in input])
        return _as_sparse([_words(string, limit) for string in input])

    return run


def _check(input, separator, name):
    if input.ndim != 1:
        raise _invalid(f"input must be a vector, got shape: {shapes.text(input.shape)}")
    if separator.ndim:
        raise _invalid(f"{name} must be a scalar, got shape: {shapes.text(separator.shape)}")


def _splitter(delimiters, skip_empty):
    """The function that splits a string at any byte of `delimiters`."""
    if not delimiters:
        return lambda string: [string[i : i + 1] for i in range(len(string))]
    if len(delimiters) > 1:
        split = re.compile(b"[" + re.escape(delimiters) + b"]").split
    else:

        def split(string):
            return string.split(delimiters)

    if skip_empty:
        return lambda string: [word for word in split(string) if word]
    return lambda string: split(string) if string else []


def _words(string, limit):
    """Split at white space; TensorFlow adds the rest behind the last split even if it is empty."""
    words = string.split(None, limit)
    return [*words, b""] if len(words) == limit else words


def _as_sparse(rows):
    """Lists of strings as the indices, values and shape of a sparse matrix."""
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    total = int(counts.sum())
    indices = np.empty((total, 2), dtype=np.int64)
    indices[:, 0] = np.repeat(np.arange(len(rows)), counts)
    indices[:, 1] = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = np.array([len(rows), counts.max(initial=0)], dtype=np.int64)
    values = string_vector([word for row in rows for word in row])
    return torch.from_numpy(indices), values, torch.from_numpy(shape)


# N-grams ---------------------------------------------------------------------------------------


@kernel("StringNGrams", devices=HOST)
def _(node):
    make = _NGrams(node.attrs)
    split_type = torch_type(node.attrs["Tsplits"])

    def run(data, splits):
        bounds = _checked_bounds(to_array(splits).tolist(), len(data))
        rows = [make(list(data[a:b])) for a, b in itertools.pairwise(bounds)]
        ends = np.cumsum([0] + [len(row) for row in rows])[: len(bounds)]
        ngrams = string_vector([ngram for row in rows for ngram in row])
        return ngrams, torch.from_numpy(ends.astype(np.int64)).to(split_type)

    return run


def _checked_bounds(bounds, size):
    if bounds:
        if bounds[0] != 0:
            raise _invalid(f"First split value must be 0, got {bounds[0]}")
        for before, after in itertools.pairwise(bounds):
            if not before <= after <= size:
                raise _invalid(f"Invalid split value {after}, must be in [{before}, {size}]")
        if bounds[-1] != size:
            raise _invalid(f"Last split value must be data size. Expected {size}, got {bounds[-1]}")
    return bounds


class _NGrams:
    """The n-grams of a row of words, for each of the widths that a node lists."""

    def __init__(self, attrs):
        self._join = attr_bytes(attrs["separator"]).join
        self._widths = attrs["ngram_widths"]
        self._pads = attr_bytes(attrs["left_pad"]), attr_bytes(attrs["right_pad"])
        self._pad_width = attrs["pad_width"]
        self._keeps_short = attrs["preserve_short_sequences"]
        for width in self._widths:
            if width <= 0:
                raise _invalid("ngram_widths must contain positive values")

    def __call__(self, words):
        found = []
        for width in self._widths:
            found += self._of_width(words, width)
        if not found and self._keeps_short and words:
            # The whole row, short as it is, with all of its padding.
            found = [self._join(self._padded(words, self._pad_width))]
        return found

    def _padding(self, width):
        return width - 1 if self._pad_width < 0 else min(self._pad_width, width - 1)

    def _padded(self, words, pad):
        left, right = self._pads
        return [left] * pad + words + [right] * pad

    def _of_width(self, words, width):
        padded = self._padded(words, self._padding(width))
        return [self._join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
