"""The kernel of edit distances between sequences in sparse tensors."""

import math

import numpy as np

from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import Groups, brackets, check_bounds, invalid, on_arrays


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
        hypotheses = _sequences(h_indices, h_values, sizes, "hypothesis")
        truths = _sequences(t_indices, t_values, sizes, "truth")
        result = np.zeros(sizes, np.float32)
        for place in hypotheses.keys() | truths.keys():
            result[place] = _distance(hypotheses.get(place), truths.get(place), normalize)
        return result

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


def _sequences(indices, values, sizes, name):
    """The sequences by their place in the result."""
    places = indices[:, :-1]
    check_bounds(
        places,
        sizes,
        lambda i, row: (
            f"{name}_indices[{i}] = {brackets(row)} is out of bounds of the output "
            f"shape {brackets(sizes)}"
        ),
    )
    groups = Groups(places)
    ordered = values[np.argsort(groups.number, kind="stable")]
    parts = np.split(ordered, groups.starts[1:]) if len(values) else []
    return {tuple(row): part for row, part in zip(groups.rows.tolist(), parts, strict=True)}


def _distance(hypothesis, truth, normalize):
    """How many insertions, deletions and replacements lead from one sequence to the other."""
    if truth is None:
        return math.inf if normalize else len(hypothesis)
    if hypothesis is None:
        return 1.0 if normalize else len(truth)
    distance = _levenshtein(hypothesis, truth)
    return distance / len(truth) if normalize else distance


def _levenshtein(a, b):
    """One row of the table of prefix distances after the other.

    Within a row an insertion costs one per step to the right, so that the best way from the left
    is a running minimum of the entries less their position.
    """
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for number, item in enumerate(a, start=1):
        best = np.empty_like(row)
        best[0] = number
        np.minimum(row[1:] + 1, row[:-1] + (b != item), out=best[1:])
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])
