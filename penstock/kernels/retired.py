"""Kernels of ops that stand in old graphs alone."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.conv import Geometry
from penstock.kernels.registry import kernel
from penstock.shapes import text


@kernel("BatchNormWithGlobalNormalization", fresh=True)
def _(node):
    epsilon, scaled = node.attrs["variance_epsilon"], node.attrs["scale_after_normalization"]

    def run(x, mean, variance, beta, gamma):
        factor = torch.rsqrt(variance + epsilon)
        return (x - mean) * (factor * gamma if scaled else factor) + beta

    return run


@kernel("BatchNormWithGlobalNormalizationGrad", fresh=True)
def _(node):
    epsilon, scaled = node.attrs["variance_epsilon"], node.attrs["scale_after_normalization"]

    def run(x, mean, variance, gamma, grad):
        rest = (0, 1, 2)
        factor = torch.rsqrt(variance + epsilon)
        scale = factor * gamma if scaled else factor
        centred = ((x - mean) * grad).sum(rest)
        d_beta = grad.sum(rest)
        d_variance = centred * -0.5 * factor * factor * scale
        d_gamma = centred * factor if scaled else torch.zeros_like(gamma)
        return grad * scale, -d_beta * scale, d_variance, d_beta, d_gamma

    return run


@kernel("CompareAndBitpack", fresh=True)
def _(node):
    places = torch.tensor([128, 64, 32, 16, 8, 4, 2, 1], dtype=torch.uint8)

    def run(values, threshold):
        _check_packed(values, threshold)
        # Bits that are given stand for themselves: the threshold doesn't count.
        above = values if values.dtype is torch.bool else values > threshold
        bits = above.unflatten(-1, (-1, 8)).to(torch.uint8) * places.to(values.device)
        return bits.sum(-1, dtype=torch.uint8)

    return run


def _check_packed(values, threshold):
    if threshold.dim():
        problem = f"Compare must be a scalar, but saw shape: {text(tuple(threshold.shape))}"
    elif not values.dim():
        problem = "Input should be at least a vector, but saw a scalar."
    elif values.shape[-1] % 8:
        given = text(tuple(values.shape))
        problem = f"Inner dimension of input should be divisible by 8, but saw shape: {given}"
    else:
        return
    raise InvalidArgumentError(None, None, problem)


@kernel("Conv3DBackpropInput", fresh=True)
def _(node):
    geometry = Geometry(node, 5)

    def run(input, filter, grad):
        filter = filter.permute(geometry.filter_to_first)
        groups = input.shape[-1] // filter.shape[1]
        sizes = geometry.sizes(input.shape)
        return geometry.last(geometry.input_gradient(sizes, filter, geometry.first(grad), groups))

    return run


@kernel("Conv3DBackpropFilter", fresh=True)
def _(node):
    geometry = Geometry(node, 5)

    def run(input, filter, grad):
        *taps, per_group, outputs = filter.shape
        groups = input.shape[-1] // per_group
        result = geometry.filter_gradient(
            geometry.first(input), (outputs, per_group, *taps), geometry.first(grad), groups
        )
        return result.permute(geometry.filter_to_last)

    return run


@kernel("TileGrad", fresh=True)
def _(node):
    def run(x, multiples):
        times = multiples.tolist()
        if len(times) != x.dim():
            raise InvalidArgumentError(
                None,
                None,
                f"Expected multiples argument to be a vector of length {x.dim()} but got length "
                f"{len(times)}",
            )
        for axis in range(x.dim() - 1, -1, -1):
            x = x.unflatten(axis, (times[axis], -1)).sum(axis, dtype=x.dtype)
        return x.clone() if not times else x

    return run
