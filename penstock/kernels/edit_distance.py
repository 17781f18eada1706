"""The kernel of edit distances between sequences in sparse tensors."""

import math

import numpy as np

from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import brackets, check_bounds, invalid, on_arrays, order_of


@kernel("EditDistance", devices=HOST, fresh=True)
def _(node):
    normalize = node.attrs["normalize"]

    @on_arrays
    def run(h_indices, h_values, h_shape, t_indices, t_values, t_shape):
        _check(h_indices, h_values, h_shape, "hypothesis")
        _check(t_indices, t_values, t_shape, "truth")
        if len(h_shape) != len(t_shape):
            raise invalid(
                "Expected truth and hypothesis to have matching ranks, but their shapes are: "
                f"{brackets(t_shape)} and {brackets(h_shape)}"
            )
        if len(h_shape) < 2:
            raise invalid(f"Input SparseTensors must have rank at least 2, got {len(h_shape)}")
        sizes = np.maximum(h_shape[:-1], t_shape[:-1])
        hypotheses = _Sequences(h_indices, h_values, sizes, "hypothesis")
        truths = _Sequences(t_indices, t_values, sizes, "truth")
        # Without one of the sequences the distance is the length of the other.
        distances = np.maximum(hypotheses.lengths, truths.lengths)
        both = np.flatnonzero((hypotheses.lengths > 0) & (truths.lengths > 0))
        for places in _of_similar_lengths(both, hypotheses, truths):
            distances[places] = _levenshtein(hypotheses, truths, places)
        distances = distances.astype(np.float32)
        if normalize:
            # Of two empty sequences it is 0, and with an empty truth it is infinite.
            distances = np.where(distances == 0, distances, distances / truths.lengths)
        return distances.astype(np.float32, copy=False).reshape(sizes)

    return run


def _check(indices, values, shape, name):
    if indices.ndim != 2:
        raise invalid(
            f"{name}_indices should be a matrix, but got shape: {brackets(indices.shape)}"
        )
    if values.ndim != 1:
        raise invalid(f"{name}_values should be a vector, but got shape: {brackets(values.shape)}")
    if shape.ndim != 1:
        raise invalid(f"{name}_shape should be a vector, but got shape: {brackets(shape.shape)}")
    if len(values) != len(indices):
        raise invalid(
            f"Expected {name}_values.NumElements == #rows({name}_indices), their shapes are: "
            f"{brackets(values.shape)} and {brackets(indices.shape)}"
        )
    if len(shape) != indices.shape[1]:
        raise invalid(
            f"{name}_shape.NumElements() != {name}_indices.dim_size(1): {len(shape)} vs. "
            f"{indices.shape[1]}"
        )


class _Sequences:
    """The sequences of a sparse tensor, by their place in the flattened result."""

    def __init__(self, indices, values, sizes, name):
        outer = indices[:, :-1]
        check_bounds(
            outer,
            sizes,
            lambda i, row: (
                f"{name}_indices[{i}] = {brackets(row)} is out of bounds of the output "
                f"shape {brackets(sizes)}"
            ),
        )
        place = np.ravel_multi_index(tuple(outer.T), tuple(sizes)) if len(values) else outer[:, 0]
        order = order_of(place)
        self._values = values if order is None else values[order]
        self.lengths = np.bincount(place, minlength=math.prod(sizes.tolist()))
        self._ends = np.cumsum(self.lengths)

    def columns(self, places):
        """The sequences at some places as the columns of a matrix, filled up with anything."""
        lengths = self.lengths[places]
        steps = np.arange(lengths.max())[:, np.newaxis]
        positions = (self._ends[places] - lengths) + steps
        return self._values[np.minimum(positions, len(self._values) - 1)], lengths


_TOGETHER = 1024  # pairs whose distances are computed at once


def _of_similar_lengths(places, hypotheses, truths):
    """Groups of places, such that few columns are much shorter than the longest of their group."""
    ordered = places[np.lexsort((hypotheses.lengths[places], truths.lengths[places]))]
    return [ordered[i : i + _TOGETHER] for i in range(0, len(ordered), _TOGETHER)]


def _levenshtein(hypotheses, truths, places):
    """How many insertions, deletions and replacements lead from one sequence to the other.

    The tables of prefix distances of all pairs are filled side by side, one diagonal after the
    other: entry j of the diagonal number d is about d - j items of the hypothesis and j of the
    truth, and depends on the two diagonals before alone.
    """
    given, given_lengths = hypotheses.columns(places)
    wanted, wanted_lengths = truths.columns(places)
    backwards, height, width = given[::-1], len(given), len(wanted)
    result = np.empty(len(places), np.int64)
    totals = given_lengths + wanted_lengths
    before, last, current = np.zeros((3, width + 1, len(places)), np.int32)
    for d in range(1, height + width + 1):
        low, high = max(1, d - height), min(d - 1, width)
        if low <= high:
            above, inner = slice(low - 1, high), slice(low, high + 1)
            differs = wanted[above] != backwards[height - d + low : height - d + high + 1]
            changed = np.minimum(last[inner], last[above])
            changed += 1
            np.add(before[above], differs, out=current[inner])
            np.minimum(current[inner], changed, out=current[inner])
        if d <= height:
            current[0] = d
        if d <= width:
            current[d] = d
        ended = np.flatnonzero(totals == d)
        result[ended] = current[wanted_lengths[ended], ended]
        before, last, current = last, current, before
    return result
