"""What `tensorflow.python.ops.resource_variable_ops` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.internal_paths import generated_ops
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ops.lifted_variables import UninitializedVariable  # noqa: F401
from penstock.ops.resource_variable import ResourceVariable as BaseResourceVariable  # noqa: F401
from penstock.ops.variables import Variable
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


def _to_proto_fn(v: Any, export_scope: str | None = None) -> Any:
    """The VariableDef of a variable of either kind, as collections of a MetaGraph hold it."""
    return v.to_proto(export_scope=export_scope)


def _from_proto_fn(v: Any, import_scope: str | None = None) -> Any:
    """The variable that a VariableDef of a collection tells of."""
    return Variable.from_proto(v, import_scope=import_scope)


def variable_accessed(variable: Any) -> None:
    """Nothing to note: a gradient finds the variables of the operations that it goes through."""
