"""The two products of weighted alternating least squares."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import op
from penstock.shapes import Shape

__all__ = ["masked_matmul", "wals_compute_partial_lhs_and_rhs"]

WALSComputePartialLhsAndRhs = op(
    "WALSComputePartialLhsAndRhs(factors: float32, factor_weights: float32, "
    "unobserved_weights: float32, input_weights: float32, input_indices: int64, "
    "input_values: float32, entry_weights: float32, input_block_size: int64, "
    "input_is_transpose: bool) -> partial_lhs: float32, partial_rhs: float32"
)
MaskedMatmul = op(
    "MaskedMatmul(a: float32, b: float32, mask_indices: int64, transpose_a: bool, "
    "transpose_b: bool) -> prod_values: float32"
)


@WALSComputePartialLhsAndRhs.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [None, None]


@MaskedMatmul.shape
def _(op: Any, *inputs: Shape) -> Shape:
    return None


def wals_compute_partial_lhs_and_rhs(
    factors: Any,
    factor_weights: Any,
    unobserved_weights: Any,
    input_weights: Any,
    input_indices: Any,
    input_values: Any,
    entry_weights: Any,
    input_block_size: Any,
    input_is_transpose: Any,
    name: str | None = None,
) -> Any:
    """Both sides of the equations that new factors solve, but for what all rows have in common.

    Args:
      factors: the factors of the other side, [n, k].
      factor_weights, input_weights: weights of the columns and of the rows of the input, or
      entry_weights: weights of the entries.
      unobserved_weights: the weight of what the input lacks.
      input_indices, input_values: the entries of a sparse input.
      input_block_size: how many rows the input has.
      input_is_transpose: whether those are its columns.
    """
    return WALSComputePartialLhsAndRhs(
        factors,
        factor_weights,
        unobserved_weights,
        input_weights,
        input_indices,
        input_values,
        entry_weights,
        input_block_size,
        input_is_transpose,
        name=name,
    )


def masked_matmul(
    a: Any, b: Any, mask_indices: Any, transpose_a: Any, transpose_b: Any, name: str | None = None
) -> Any:
    """Some elements of a product of matrices, by their places [n, 2]."""
    return MaskedMatmul(a, b, mask_indices, transpose_a, transpose_b, name=name)
