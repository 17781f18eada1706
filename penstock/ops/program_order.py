"""Effects in the order of the Python program: what `tf.function` promises of its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import READS
from penstock.ir.tensor import Tensor


def in_program_order(graph: Any, results: Sequence[Tensor]) -> list[Tensor]:
    """Lets a body's nodes use each resource in the order in which they were made.

    What it gives comes after all of its effects.
    """
    from penstock.ops.identity import identity

    must_run = _order_effects(graph)
    graph.control_outputs = must_run
    found = []
    for result in results:
        passed = identity(result)
        passed._op._add_control_inputs(op for op in must_run if op is not passed._op)
        found.append(passed)
    return found


def _order_effects(graph: Any) -> list[Operation]:
    """Adds control edges between the users of each resource; the nodes that have effects."""
    writer: dict[Tensor, Operation] = {}
    readers: dict[Tensor, list[Operation]] = {}
    must_run = []
    for op in graph.get_operations():
        if not op.spec.is_stateful:
            continue
        must_run.append(op)
        waits_for: dict[Operation, None] = {}
        for handle in op._inputs:
            if handle._dtype is not dtypes.resource:
                continue
            source = _source(handle)
            if source in writer:
                waits_for[writer[source]] = None
            if READS in op.spec.traits:
                readers.setdefault(source, []).append(op)
            else:
                waits_for.update(dict.fromkeys(readers.pop(source, [])))
                writer[source] = op
        op._add_control_inputs(each for each in waits_for if not _depends(op, each))
    return must_run


def _source(handle: Tensor) -> Tensor:
    while handle._op.type == "Identity":
        handle = handle._op._inputs[0]
    return handle


def _depends(op: Operation, other: Operation) -> bool:
    """Whether a node uses a result of another one itself."""
    return any(tensor._op is other for tensor in op._inputs)
