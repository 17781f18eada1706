"""What can be reached from tensors along the edges of their graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any


def static_shape(x: Any) -> tuple[int | None, ...] | None:
    """The static shape of a tensor as a tuple, None for one of unknown rank."""
    if x is None or x.get_shape().rank is None:
        return None
    return tuple(x.get_shape().as_list())


def get_reachable_from_inputs(inputs: Sequence[Any], targets: Any = None) -> set[Any]:
    """The tensors that are computed from some, these included; with targets, until all are found.

    Inputs may be variables, too: what is computed from the results of their operations is reached.
    """
    reached = set(inputs)
    wanted = set(targets or ())
    waiting = deque(inputs)
    while waiting:
        start = waiting.pop()
        consumers = start.consumers() if hasattr(start, "consumers") else [start.op]
        for output in (output for op in consumers for output in op.outputs):
            if output not in reached:
                reached.add(output)
                waiting.appendleft(output)
        if wanted and wanted <= reached:
            break
    return reached
