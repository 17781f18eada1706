"""Steps of a loop over time whose results are kept, one row for each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

Step = Callable[[tf.Tensor, list[tf.Tensor]], tuple[list[tf.Tensor], list[tf.Tensor]]]


def rows_at(structure: Any, index: Any) -> Any:
    """One step of tensors whose first dimension is time."""
    return tf.nest.map_structure(lambda rows: tf.gather(rows, index), structure)


def _padded(rows: tf.Tensor, before: tf.Tensor, after: tf.Tensor) -> tf.Tensor:
    pads = tf.concat([[[before, after]], tf.zeros([tf.rank(rows) - 1, 2], tf.int32)], 0)
    padded = tf.pad(rows, pads)
    padded.set_shape([None, *rows.shape[1:]] if rows.shape.ndims else None)
    return padded


def loop_with_history(
    step: Step,
    state: list[tf.Tensor],
    kept: list[tf.Tensor],
    first: Any,
    end: Any,
    length: Any,
    backward: bool = False,
) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
    """The state after the steps from `first` to `end`, and what each gave, with zeros elsewhere.

    Args:
      step: makes of a time and a state the next state, and what is kept of the step.
      kept: tensors like those that are kept.
      length: how many rows the histories have.
      backward: whether the last step comes first.
    """
    first, end, length = (tf.cast(each, tf.int32) for each in (first, end, length))
    arrays = [
        tf.TensorArray(like.dtype, end - first, element_shape=like.shape, infer_shape=False)
        for like in kept
    ]
    shapes = [each.shape for each in state]

    def body(count: tf.Tensor, state: Any, arrays: Any) -> Any:
        row = end - first - 1 - count if backward else count
        following, results = step(first + row, list(state))
        for each, shape in zip(following, shapes, strict=True):
            each.set_shape(shape)
        written = [array.write(row, result) for array, result in zip(arrays, results, strict=True)]
        return count + 1, following, written

    _, final, arrays = tf.while_loop(
        lambda count, *_: count < end - first, body, (tf.constant(0), list(state), arrays)
    )
    histories = [_padded(array.stack(), first, length - end) for array in arrays]
    return list(final), histories
