"""Kernels of conversions between types, and of the parts of complex numbers."""

import torch

from penstock import errors
from penstock.kernels.registry import direct, kernel
from penstock.kernels.values import is_host_type, torch_type

direct({"Complex": torch.complex, "ComplexAbs": torch.abs, "Angle": torch.angle})
direct({"Conj": torch.conj_physical})
direct({"Real": torch.real, "Imag": torch.imag}, fresh=False)

# Bits after the point of the numbers of a floating type, and the integers of the same width.
_MANTISSA = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}
_BITS = {torch.float64: torch.int64, torch.float32: torch.int32, torch.float16: torch.int16}
# They convert a small tensor twice as fast as `to` does, which has many forms to choose from.
_CONVERT = {
    torch.float16: torch.Tensor.half,
    torch.bfloat16: torch.Tensor.bfloat16,
    torch.float32: torch.Tensor.float,
    torch.float64: torch.Tensor.double,
    torch.int8: torch.Tensor.char,
    torch.int16: torch.Tensor.short,
    torch.int32: torch.Tensor.int,
    torch.int64: torch.Tensor.long,
    torch.uint8: torch.Tensor.byte,
    torch.bool: torch.Tensor.bool,
}


@kernel("Cast", fresh=True)
def _(node):
    types = node.attrs["SrcT"], node.attrs["DstT"]
    if any(is_host_type(dtype) for dtype in types):
        raise errors.UnimplementedError(
            None, None, f"Cast {types[0].name} to {types[1].name} is not supported"
        )
    source, target = (torch_type(dtype) for dtype in types)
    if source is target:
        return torch.clone
    if source.is_complex and not target.is_complex:
        return lambda x: x.real.to(target, copy=True)
    if node.attrs["Truncate"] and _MANTISSA.get(source, 0) > _MANTISSA.get(target, 52):
        return _truncating(source, target)
    return _CONVERT.get(target) or (lambda x: x.to(target))


def _truncating(source, target):
    """Cuts off the bits that the narrower type has no room for, in place of rounding."""
    bits = _BITS[source]
    mask = -1 << (_MANTISSA[source] - _MANTISSA[target])
    return lambda x: (x.view(bits) & mask).view(source).to(target)
