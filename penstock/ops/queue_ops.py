"""Op types of queues. `tf.queue` (`penstock.ops.queues`) has the classes."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import (
    READS,
    STATEFUL,
    WAITS,
    WRITES,
    OpSpec,
    attr,
    not_differentiable,
    op,
)
from penstock.shapes import Shape

_NAMED: dict[str, Any] = {"container": "", "shared_name": ""}
_QUEUE: dict[str, Any] = {
    "component_types": attr("list(type)", minimum=1),
    "shapes": attr("list(shape)", [], minimum=0),
    "capacity": -1,
}
_SHUFFLING: dict[str, Any] = {**_QUEUE, "min_after_dequeue": 0, "seed": 0, "seed2": 0, **_NAMED}
_BY_PRIORITY: dict[str, Any] = {
    "component_types": attr("list(type)", [], minimum=0),
    "shapes": attr("list(shape)", minimum=0),
    "capacity": -1,
    **_NAMED,
}

FIFOQueue = op("FIFOQueue() -> handle: &string", STATEFUL, **_QUEUE, **_NAMED)
FIFOQueueV2 = op("FIFOQueueV2() -> handle: resource", STATEFUL, **_QUEUE, **_NAMED)
RandomShuffleQueue = op("RandomShuffleQueue() -> handle: &string", STATEFUL, **_SHUFFLING)
RandomShuffleQueueV2 = op("RandomShuffleQueueV2() -> handle: resource", STATEFUL, **_SHUFFLING)
PaddingFIFOQueue = op("PaddingFIFOQueue() -> handle: &string", STATEFUL, **_QUEUE, **_NAMED)
PaddingFIFOQueueV2 = op("PaddingFIFOQueueV2() -> handle: resource", STATEFUL, **_QUEUE, **_NAMED)
PriorityQueue = op("PriorityQueue() -> handle: &string", STATEFUL, **_BY_PRIORITY)
PriorityQueueV2 = op("PriorityQueueV2() -> handle: resource", STATEFUL, **_BY_PRIORITY)
FakeQueue = op("FakeQueue(resource: resource) -> handle: &string", STATEFUL)

QueueEnqueue = op(
    "QueueEnqueue(handle: &string, components: *Tcomponents)", WRITES, WAITS, timeout_ms=-1
)
QueueEnqueueV2 = op(
    "QueueEnqueueV2(handle: resource, components: *Tcomponents)",
    STATEFUL,
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueEnqueueMany = op(
    "QueueEnqueueMany(handle: &string, components: *Tcomponents)", WRITES, WAITS, timeout_ms=-1
)
QueueEnqueueManyV2 = op(
    "QueueEnqueueManyV2(handle: resource, components: *Tcomponents)",
    STATEFUL,
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueDequeue = op(
    "QueueDequeue(handle: &string) -> components: *component_types", WRITES, WAITS, timeout_ms=-1
)
QueueDequeueV2 = op(
    "QueueDequeueV2(handle: resource) -> components: *component_types",
    STATEFUL,
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueDequeueMany = op(
    "QueueDequeueMany(handle: &string, n: int32) -> components: *component_types",
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueDequeueManyV2 = op(
    "QueueDequeueManyV2(handle: resource, n: int32) -> components: *component_types",
    STATEFUL,
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueDequeueUpTo = op(
    "QueueDequeueUpTo(handle: &string, n: int32) -> components: *component_types",
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueDequeueUpToV2 = op(
    "QueueDequeueUpToV2(handle: resource, n: int32) -> components: *component_types",
    STATEFUL,
    WRITES,
    WAITS,
    timeout_ms=-1,
)
QueueClose = op("QueueClose(handle: &string)", WRITES, WAITS, cancel_pending_enqueues=False)
QueueCloseV2 = op(
    "QueueCloseV2(handle: resource)", STATEFUL, WRITES, WAITS, cancel_pending_enqueues=False
)
QueueIsClosed = op("QueueIsClosed(handle: &string) -> is_closed: bool", READS)
QueueIsClosedV2 = op("QueueIsClosedV2(handle: resource) -> is_closed: bool", STATEFUL, READS)
QueueSize = op("QueueSize(handle: &string) -> size: int32", READS)
QueueSizeV2 = op("QueueSizeV2(handle: resource) -> size: int32", STATEFUL, READS)

_MAKING = (
    FIFOQueue,
    FIFOQueueV2,
    RandomShuffleQueue,
    RandomShuffleQueueV2,
    PaddingFIFOQueue,
    PaddingFIFOQueueV2,
    PriorityQueue,
    PriorityQueueV2,
    FakeQueue,
)
_ASKING = (QueueIsClosed, QueueIsClosedV2, QueueSize, QueueSizeV2)
_TAKING_ONE = (QueueDequeue, QueueDequeueV2)
_TAKING_SEVERAL = (QueueDequeueMany, QueueDequeueManyV2, QueueDequeueUpTo, QueueDequeueUpToV2)
not_differentiable(
    *_MAKING,
    *_ASKING,
    *_TAKING_ONE,
    *_TAKING_SEVERAL,
    QueueEnqueue,
    QueueEnqueueV2,
    QueueEnqueueMany,
    QueueEnqueueManyV2,
    QueueClose,
    QueueCloseV2,
)


def _makes_handle(spec: OpSpec) -> None:
    """A handle is a scalar; the old kind is a pair of strings."""
    shape: Shape = (2,) if spec.outputs[0].is_ref else ()
    spec.shape(lambda op, *inputs: shape)


for _spec in _MAKING:
    _makes_handle(_spec)
for _spec in _ASKING:
    _spec.shape(lambda op, handle: ())
for _spec in (*_TAKING_ONE, *_TAKING_SEVERAL):
    # The queue knows its shapes; the functions of `tf.queue` set them.
    _spec.shape(lambda op, *inputs: [None] * len(op.attrs["component_types"]))
