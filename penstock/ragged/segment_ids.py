"""Two ways to say which row a value is in: where rows begin, and a row number for each value."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.ragged.row_ranges import convert_to_int_tensor, lengths_to_splits, repeat


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Any:
    """The number of its row for each value.

    >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])  # [0, 0, 0, 2, 2]
    """
    with tf.name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = tf.convert_to_tensor(splits, name="splits", preferred_dtype=tf.int64)
        if splits.dtype not in (tf.int32, tf.int64):
            raise ValueError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if splits.shape.as_list()[0] == 0:
            raise ValueError("Invalid row_splits: []")
        out_type = splits.dtype if out_type is None else tf.as_dtype(out_type)
        rows = tf.range(tf.shape(splits, out_type=out_type)[-1] - 1)
        return repeat(rows, splits[1:] - splits[:-1], axis=0)


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Any:
    """Where the rows begin and end, of sorted row numbers.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2])  # [0, 3, 3, 5]
    """
    if out_type is None:
        given = [each for each in (segment_ids, num_segments) if isinstance(each, tf.Tensor)]
        out_type = given[0].dtype if given else tf.int64
    out_type = tf.as_dtype(out_type)
    with tf.name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        segment_ids = convert_to_int_tensor(segment_ids, "segment_ids", tf.int32)
        segment_ids.shape.assert_has_rank(1)
        known = None
        if num_segments is not None:
            num_segments = convert_to_int_tensor(num_segments, "num_segments", tf.int32)
            num_segments.shape.assert_has_rank(0)
            known = constant_value(num_segments)
        lengths = tf.bincount(
            segment_ids, minlength=num_segments, maxlength=num_segments, dtype=out_type
        )
        splits = lengths_to_splits(lengths)
        if known is not None:
            splits.set_shape([int(known) + 1])
        return splits
