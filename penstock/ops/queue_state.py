"""What a queue holds, as a value that checkpoints can hold.

TensorFlow has no such ops: there, a queue can be saved only by emptying it.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import READS, STATEFUL, WRITES, not_differentiable, op
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

QueueState = op("_QueueState(handle: resource) -> state: string", STATEFUL, READS)
SetQueueState = op("_SetQueueState(handle: resource, state: string)", STATEFUL, WRITES)

not_differentiable(QueueState, SetQueueState)

QueueState.shape(lambda op, handle: ())


@SetQueueState.shape
def _(op: Any, handle: Shape, state: Shape) -> list[Shape]:
    with_rank(state, 0)
    return []
