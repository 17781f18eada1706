"""Numbers as quantization will change them, with gradients, for training before it."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import OpSpec, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import merge_sizes, with_rank, with_rank_at_least
from penstock.shapes import Shape

__all__ = [
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
]

_BITS: dict[str, Any] = {"num_bits": 8, "narrow_range": False}
_GRADIENTS = "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32"

FakeQuantWithMinMaxArgs = op(
    "FakeQuantWithMinMaxArgs(inputs: float32) -> outputs: float32", min=-6.0, max=6.0, **_BITS
)
FakeQuantWithMinMaxArgsGradient = op(
    "FakeQuantWithMinMaxArgsGradient(gradients: float32, inputs: float32) -> backprops: float32",
    min=-6.0,
    max=6.0,
    **_BITS,
)
FakeQuantWithMinMaxVars = op(
    "FakeQuantWithMinMaxVars(inputs: float32, min: float32, max: float32) -> outputs: float32",
    **_BITS,
)
FakeQuantWithMinMaxVarsGradient = op(
    "FakeQuantWithMinMaxVarsGradient(gradients: float32, inputs: float32, min: float32, "
    f"max: float32) -> {_GRADIENTS}",
    **_BITS,
)
FakeQuantWithMinMaxVarsPerChannel = op(
    "FakeQuantWithMinMaxVarsPerChannel(inputs: float32, min: float32, max: float32) "
    "-> outputs: float32",
    **_BITS,
)
FakeQuantWithMinMaxVarsPerChannelGradient = op(
    "FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float32, inputs: float32, min: float32, "
    f"max: float32) -> {_GRADIENTS}",
    **_BITS,
)


@FakeQuantWithMinMaxArgs.shape
def _(op: Any, inputs: Shape) -> Shape:
    return inputs


@FakeQuantWithMinMaxArgsGradient.shape
def _(op: Any, gradients: Shape, inputs: Shape) -> Shape:
    return gradients


@FakeQuantWithMinMaxVars.shape
def _(op: Any, inputs: Shape, min: Shape, max: Shape) -> Shape:
    with_rank(min, 0)
    with_rank(max, 0)
    return inputs


@FakeQuantWithMinMaxVarsGradient.shape
def _(op: Any, gradients: Shape, inputs: Shape, min: Shape, max: Shape) -> Any:
    with_rank(min, 0)
    with_rank(max, 0)
    return [gradients, (), ()]


def _channels(values: Shape, min: Shape, max: Shape) -> tuple[Shape, int | None]:
    """The shape of inputs whose last dimension is that of both bounds, and its size."""
    values = with_rank_at_least(values, 1)
    size = merge_sizes(with_rank(min, 1)[0], with_rank(max, 1)[0])
    if values is None:
        return None, size
    size = merge_sizes(values[-1], size)
    return (*values[:-1], size), size


@FakeQuantWithMinMaxVarsPerChannel.shape
def _(op: Any, inputs: Shape, min: Shape, max: Shape) -> Shape:
    return _channels(inputs, min, max)[0]


@FakeQuantWithMinMaxVarsPerChannelGradient.shape
def _(op: Any, gradients: Shape, inputs: Shape, min: Shape, max: Shape) -> Any:
    shape, size = _channels(gradients, min, max)
    return [shape, (size,), (size,)]


@FakeQuantWithMinMaxArgs.gradient
def _(op: Any, grad: Any) -> Any:
    return FakeQuantWithMinMaxArgsGradient(grad, op.inputs[0], **_attrs(op, "min", "max"))


@FakeQuantWithMinMaxVars.gradient
def _(op: Any, grad: Any) -> Any:
    return tuple(FakeQuantWithMinMaxVarsGradient(grad, *op.inputs, **_attrs(op)))


@FakeQuantWithMinMaxVarsPerChannel.gradient
def _(op: Any, grad: Any) -> Any:
    return tuple(FakeQuantWithMinMaxVarsPerChannelGradient(grad, *op.inputs, **_attrs(op)))


def _attrs(op: Any, *names: str) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in (*names, "num_bits", "narrow_range")}


def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The nearest of `2 ** num_bits` numbers between two bounds, moved so that 0 is one of them.

    Args:
      narrow_range: Whether the lowest number is left out, so that as many are on both sides.
    """
    return FakeQuantWithMinMaxArgs(
        inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The gradient of `fake_quant_with_min_max_args`: that of the outputs, within the bounds."""
    return FakeQuantWithMinMaxArgsGradient(
        gradients,
        inputs,
        min=min,
        max=max,
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with bounds that are tensors, and can be trained."""
    return _of_bounds(FakeQuantWithMinMaxVars, inputs, min, max, num_bits, narrow_range, name)


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with bounds `[d]`, one for each entry of the last dimension."""
    return _of_bounds(
        FakeQuantWithMinMaxVarsPerChannel, inputs, min, max, num_bits, narrow_range, name
    )


def _of_bounds(
    op: OpSpec, inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool, name: Any
) -> Tensor:
    return op(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars` to its inputs and both bounds."""
    return FakeQuantWithMinMaxVarsGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars_per_channel` to its inputs and bounds."""
    return FakeQuantWithMinMaxVarsPerChannelGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )
