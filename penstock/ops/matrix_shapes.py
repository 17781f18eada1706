"""Shapes of matrices and of batches of them: `[..., rows, columns]`.

A batch is the raw shape of the leading dimensions, None where the rank is not known.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank_at_least
from penstock.shapes import Shape, broadcast

Size = int | None


class Matrix(NamedTuple):
    """The shape of a batch of matrices, taken apart."""

    batch: Shape
    rows: Size
    cols: Size


def matrix(shape: Shape) -> Matrix:
    """Takes a shape apart; ValueError where it has fewer than two dimensions."""
    with_rank_at_least(shape, 2)
    return Matrix(None, None, None) if shape is None else Matrix(shape[:-2], shape[-2], shape[-1])


def square(shape: Shape) -> tuple[Shape, Size]:
    """The batch and the size of square matrices; ValueError where they are not square."""
    found = matrix(shape)
    return found.batch, merge_sizes(found.rows, found.cols)


def with_batch(batch: Shape, *sizes: Size) -> Shape:
    """The shape of a batch of things with these sizes."""
    return None if batch is None else (*batch, *sizes)


def smaller(m: Size, n: Size) -> Size:
    """The smaller of two sizes, as far as it is known."""
    if m == 0 or n == 0:
        return 0
    return None if m is None or n is None else min(m, n)


def solution(lhs: Shape, rhs: Shape, *, is_square: bool, broadcasts: bool = False) -> Shape:
    """The shape of x in `lhs @ x = rhs`, whose batches must agree, or broadcast."""
    left, right = matrix(lhs), matrix(rhs)
    if is_square:
        merge_sizes(left.rows, left.cols)
    batch = (broadcast if broadcasts else merge_shapes)(left.batch, right.batch)
    rows = merge_sizes(left.rows, right.rows)
    return with_batch(batch, merge_sizes(rows, left.cols) if is_square else left.cols, right.cols)
