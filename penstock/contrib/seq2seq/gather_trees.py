"""Beams put together from what each step of a beam search kept."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.dimensions import size_of
from penstock.ir.registry import not_differentiable, op
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank
from penstock.shapes import Shape

__all__ = ["gather_tree", "gather_tree_from_array"]

GatherTree = op(
    "GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> beams: T",
    T=(tf.int32,),
)
not_differentiable(GatherTree)


@GatherTree.shape
def _(op: Any, step_ids: Shape, parent_ids: Shape, lengths: Shape, end_token: Shape) -> Shape:
    steps = with_rank(step_ids, 3)
    parents = with_rank(parent_ids, 3)
    merge_sizes(steps[1], with_rank(lengths, 1)[0])
    with_rank(end_token, 0)
    return merge_shapes(steps, parents)


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_sequence_lengths: Any,
    end_token: Any,
    name: str | None = None,
) -> Any:
    """The ids of whole beams, `[time, batch, beam]`, followed back from the last step.

    Args:
      step_ids: `[time, batch, beam]`: the id that each beam got in each step.
      parent_ids: The beam of the step before that each beam goes on from.
      max_sequence_lengths: `[batch]`: how many steps count.
      end_token: What comes behind the end of a beam.
    """
    return GatherTree(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Other values of each step along the beams.

    They are `[time, batch, beam, …]` or `[time, batch * beam, …]`.
    """
    time, batch, width = (size_of(parent_ids, axis) for axis in range(3))
    own = tf.tile(tf.reshape(tf.range(width), [1, 1, -1]), tf.stack([time, batch, 1]))
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    followed = gather_tree(own, parent_ids, longest, width + 1)
    within = tf.transpose(tf.sequence_mask(sequence_length, maxlen=time), [2, 0, 1])
    followed = tf.where(within, followed, own)
    times = tf.tile(tf.reshape(tf.range(time), [-1, 1, 1]), tf.stack([1, batch, width]))
    entries = tf.tile(tf.reshape(tf.range(batch), [1, -1, 1]), tf.stack([time, 1, width]))
    rows = tf.reshape(t, tf.stack([time, batch, width, -1]))
    ordered = tf.gather_nd(rows, tf.stack([times, entries, followed], -1))
    return tf.reshape(ordered, tf.shape(t))
