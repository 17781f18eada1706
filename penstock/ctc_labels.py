"""Label sequences for the CTC loss: equal neighbours merged, and distinct labels listed."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.functional import map_fn
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts, comparison
from penstock.ops.ctc import size_of
from penstock.ops.padding import pad
from penstock.ops.reductions import reduce_max, reduce_sum
from penstock.ops.scatter import scatter_nd
from penstock.ops.unique import unique

__all__ = ["collapse_repeated", "ctc_unique_labels"]


def collapse_repeated(
    labels: Any, seq_length: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Makes one label of equal neighbours in each row, padded with zeros.

    Returns the labels, as wide as the longest row that is left, and the new lengths.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = to_tensor(labels, name="labels")
        seq_length = to_tensor(seq_length, name="seq_length")
        first = array.ones_like(labels[:, :1], dtype=dtypes.bool)
        differs = comparison.not_equal(labels[:, 1:], labels[:, :-1])
        within = array.sequence_mask(seq_length, maxlen=size_of(labels, 1))
        kept = comparison.logical_and(array.concat([first, differs], axis=1), within)
        lengths = reduce_sum(casts.cast(kept, dtypes.int32), axis=1)
        width = reduce_max(lengths)
        places = array.where(array.sequence_mask(lengths, maxlen=width))
        sizes = array.stack([array.shape(labels)[0], width])
        values = array.boolean_mask(labels, kept)
        collapsed = scatter_nd(places, values, casts.cast(sizes, dtypes.int64))
        collapsed.set_shape([labels.shape[0], None])
        return collapsed, casts.cast(lengths, seq_length.dtype)


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Tensor]:
    """The distinct labels of each row, padded with 0, and where each label is among them.

    >>> tf.nn.ctc_unique_labels([[3, 4, 4, 3]])  # [[3, 4, 0, 0]], [[0, 1, 1, 0]]
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = to_tensor(labels, name="labels")

        def of_row(row: Any) -> list[Tensor]:
            distinct, places = unique(row)
            missing = size_of(places, 0) - array.shape(distinct)[0]
            padded = pad(distinct, array.stack([[0, missing]]))
            return [casts.cast(padded, dtypes.int64), places]

        found: list[Tensor] = map_fn(of_row, labels, dtype=[dtypes.int64, dtypes.int32])
        return found
