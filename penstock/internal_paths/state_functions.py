"""What `tensorflow.python.ops.state_ops` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.ir.tensor import Tensor
from penstock.ops.state import Variable as _variable_node
from penstock.ops.state import VariableV2 as _variable_v2_node

__all__ = ["variable_op", "variable_op_v2"]


def variable_op(
    shape: Any,
    dtype: Any,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """A node of the first kind of variable; without `set_shape` its shape stays unknown."""
    known = shapes.TensorShape(shape if set_shape else None)
    # In this op no shape and that of a scalar are written alike.
    written = known.as_list() if known.is_fully_defined() else []
    made: Tensor = _variable_node(
        shape=written, dtype=dtype, name=name, container=container, shared_name=shared_name
    )
    if set_shape:
        made.set_shape(known)
    return made


def variable_op_v2(
    shape: Any, dtype: Any, name: str = "Variable", container: str = "", shared_name: str = ""
) -> Tensor:
    """A node of a variable, by reference."""
    made: Tensor = _variable_v2_node(
        shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name
    )
    return made
