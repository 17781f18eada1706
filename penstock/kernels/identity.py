"""Kernels of tensors passed on: as they are, checked, or as other bits."""

import torch

from penstock import errors
from penstock.kernels.output_lists import as_outputs
from penstock.kernels.registry import direct, kernel, passed_on
from penstock.kernels.values import torch_type

direct(
    {
        "Identity": passed_on,
        "Snapshot": passed_on,
        "StopGradient": passed_on,
        "PreventGradient": passed_on,
    },
    fresh=False,
)


@kernel("GuaranteeConst")
def _(node):
    if node.inputs[0].dtype.name == "resource":
        message = "Input tensor cannot be a resource variable handle."
        raise errors.InvalidArgumentError(None, None, message)
    return passed_on


@kernel("IdentityN")
def _(node):
    return as_outputs(node, lambda *values: values)


@kernel("CheckNumerics", "CheckNumericsV2")
def _(node):
    message = node.attrs["message"]
    message = message.decode() if isinstance(message, bytes) else message

    def run(x):
        if not torch.isfinite(x).all():
            found = [word for word, test in _TESTS if test(x).any()]
            raise errors.InvalidArgumentError(
                None, None, f"{message} : Tensor had {' and '.join(found)} values"
            )
        return x

    return run


_TESTS = (("Inf", torch.isinf), ("NaN", torch.isnan))


@kernel("Bitcast")
def _(node):
    given, wanted = node.attrs["T"].size, node.attrs["type"].size
    dtype = torch_type(node.attrs["type"])
    if given == wanted:
        return lambda x: x.view(dtype)
    if given > wanted:
        return lambda x: x.unsqueeze(-1).view(dtype)

    def joined(x):
        if x.dim() and x.shape[-1] != wanted // given:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot bitcast from {wanted // given} to {x.shape[-1]}"
            )
        if not x.numel():  # ATen refuses to view what has no strides
            return x.new_empty(x.shape[:-1], dtype=dtype)
        return x.contiguous().view(dtype).squeeze(-1)

    return joined
