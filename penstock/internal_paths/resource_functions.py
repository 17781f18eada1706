"""What `tensorflow.python.ops.resource_variable_ops` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.internal_paths import generated_ops
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ops.resource_variable import ResourceVariable as BaseResourceVariable  # noqa: F401
from penstock.shapes import TensorShape


def shape_safe_assign_variable_handle(
    handle: Any, shape: Any, value: Any, name: str | None = None
) -> Operation:
    """Assigns a value to a variable, which must have its shape."""
    with handle.graph.as_default():
        tensor = convert_to_tensor(value)
    TensorShape(shape).assert_is_compatible_with(tensor.shape)
    made: Operation = generated_ops.assign_variable_op(handle, tensor, name=name)
    return made


def variable_accessed(variable: Any) -> None:
    """Nothing to note: a gradient finds the variables of the operations that it goes through."""
