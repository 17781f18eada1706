"""Gradients of tensor arrays: each array has gradient arrays, in which its gradients add up.

The gradient of a flow is a flow: of the gradient array, after what the consumers of the forward
array have written into it.
"""

from __future__ import annotations

from typing import Any

from penstock.dtypes import DType
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import tensor_arrays as specs
from penstock.ops.tensor_array import TensorArray


def _GetGradSource(tensor: Tensor) -> str:
    """Which call of `tf.gradients` a gradient belongs to: each has gradient arrays of its own."""
    parts = tensor.name.split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise ValueError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{tensor.name}. Gradients of a TensorArray need a scope of that name: calls of "
            "tf.gradients with a `name` must use one that starts with 'gradients'."
        )
    return "/".join(parts[: found[-1] + 1])


def _gradient_array(handle: Tensor, dtype: DType, flow: Tensor, source: str) -> TensorArray:
    forward = TensorArray(dtype, handle=handle, flow=flow, colocate_with_first_write_call=False)
    return forward.grad(source=source, flow=flow)


def _gradient_array_of_write(op: Operation, flow: Tensor) -> TensorArray:
    """The gradient array of what an op wrote to."""
    return _gradient_array(op.inputs[0], op.attrs["T"], flow, _GetGradSource(flow))


@specs.TensorArrayReadV3.gradient
def _(op: Operation, grad: Tensor) -> Any:
    handle, index, flow = op.inputs
    array = _gradient_array(handle, op.attrs["dtype"], flow, _GetGradSource(grad))
    return [None, None, array.write(index, grad).flow]


@specs.TensorArrayWriteV3.gradient
def _(op: Operation, flow: Tensor) -> Any:
    array = _gradient_array_of_write(op, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@specs.TensorArrayGatherV3.gradient
def _(op: Operation, grad: Tensor) -> Any:
    handle, indices, flow = op.inputs
    array = _gradient_array(handle, op.attrs["dtype"], flow, _GetGradSource(grad))
    return [None, None, array.scatter(indices, grad).flow]


@specs.TensorArrayScatterV3.gradient
def _(op: Operation, flow: Tensor) -> Any:
    array = _gradient_array_of_write(op, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@specs.TensorArrayConcatV3.gradient
def _(op: Operation, grad: Tensor, _: Any) -> Any:
    handle, flow = op.inputs
    array = _gradient_array(handle, op.attrs["dtype"], flow, _GetGradSource(grad))
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@specs.TensorArraySplitV3.gradient
def _(op: Operation, flow: Tensor) -> Any:
    array = _gradient_array_of_write(op, flow)
    return [None, array.concat(), None, flow]
