"""A queue that is filled ahead of those who take from it."""

from __future__ import annotations

from typing import Any

import penstock as tf


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """A queue of tensors, or of a dict of them, that threads fill.

    Args:
      dynamic_pad: whether elements may be of different sizes, to be padded when taken together.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = list(tensors) if names is None else [tensors[each] for each in names]
    with tf.name_scope(name, "prefetch_queue", listed):
        queue_class = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        queue = queue_class(
            capacity=capacity,
            dtypes=[tensor.dtype for tensor in listed],
            shapes=[tensor.get_shape() for tensor in listed],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(tensors)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * num_threads))
        share = tf.cast(queue.size(), tf.float32) * (1.0 / capacity)
        tf.summary.scalar(f"fraction_of_{capacity}_full", share)
        return queue
