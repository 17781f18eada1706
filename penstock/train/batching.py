"""Batches out of single examples, collected in a queue: `tf.train.batch`, `shuffle_batch` …"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.composite import IndexedSlices, SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.layers.smart_cond import smart_cond
from penstock.ops.binary import maximum
from penstock.ops.casts import cast
from penstock.ops.control import no_op
from penstock.ops.partitioning import dynamic_partition
from penstock.ops.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from penstock.ops.summaries import scalar
from penstock.shapes import as_shape
from penstock.train.queue_runner import NO_QUEUES, QueueRunner, add_queue_runner
from penstock.train.stored_sparse import restore_sparse, store_sparse, store_sparse_join

__all__ = [
    "batch",
    "batch_join",
    "maybe_batch",
    "maybe_batch_join",
    "maybe_shuffle_batch",
    "maybe_shuffle_batch_join",
    "shuffle_batch",
    "shuffle_batch_join",
]

# What callers may give: a list of tensors, or a dictionary ------------------------------------


def _as_tensor_list(tensors: Any) -> Any:
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return tensors


def _as_tensor_list_list(tensors_list: Any) -> Any:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if not isinstance(tensors_list[0], dict):
        return tensors_list
    if any(set(tensors) != set(tensors_list[0]) for tensors in tensors_list):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_tensor_list(tensors) for tensors in tensors_list]


def _as_original_type(original_tensors: Any, tensor_list: Any) -> Any:
    """The batch in the form of the examples."""
    if not isinstance(original_tensors, dict):
        return tensor_list
    values = [tensor_list] if len(original_tensors) == 1 else tensor_list
    return dict(zip(sorted(original_tensors, key=str), values, strict=True))


def _converted(values: Any) -> list[Any]:
    return [
        value
        if isinstance(value, (SparseTensor, IndexedSlices)) or value is None
        else convert_to_tensor(value)
        for value in values
    ]


def _checked_keep_input(keep_input: Any, enqueue_many: bool) -> Tensor:
    keep = convert_to_tensor(keep_input)
    rank = keep.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


# Types and shapes of the queue ----------------------------------------------------------------


def _common_types(tensor_lists: Sequence[Sequence[Tensor]]) -> list[DType]:
    first, *others = [[tensor.dtype for tensor in tensors] for tensors in tensor_lists]
    for types in others:
        if types != first:
            raise TypeError(
                f"Expected types to be consistent: {', '.join(t.name for t in first)} vs. "
                f"{', '.join(t.name for t in types)}."
            )
    return first


def _common_shapes(
    tensor_lists: Sequence[Sequence[Tensor]], shapes: Any, enqueue_many: bool
) -> Any:
    if shapes is not None:
        return shapes
    for tensors in tensor_lists:
        for tensor in tensors[: len(tensor_lists[0])]:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    return [
        _merged([tensors[i].shape for tensors in tensor_lists], enqueue_many)
        for i in range(len(tensor_lists[0]))
    ]


def _merged(shapes: Sequence[Any], enqueue_many: bool) -> list[int | None]:
    given = [as_shape(shape) for shape in shapes]
    if enqueue_many:
        given = [shape.with_rank_at_least(1)[1:] for shape in given]
    for other in given[1:]:
        given[0].merge_with(other)  # refuses what can't be equal
    return given[0].as_list()


# Building -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Batching:
    """What the functions of this module have in common."""

    default_name: str
    batch_size: Any
    capacity: int
    keep_input: Any
    enqueue_many: bool
    shapes: Any
    allow_smaller_final_batch: bool
    shared_name: str | None
    name: str | None
    make_queue: Callable[..., QueueBase]
    reserved: int | None = None  # the elements that stay behind in a shuffling queue

    def single(self, tensors: Any, threads: int) -> Any:
        """Batches of one set of tensors, enqueued by several threads."""
        if executing_eagerly():
            raise ValueError(NO_QUEUES)
        tensor_list = _as_tensor_list(tensors)
        with name_scope(self.name, self.default_name, [*tensor_list, self.keep_input]) as scope:
            self._check_capacity()
            values = _converted(tensor_list)
            if not values:
                raise ValueError("Expected at least one tensor in batch().")
            keep = _checked_keep_input(self.keep_input, self.enqueue_many)
            values, infos = store_sparse(values, self.enqueue_many, keep)
            queue = self._queue([values])
            self._run(queue, [self._enqueue(queue, values, keep)] * threads)
            return _as_original_type(tensors, self._dequeue(queue, infos, scope))

    def joined(self, tensors_list: Any) -> Any:
        """Batches of several sets of tensors, each enqueued by a thread of its own."""
        if executing_eagerly():
            raise ValueError(NO_QUEUES)
        lists = _as_tensor_list_list(tensors_list)
        flat = [tensor for tensors in lists for tensor in tensors]
        with name_scope(self.name, self.default_name, [*flat, self.keep_input]) as scope:
            self._check_capacity()
            all_values = [_converted(tensors) for tensors in lists]
            keep = _checked_keep_input(self.keep_input, self.enqueue_many)
            all_values, infos = store_sparse_join(all_values, self.enqueue_many, keep)
            queue = self._queue(all_values)
            self._run(queue, [self._enqueue(queue, values, keep) for values in all_values])
            return _as_original_type(tensors_list[0], self._dequeue(queue, infos, scope))

    def _check_capacity(self) -> None:
        if self.reserved is not None and self.capacity <= self.reserved:
            raise ValueError(
                f"capacity {self.capacity} must be bigger than min_after_dequeue {self.reserved}."
            )

    def _queue(self, tensor_lists: list[list[Tensor]]) -> QueueBase:
        return self.make_queue(
            capacity=self.capacity,
            dtypes=_common_types(tensor_lists),
            shapes=_common_shapes(tensor_lists, self.shapes, self.enqueue_many),
            shared_name=self.shared_name,
        )

    def _enqueue(self, queue: QueueBase, values: list[Tensor], keep: Tensor) -> Operation:
        enqueue = queue.enqueue_many if self.enqueue_many else queue.enqueue
        if keep.shape.ndims == 1:
            chosen = cast(keep, dtypes.int32)
            return enqueue(
                [dynamic_partition(value, chosen, num_partitions=2)[1] for value in values]
            )
        return smart_cond(keep, lambda: enqueue(values), no_op)

    def _run(self, queue: QueueBase, enqueues: list[Operation]) -> None:
        add_queue_runner(QueueRunner(queue, enqueues))
        if self.reserved is None:
            name, used, room = f"fraction_of_{self.capacity}_full", queue.size(), self.capacity
        else:
            room = self.capacity - self.reserved
            name = f"fraction_over_{self.reserved}_of_{room}_full"
            used = maximum(0, queue.size() - self.reserved)
        scalar(name, cast(used, dtypes.float32) * (1.0 / room))

    def _dequeue(self, queue: QueueBase, infos: Any, name: str) -> Any:
        take = queue.dequeue_up_to if self.allow_smaller_final_batch else queue.dequeue_many
        return restore_sparse(take(self.batch_size, name=name), infos)


def _in_order(dynamic_pad: bool) -> Callable[..., QueueBase]:
    return PaddingFIFOQueue if dynamic_pad else FIFOQueue


def _shuffling(min_after_dequeue: int, seed: int | None) -> Callable[..., QueueBase]:
    return lambda **settings: RandomShuffleQueue(
        min_after_dequeue=min_after_dequeue, seed=seed, **settings
    )


# The public functions -------------------------------------------------------------------------


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.batch` of the examples for which `keep_input` holds."""
    return _Batching(
        "batch",
        batch_size,
        capacity,
        keep_input,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        _in_order(dynamic_pad),
    ).single(tensors, num_threads)


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples, collected by queue runners.

    Args:
      tensors: a list or dictionary of tensors: an example.
      batch_size: how many examples make a batch.
      num_threads: how many threads enqueue examples.
      capacity: the size of the queue.
      enqueue_many: whether the first dimension of the tensors counts examples already.
      shapes: the shapes of an example, where the tensors' are not known.
      dynamic_pad: whether examples of different sizes are padded to the largest in a batch.
      allow_smaller_final_batch: whether the last examples make a smaller batch.
      shared_name: the name that sessions share the queue under.
      name: a name for the operations.
    """
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.batch_join` of the examples for which `keep_input` holds."""
    return _Batching(
        "batch_join",
        batch_size,
        capacity,
        keep_input,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        _in_order(dynamic_pad),
    ).joined(tensors_list)


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples from several sources, with a thread for each; see `tf.train.batch`."""
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.shuffle_batch` of the examples for which `keep_input` holds."""
    return _Batching(
        "shuffle_batch",
        batch_size,
        capacity,
        keep_input,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        _shuffling(min_after_dequeue, seed),
        min_after_dequeue,
    ).single(tensors, num_threads)


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples in random order; see `tf.train.batch`.

    Args:
      min_after_dequeue: how many examples stay in the queue, so that batches are well mixed.
      seed: a seed for the order.
    """
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.shuffle_batch_join` of the examples for which `keep_input` holds."""
    return _Batching(
        "shuffle_batch_join",
        batch_size,
        capacity,
        keep_input,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
        _shuffling(min_after_dequeue, seed),
        min_after_dequeue,
    ).joined(tensors_list)


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Shuffled batches from several sources, with a thread for each; see `shuffle_batch`."""
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )
