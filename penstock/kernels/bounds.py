"""Kernels of order: bounds in sorted rows, flat indices as coordinates."""

from __future__ import annotations

import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type


@kernel("LowerBound", "UpperBound", fresh=True)
def _(node):
    right = node.type == "UpperBound"
    as_int32 = torch_type(node.dtypes[0]) == torch.int32

    def run(sorted_inputs, values):
        if sorted_inputs.shape[0] != values.shape[0]:
            raise errors.InvalidArgumentError(
                None, None, "Leading dim_size of both tensors must match."
            )
        return torch.searchsorted(
            sorted_inputs.contiguous(), values.contiguous(), right=right, out_int32=as_int32
        )

    return run


@kernel("UnravelIndex", fresh=True)
def _(node):
    def run(indices, dims):
        if indices.dim() > 1 or dims.dim() != 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                "The indices can only be scalar or vector, the dims a vector, got shapes "
                f"{list(indices.shape)} and {list(dims.shape)}",
            )
        if bool((dims == 0).any()):
            raise errors.InvalidArgumentError(None, None, "Input dims cannot contain a dim of zero")
        sizes = dims.long()
        total = int(sizes.prod())
        flat = indices.long()
        if flat.numel() and not bool(((flat >= 0) & (flat < total)).all()):
            raise errors.InvalidArgumentError(None, None, "index is out of bound as with dims")
        strides = torch.flip(torch.cumprod(torch.flip(sizes, [0]), 0), [0]) // sizes
        shape = [-1] + [1] * flat.dim()
        found = flat // strides.reshape(shape) % sizes.reshape(shape)
        return found.to(indices.dtype)

    return run
