"""Kernel of Einsum: ATen's, and diagonals in the output, which it has not."""

import torch

from penstock.kernels.registry import kernel
from penstock.ops.einsum import parse


@kernel("Einsum")
def _(node):
    equation = parse(node.attrs["equation"])
    unique = "".join(dict.fromkeys(equation.output))
    text = str(equation._replace(output=unique))
    if unique == equation.output:
        return lambda *tensors: torch.einsum(text, *tensors)

    def run(*tensors):
        return _spread_diagonals(torch.einsum(text, *tensors), unique, equation.output)

    return run


def _spread_diagonals(x, labels, output):
    """`x` along the diagonals of a larger tensor of zeros, where `output` repeats labels."""
    extra = x.dim() - len(labels.replace(".", ""))

    def axes_of(label):
        """The axes of `x` for a label; an ellipsis stands for several."""
        start = labels.index(label)
        if "." in labels and labels.index(".") < start:
            start += extra - 1
        return range(start, start + (extra if label == "." else 1))

    result = x.new_zeros([x.shape[axis] for label in output for axis in axes_of(label)])
    strides = [0] * x.dim()
    position = 0
    for label in output:
        for axis in axes_of(label):
            strides[axis] += result.stride(position)
            position += 1
    result.as_strided(x.shape, strides).copy_(x)
    return result
