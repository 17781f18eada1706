"""Refuses to restore a variable behind a handle from a tensor of another shape.

An Assign compares shapes; the operation that assigns to a handle takes any. A network whose layer
has another size would be restored without a word, and fail steps later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock import errors
from penstock.checkpoint.reader import open_checkpoint
from penstock.ir.constants import constant_value
from penstock.ir.operation import Operation
from penstock.shapes import TensorShape
from penstock.shapes import text as shape_text


def refuse_other_shapes(graph: Any, restore_op_name: str, prefix: str) -> None:
    """InvalidArgumentError if a variable's shape is not that of its tensor in the checkpoint."""
    wanted = list(_restored_whole(graph.get_operation_by_name(restore_op_name)))
    if not wanted:
        return
    reader = open_checkpoint(prefix)
    for variable, name, shape in wanted:
        if name in reader and not shape.is_compatible_with(reader.shape(name)):
            raise errors.InvalidArgumentError(
                None,
                None,
                "Assign requires shapes of both tensors to match. lhs shape= "
                f"{shape_text(tuple(shape.as_list()))} rhs shape= "
                f"{shape_text(reader.shape(name))} (the lhs is variable {variable}, the rhs "
                f"tensor {name!r} of {prefix})",
            )


def _restored_whole(restore: Operation) -> Iterator[tuple[str, str, Any]]:
    """The variables behind handles that are restored whole: name, name of the tensor, shape."""
    for assign in _assignments(restore):
        handle, value = assign.inputs[0].op, assign.inputs[1]
        while value.op.type == "Identity":
            value = value.op.inputs[0]
        if handle.type != "VarHandleOp" or value.op.type != "RestoreV2":
            continue
        names, specs = (constant_value(value.op.inputs[number]) for number in (1, 2))
        shape = handle.get_attr("shape")
        if names is None or specs is None or specs[value.value_index]:
            continue
        yield handle.name, names[value.value_index].decode(), TensorShape(shape)


def _assignments(restore: Operation) -> Iterator[Operation]:
    """The operations AssignVariableOp that an operation of a saver waits for."""
    waiting, seen = [restore], {restore}
    while waiting:
        op = waiting.pop()
        if op.type == "AssignVariableOp":
            yield op
            continue
        for before in op.control_inputs:
            if before not in seen:
                seen.add(before)
                waiting.append(before)
