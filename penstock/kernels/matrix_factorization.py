"""Kernels of weighted alternating least squares: sums over the entries of a sparse matrix."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel


def _demand(condition, message):
    if not condition:
        raise InvalidArgumentError(None, None, message)


def _check_entries(indices, values):
    _demand(indices.dim() == 2 and indices.shape[1] == 2, "Input input_indices should be a matrix.")
    _demand(values.dim() == 1, "Input input_values should be a vector.")
    _demand(
        values.shape[0] == indices.shape[0],
        "Input input_values' length should match the first dimension of Input input_indices ",
    )


def _entry_weights(entry_weights, input_weights, factor_weights, rows, columns):
    if entry_weights.numel():
        return entry_weights
    _demand(input_weights.dim() == 1, "Input input_weights should be a vector.")
    _demand(factor_weights.dim() == 1, "Input factor_weights should be a vector.")
    return input_weights[rows] * factor_weights[columns]


@kernel("WALSComputePartialLhsAndRhs", fresh=True)
def _(node):
    def run(
        factors,
        factor_weights,
        unobserved_weights,
        input_weights,
        indices,
        values,
        entry_weights,
        block_size,
        is_transpose,
    ):
        _demand(factors.dim() == 2, "Input factors should be a matrix.")
        _demand(unobserved_weights.dim() == 0, "Input unobserved_weights should be a scalar.")
        _check_entries(indices, values)
        rows, columns = indices.unbind(1)
        if bool(is_transpose):
            rows, columns = columns, rows
        count, size = int(block_size), factors.shape[1]
        inside = rows < count
        rows, columns, values = rows[inside], columns[inside], values[inside]
        if entry_weights.numel():
            entry_weights = entry_weights[inside]
        weights = _entry_weights(entry_weights, input_weights, factor_weights, rows, columns)
        met = factors[columns]
        left = factors.new_zeros(count, size, size)
        left.index_add_(0, rows, torch.einsum("e,ei,ej->eij", weights, met, met))
        right = factors.new_zeros(count, size)
        right.index_add_(0, rows, (values * (unobserved_weights + weights))[:, None] * met)
        return left, right

    return run


@kernel("MaskedMatmul", fresh=True)
def _(node):
    def run(a, b, indices, transpose_a, transpose_b):
        _demand(a.dim() == 2, "Input a should be a matrix.")
        _demand(b.dim() == 2, "Input b should be a matrix.")
        _demand(
            indices.dim() == 2 and indices.shape[1] == 2,
            f"mask_indices should be a matrix with two columns, got shape {list(indices.shape)}",
        )
        left = a.T if bool(transpose_a) else a
        right = b if bool(transpose_b) else b.T
        _demand(
            left.shape[1] == right.shape[1],
            f"The inner dimensions of a and b must match, got {left.shape[1]} and {right.shape[1]}",
        )
        rows, columns = indices.unbind(1)
        for what, places, size in (
            ("row", rows, left.shape[0]),
            ("column", columns, right.shape[0]),
        ):
            _demand(
                not places.numel() or (int(places.min()) >= 0 and int(places.max()) < size),
                f"A {what} of mask_indices is outside of the product, which has {size}.",
            )
        return (left[rows] * right[columns]).sum(1)

    return run
