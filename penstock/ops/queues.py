"""`tf.queue`: queues of tensors between steps."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from penstock import dtypes as dtypes_
from penstock.dtypes import DType
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.gather import gather
from penstock.ops.joining import stack
from penstock.ops.queue_ops import (
    FIFOQueueV2,
    PaddingFIFOQueueV2,
    PriorityQueueV2,
    QueueClose,
    QueueCloseV2,
    QueueDequeue,
    QueueDequeueMany,
    QueueDequeueManyV2,
    QueueDequeueUpTo,
    QueueDequeueUpToV2,
    QueueDequeueV2,
    QueueEnqueue,
    QueueEnqueueMany,
    QueueEnqueueManyV2,
    QueueEnqueueV2,
    QueueIsClosed,
    QueueIsClosedV2,
    QueueSize,
    QueueSizeV2,
    RandomShuffleQueueV2,
)
from penstock.ops.seeds import get_seed
from penstock.shapes import Dimension, TensorShape, as_shape, unknown_shape

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]


def type_list(types: Any) -> list[DType]:
    """One type or several as a list."""
    given = types if isinstance(types, (list, tuple)) else [types]
    return [dtypes_.as_dtype(entry) for entry in given]


def shape_list(shapes: Any, *, partial: bool = False) -> list[TensorShape] | None:
    """One shape or several as a list; `partial` ones may have unknown sizes."""
    if partial and (
        not isinstance(shapes, Sequence)
        or not shapes
        or any(shape is None or isinstance(shape, int) for shape in shapes)
    ):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (tuple, list)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]
    result = [as_shape(shape) for shape in shapes]
    if not partial and not all(shape.is_fully_defined() for shape in result):
        raise ValueError(f"All shapes must be fully defined: {result}")
    if any(shape.dims is None for shape in result):
        raise ValueError(f"All shapes must have a defined rank: {result}")
    return result


def _name_list(names: Any, types: Sequence[DType]) -> list[Any] | None:
    if names is None:
        return None
    given = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(given) != len(types):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return given


def _in_common(a: TensorShape, b: TensorShape) -> TensorShape:
    """The sizes that two shapes agree in."""
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return unknown_shape()
    sizes = zip(a.as_list(), b.as_list(), strict=True)
    return TensorShape([m if m is not None and m == n else None for m, n in sizes])


class QueueBase:
    """What all queues can do; make one of its kinds, such as `tf.queue.FIFOQueue`.

    A queue holds elements, each a tuple of tensors. Other steps may add and remove elements at the
    same time: an operation that has to wait for an element, or for room, waits.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor):
        self._dtypes = dtypes
        if shapes is None:
            self._shapes = [unknown_shape() for _ in dtypes]
        elif len(shapes) != len(dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes")
        else:
            self._shapes = [TensorShape(shape) for shape in shapes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref._op.name.rpartition("/")[2]

    @staticmethod
    def from_list(index: Any, queues: list[QueueBase]) -> QueueBase:
        """The queue with a number (a tensor) out of a list of queues with equal components."""
        if (
            not queues
            or not isinstance(queues, list)
            or not all(isinstance(queue, QueueBase) for queue in queues)
        ):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(queue.dtypes == first.dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(queue.names == first.names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        all_shapes = zip(*[queue.shapes for queue in queues], strict=True)
        shapes = [functools.reduce(_in_common, each) for each in all_shapes]
        refs = stack([queue.queue_ref for queue in queues])
        return QueueBase(first.dtypes, shapes, first.names, gather(refs, index))

    @property
    def queue_ref(self) -> Tensor:
        """The handle of the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's node."""
        return self._queue_ref._op.name

    @property
    def dtypes(self) -> list[DType]:
        """The type of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> list[Any] | None:
        """The name of each component, if they have names."""
        return self._names

    @property
    def _is_resource(self) -> bool:
        return self._queue_ref.dtype is dtypes_.resource

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """Adds one element.

        Args:
          vals: a tensor, a list of them, or a dictionary if the components have names.
          name: a name for the operation.
        """
        with name_scope(name, f"{self._name}_enqueue", _tensors_of(vals)) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                tensor.get_shape().assert_is_compatible_with(shape)
            spec = QueueEnqueueV2 if self._is_resource else QueueEnqueue
            return spec(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """Adds several elements: the first dimension of each component counts them."""
        with name_scope(name, f"{self._name}_EnqueueMany", _tensors_of(vals)) as scope:
            tensors = self._components(vals)
            count = Dimension(None)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                given = tensor.get_shape().with_rank_at_least(1)
                if given.dims is not None:
                    count = count.merge_with(given.dims[0])
                given[1:].assert_is_compatible_with(shape)
            spec = QueueEnqueueManyV2 if self._is_resource else QueueEnqueueMany
            return spec(self._queue_ref, tensors, name=scope)

    def _components(self, vals: Any) -> list[Tensor]:
        """What is enqueued as one tensor per component."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            vals = [vals[key] for key in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        return [
            convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(vals, self._dtypes, strict=False))
        ]

    def dequeue(self, name: str | None = None) -> Any:
        """Removes one element: a tensor, a list of them, or a dictionary if they have names."""
        spec = QueueDequeueV2 if self._is_resource else QueueDequeue
        name = name or f"{self._name}_Dequeue"
        tensors = spec(self._queue_ref, component_types=self._dtypes, name=name)
        return self._with_shapes(tensors, self._shapes)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Removes `n` elements, stacked; an OutOfRangeError if a closed queue has fewer."""
        spec = QueueDequeueManyV2 if self._is_resource else QueueDequeueMany
        name = name or f"{self._name}_DequeueMany"
        tensors = spec(self._queue_ref, n, component_types=self._dtypes, name=name)
        count = None if executing_eagerly() else constant_value(tensors[0].op.inputs[1])
        return self._with_shapes(
            tensors, [TensorShape([count]).concatenate(shape) for shape in self._shapes]
        )

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Removes `n` elements, stacked, or what a closed queue still has."""
        spec = QueueDequeueUpToV2 if self._is_resource else QueueDequeueUpTo
        name = name or f"{self._name}_DequeueUpTo"
        tensors = spec(self._queue_ref, n, component_types=self._dtypes, name=name)
        return self._with_shapes(
            tensors, [TensorShape([None]).concatenate(shape) for shape in self._shapes]
        )

    def _with_shapes(self, tensors: list[Tensor], shapes: list[TensorShape]) -> Any:
        for tensor, shape in zip(tensors, shapes, strict=True):
            tensor.set_shape(shape)
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Ends the input: nothing can be added any more, what is in the queue can be removed.

        Args:
          cancel_pending_enqueues: whether enqueues that wait end with CancelledError; otherwise
            closing waits for them.
          name: a name for the operation.
        """
        spec = QueueCloseV2 if self._is_resource else QueueClose
        return spec(
            self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_Close",
        )

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed."""
        spec = QueueIsClosedV2 if self._is_resource else QueueIsClosed
        return spec(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in the queue."""
        spec = QueueSizeV2 if self._is_resource else QueueSize
        return spec(self._queue_ref, name=name or f"{self._name}_Size")


def _tensors_of(vals: Any) -> list[Any]:
    if isinstance(vals, dict):
        return list(vals.values())
    return list(vals) if isinstance(vals, (list, tuple)) else [vals]


class FIFOQueue(QueueBase):
    """A queue: first in, first out.

    >>> q = tf.queue.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[[2]])
    >>> sess.run(q.enqueue([[1.0, 2.0]]))
    >>> sess.run(q.dequeue())
    array([1., 2.], dtype=float32)

    Args:
      capacity: how many elements it holds at most; enqueues wait for room.
      dtypes: the type of each component.
      shapes: the shape of each component, all of them known; None if elements may differ, which
        `dequeue_many` can't do with.
      names: names of the components: elements are then dictionaries.
      shared_name: the name that sessions share it under.
      name: a name for the node.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ):
        types, sizes = type_list(dtypes), shape_list(shapes)
        names = _name_list(names, types)
        ref = FIFOQueueV2(
            component_types=types,
            shapes=sizes,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(types, sizes, names, ref)


class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in random order.

    Args:
      capacity: how many elements it holds at most.
      min_after_dequeue: how many elements stay behind, so that what comes out is well mixed.
      dtypes, shapes, names, shared_name, name: see `FIFOQueue`.
      seed: a seed for the order.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):
        types, sizes = type_list(dtypes), shape_list(shapes)
        names = _name_list(names, types)
        seed1, seed2 = _shuffle_seeds(seed, shared_name)
        ref = RandomShuffleQueueV2(
            component_types=types,
            shapes=sizes,
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1,
            seed2=seed2,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(types, sizes, names, ref)


def _shuffle_seeds(seed: int | None, shared_name: str | None) -> tuple[int, int]:
    """Seeds that nodes which share a queue agree on, though they are at different places."""
    seed1, seed2 = get_seed(seed)
    if seed1 is None and seed2 is None:
        return 0, 0
    if seed is None and shared_name is not None:
        digest = hashlib.md5(f"{seed1}{shared_name}".encode(), usedforsecurity=False).hexdigest()
        seed2 = int(digest[:8], 16) & 0x7FFFFFFF
    return seed1 or 0, seed2 or 0


class PaddingFIFOQueue(QueueBase):
    """A FIFO queue of elements of different sizes: `dequeue_many` pads them to the largest.

    Args:
      capacity: how many elements it holds at most.
      dtypes: the type of each component.
      shapes: the shape of each component, with None for sizes that vary.
      names, shared_name, name: see `FIFOQueue`.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ):
        types, sizes = type_list(dtypes), shape_list(shapes, partial=True)
        assert sizes is not None
        names = _name_list(names, types)
        if len(types) != len(sizes):
            raise ValueError(
                "Shapes must be provided for all components, but received "
                f"{len(types)} dtypes and {len(sizes)} shapes."
            )
        ref = PaddingFIFOQueueV2(
            component_types=types,
            shapes=sizes,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(types, sizes, names, ref)


class PriorityQueue(QueueBase):
    """A queue that gives the element with the smallest priority first.

    The first component of an element, besides those of `types`, is its priority: an int64 scalar.

    Args:
      capacity: how many elements it holds at most.
      types: the type of each further component.
      shapes, names, shared_name, name: see `FIFOQueue`.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ):
        others, sizes = type_list(types), shape_list(shapes)
        ref = PriorityQueueV2(
            component_types=others,
            shapes=sizes or [],
            capacity=capacity,
            shared_name=shared_name,
            name=name,
        )
        all_sizes = [TensorShape([]), *sizes] if sizes else sizes
        super().__init__([dtypes_.int64, *others], all_sizes, names, ref)
