"""Batches of examples of one kind: `bucket` sorts examples into queues and batches each queue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.layers.smart_cond import smart_cond
from penstock.ops.queues import FIFOQueue, PaddingFIFOQueue
from penstock.train.batching import (
    _as_original_type,
    _as_tensor_list,
    _checked_keep_input,
    _common_shapes,
    _common_types,
    _converted,
)
from penstock.train.queue_runner import QueueRunner, add_queue_runner
from penstock.train.stored_sparse import restore_sparse, store_sparse

__all__ = ["bucket", "bucket_by_sequence_length"]

_ENDS = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def _batch_sizes(batch_size: Any, num_buckets: int) -> list[Any]:
    """The batch size of each bucket, as a number where it is known."""
    if isinstance(batch_size, (list, tuple)):
        if len(batch_size) != num_buckets:
            raise ValueError("If batch_size is a list it must have num_buckets elements")
        given = list(batch_size)
    else:
        given = [batch_size] * num_buckets
    tensors = [tf.convert_to_tensor(each, dtype=tf.int32, name="batch_size") for each in given]
    known = [constant_value(each) for each in tensors]
    return [
        each if value is None else int(value) for each, value in zip(tensors, known, strict=True)
    ]


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of examples from one bucket each; returns the bucket and the batch.

    Args:
      tensors: a list or dictionary of the components of an example.
      which_bucket: the number of the example's bucket.
      batch_size: the size of batches, or a list of a size per bucket.
      num_buckets: how many buckets there are.
      num_threads: the threads that sort examples.
      capacity: how many batches wait in the last queue, and examples in a bucket.
      bucket_capacities: how many examples wait in each bucket.
      shapes: the shapes of an example, where they are not known.
      dynamic_pad: whether examples of a batch are padded to one shape.
      allow_smaller_final_batch: whether the last batches may be smaller.
      keep_input: whether to take the example at all.
      shared_name: the name under which sessions share the queues.
      name: a name for the operations.
    """
    if bucket_capacities is None:
        bucket_capacities = [capacity] * num_buckets
    if len(bucket_capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets "
            f"({num_buckets}) elements."
        )
    tensor_list = _as_tensor_list(tensors)
    with tf.name_scope(name, "bucket", tensor_list):
        tensor_list = _converted(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in bucket().")
        keep_input = _checked_keep_input(keep_input, enqueue_many=False)
        tensor_list, sparse_info = store_sparse(tensor_list, False, keep_input)
        sizes = _batch_sizes(batch_size, num_buckets)
        types = _common_types([tensor_list])
        shapes = _common_shapes([tensor_list], shapes, False)
        which_bucket = tf.convert_to_tensor(which_bucket, dtype=tf.int32, name="which_bucket")
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues = [
            make(
                capacity=bucket_capacities[i],
                dtypes=types,
                shapes=shapes,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        varies = allow_smaller_final_batch or isinstance(batch_size, (list, tuple))
        static = None if varies or not isinstance(sizes[0], int) else sizes[0]
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[tf.int32, *types],
            shapes=[
                tf.TensorShape([]),
                *(tf.TensorShape([static]).concatenate(shape) for shape in queues[0].shapes),
            ],
            shared_name=shared_name,
            name="top_queue",
        )
        _fill_buckets(queues, top, tensor_list, which_bucket, keep_input, num_threads)
        _fill_top(queues, top, sizes, allow_smaller_final_batch)
        _summarize(queues, top, capacity)
        which, *dequeued = top.dequeue(name="dequeue_top")
        batch: Any = dequeued[0] if len(dequeued) == 1 else dequeued
        return which, _as_original_type(tensors, restore_sparse(batch, sparse_info))


def _fill_buckets(
    queues: list[Any],
    top: Any,
    tensor_list: list[Any],
    which_bucket: Any,
    keep_input: Any,
    num_threads: int,
) -> None:
    """Adds the runner that puts examples into buckets."""

    def enqueue_which() -> Any:
        enqueues = [
            tf.cond(
                tf.equal(which_bucket, i),
                partial(queue.enqueue, tensor_list),
                tf.no_op,
            )
            for i, queue in enumerate(queues)
        ]
        return tf.group(*enqueues, name="group_enqueues")

    enqueue = smart_cond(keep_input, enqueue_which, tf.no_op)
    add_queue_runner(
        QueueRunner(
            top,
            [enqueue] * num_threads,
            close_op=tf.group(*[queue.close() for queue in queues]),
            cancel_op=tf.group(*[queue.close(cancel_pending_enqueues=True) for queue in queues]),
            queue_closed_exception_types=_ENDS,
        )
    )


def _fill_top(queues: list[Any], top: Any, sizes: list[Any], smaller: bool) -> None:
    """Adds the runner that makes batches of buckets."""
    enqueues = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        dequeue = queue.dequeue_up_to if smaller else queue.dequeue_many
        batch = dequeue(size, name=f"read_bucket_{i}")
        parts = list(batch) if isinstance(batch, (list, tuple)) else [batch]
        enqueues.append(top.enqueue([tf.constant(i), *parts], name=f"enqueue_from_bucket_{i}"))
    add_queue_runner(
        QueueRunner(
            queues[0],
            enqueues,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=_ENDS,
        )
    )


def _summarize(queues: list[Any], top: Any, capacity: int) -> None:
    for queue in queues:
        tf.summary.scalar(f"bucket/{queue.name}/size", tf.cast(top.size(), tf.float32))
    tf.summary.scalar(
        f"bucket/{top.name}/fraction_of_{capacity}_full",
        tf.cast(top.size(), tf.float32) * (1.0 / capacity),
    )


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of sequences of similar length; returns the lengths and the batch.

    Args:
      input_length: the length of the sequence.
      tensors: a list or dictionary of the components of an example.
      batch_size: the size of batches, or a list of a size per bucket.
      bucket_boundaries: increasing lengths; there is one bucket more than there are of these.

    The other arguments are those of `bucket`.
    """
    tensor_list = _as_tensor_list(tensors)
    _check_boundaries(bucket_boundaries)
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length, *tensor_list]):
        input_length = tf.convert_to_tensor(input_length, dtype=tf.int32, name="input_length")
        limits = np.iinfo(np.int32)
        fits = tf.logical_and(
            tf.less_equal([limits.min, *bucket_boundaries], input_length),
            tf.less(input_length, [*bucket_boundaries, limits.max]),
        )
        which_bucket = tf.cast(tf.reduce_min(tf.where(fits)), tf.int32)
        if shapes is not None:
            shapes = [tf.TensorShape([]), *shapes]
        _, dequeued = bucket(
            tensors=[input_length, *tensor_list],
            which_bucket=which_bucket,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=shapes,
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return dequeued[0], _as_original_type(tensors, dequeued[1:])


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for start, end in pairwise(boundaries):
        if not isinstance(start, int) or not isinstance(end, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {start} and {end}")
        if start >= end:
            raise ValueError(
                f"Buckets must contain sequential increasing lengths, but saw: {start} before {end}"
            )
