"""Queues that give the entries of a tensor again and again: `tf.train.string_input_producer` …"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.comparison import greater
from penstock.ops.constants import constant
from penstock.ops.debugging import Assert
from penstock.ops.files import matching_files
from penstock.ops.filling import range as number_range
from penstock.ops.gather import gather
from penstock.ops.identity import identity
from penstock.ops.queues import FIFOQueue
from penstock.ops.random import random_shuffle
from penstock.ops.shaping import shape, size
from penstock.ops.summaries import scalar
from penstock.ops.variables import Variable
from penstock.train.queue_runner import NO_QUEUES, QueueRunner, add_queue_runner

__all__ = [
    "input_producer",
    "limit_epochs",
    "match_filenames_once",
    "range_input_producer",
    "slice_input_producer",
    "string_input_producer",
]


def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """The names of the files that match, found once: by the local variables' initializer."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            name=scope,
            initial_value=matching_files(pattern),
            trainable=False,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, `num_epochs` times; then an OutOfRangeError. It counts in a local variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(
            constant(0, dtype=dtypes.int64),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        counter = epochs.count_up_to(num_epochs)
        with get_default_graph().control_dependencies([counter]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """A queue of the rows of a tensor, filled by a queue runner.

    Args:
      input_tensor: the tensor; its first dimension counts the rows.
      element_shape: the shape of a row, where the tensor's is not known.
      num_epochs: how often each row is given; None for no end.
      shuffle: whether the rows are shuffled within each epoch.
      seed: a seed for that.
      capacity: the size of the queue.
      shared_name: the name that sessions share the queue under.
      summary_name: the name of a summary of how full the queue is; None for no summary.
      name: a name for the queue.
      cancel_op: what is run when the coordinator stops.
    """
    if executing_eagerly():
        raise RuntimeError(NO_QUEUES)
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = rows.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[rows.dtype.base_dtype],
            shapes=[element_shape],
            shared_name=shared_name,
            name=name,  # type: ignore[arg-type]
        )
        enqueue = queue.enqueue_many([rows])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """A queue of strings, mostly file names for a reader; see `input_producer`."""
    not_null = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(not_null)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        check = Assert(greater(size(strings), 0), [not_null])
        with get_default_graph().control_dependencies([check]):
            strings = identity(strings)
        return input_producer(
            input_tensor=strings,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=scope,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the numbers from 0 to `limit` - 1; see `input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            number_range(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """A row of each of several tensors, the same one; see `input_producer`."""
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            shape(tensors[0])[0],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
        )
        index = queue.dequeue()
        return [gather(tensor, index) for tensor in tensors]
