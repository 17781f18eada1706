"""Rows and columns of a matrix of distances, matched greedily: the nearest pair first."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import binary, casts, comparison, filling, masking, reductions, shaping
from penstock.ops.loops import while_loop

__all__ = ["bipartite_match"]


class BipartiteMatch(NamedTuple):
    """For each row the column that it is matched with, and the other way round; -1 for none."""

    row_to_col_match_indices: Tensor
    col_to_row_match_indices: Tensor


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str | None = "bipartite_match"
) -> BipartiteMatch:
    """Matches each row with one column, each column with one row, the smallest distance first.

    Args:
      num_valid_rows: how many of the first rows take part; all, if negative.
      top_k: how many pairs are made at most; as many as there are, if negative.
    """
    with name_scope(name, "bipartite_match", [distance_mat, num_valid_rows]):
        distances = convert_to_tensor(distance_mat, dtypes.float32, name="distance_mat")
        distances.shape.assert_has_rank(2)
        sizes = shaping.shape(distances)
        num_rows, num_columns = sizes[0], sizes[1]
        valid = _rows_to_match(num_valid_rows, num_rows)
        pairs = binary.minimum(valid, num_columns)
        if top_k >= 0:
            pairs = binary.minimum(pairs, top_k)
        taken = filling.range(num_rows) >= valid
        distances = _without(distances, taken[:, None])
        columns, rows = _matches(distances, num_rows, num_columns, pairs)
        columns.set_shape(distances.shape[:1])
        rows.set_shape(distances.shape[1:])
        return BipartiteMatch(columns, rows)


def _rows_to_match(num_valid_rows: Any, num_rows: Tensor) -> Tensor:
    given = convert_to_tensor(num_valid_rows, dtypes.float32, name="num_valid_rows")
    given = casts.cast(shaping.reshape(given, []), dtypes.int32)
    return masking.where(given < 0, num_rows, binary.minimum(given, num_rows))


def _matches(distances: Tensor, num_rows: Tensor, num_columns: Tensor, pairs: Tensor) -> Any:
    """Takes the nearest pair, leaves its row and column out, and goes on."""

    def match_nearest(index: Tensor, left: Tensor, columns: Tensor, rows: Tensor) -> Any:
        nearest = reductions.argmin(shaping.reshape(left, [-1]), output_type=dtypes.int32)
        row, column = nearest // num_columns, nearest % num_columns
        in_row = comparison.equal(filling.range(num_rows), row)
        in_column = comparison.equal(filling.range(num_columns), column)
        return (
            index + 1,
            _without(left, comparison.logical_or(in_row[:, None], in_column[None, :])),
            masking.where(in_row, filling.fill([num_rows], column), columns),
            masking.where(in_column, filling.fill([num_columns], row), rows),
        )

    none = -1
    start = (0, distances, filling.fill([num_rows], none), filling.fill([num_columns], none))
    _, _, columns, rows = while_loop(
        lambda index, *_: index < pairs, match_nearest, start, back_prop=False
    )
    return columns, rows


def _without(distances: Tensor, taken: Tensor) -> Tensor:
    """The distances with infinity where `taken`, of a shape that broadcasts, is true."""
    infinite = filling.fill(shaping.shape(distances), float("inf"))
    everywhere = comparison.logical_or(taken, filling.zeros_like(distances, dtype=dtypes.bool))
    return masking.where(everywhere, infinite, distances)
