"""Zero gradients: for outputs that the ys don't depend on, where an op's gradient wants all."""

from __future__ import annotations

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor


def zeros_for(tensor: Tensor) -> Tensor:
    """Zeros in the shape of `tensor`; of the variable where it is a variable's handle."""
    from penstock.ops.array import identity, zeros, zeros_like
    from penstock.ops.control_contexts import CondContext
    from penstock.ops.control_flow import Switch
    from penstock.ops.shaping import shape_of

    op = tensor._op
    context = op._control_flow_context
    if op.type != "Switch" or not isinstance(context, CondContext):
        if tensor.dtype is dtypes.resource:
            return zeros(_variable_shape(tensor), _variable_type(tensor))
        # A body that differentiates another one would have to keep the tensor for its shape alone.
        return zeros_like(tensor, optimize=op.graph is not get_default_graph())
    # The zeros are wanted on the branch that is not taken, where the tensor itself is dead.
    taken = Switch(op.inputs[0], context.pred)[1 - context.branch]
    pivot = identity(taken)
    if tensor.dtype is dtypes.resource:
        with get_default_graph().control_dependencies([pivot]):
            return zeros(_variable_shape(taken), _variable_type(taken))
    sizes = shape_of(taken, optimize=False)
    with get_default_graph().control_dependencies([pivot]):
        return zeros(sizes, tensor.dtype)


def zeros_like_x(x: Tensor) -> Tensor:
    """The gradient for an x that the ys don't depend on: a constant where its shape is known."""
    from penstock.ops.array import zeros_like

    return zeros_for(x) if x.dtype is dtypes.resource else zeros_like(x)


def _variable_type(handle: Tensor) -> DType:
    """The type of the variable behind a handle, which other nodes may have passed on."""
    from penstock.ops.resource_variables import variable_of

    variable = variable_of(handle)
    if variable is None:
        raise ValueError(f"{handle.name} is not the handle of a variable")
    return variable.attrs["dtype"]


def _variable_shape(handle: Tensor) -> Tensor:
    from penstock.ops.resource_variables import VariableShape

    return VariableShape(handle)
