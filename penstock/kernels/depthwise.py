"""Kernels of depthwise convolutions: ATen's grouped ones, with one group per input channel."""

from __future__ import annotations

from penstock import errors
from penstock.kernels.conv import Geometry, sizes_reader
from penstock.kernels.registry import kernel


def _filter_first(filter):
    """[height, width, channels, multiplier] as [channels * multiplier, 1, height, width]."""
    height, width, channels, multiplier = filter.shape
    return filter.permute(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width)


@kernel("DepthwiseConv2dNative", fresh=True)
def _(node):
    geometry = Geometry(node, 4)

    def run(input, filter):
        channels = filter.shape[2]
        depth = input.shape[geometry.channels] if input.dim() == 4 else channels
        if depth != channels:
            raise errors.InvalidArgumentError(
                None, None, f"input and filter must have the same depth: {depth} vs {channels}"
            )
        return geometry.last(
            geometry.forward(geometry.first(input), _filter_first(filter), channels)
        )

    return run


@kernel("DepthwiseConv2dNativeBackpropInput", fresh=True)
def _(node, env):
    geometry = Geometry(node, 4)
    read = sizes_reader(node, env, 0)

    def run(input_sizes, filter, grad):
        sizes = geometry.sizes(read(input_sizes))
        grad, groups = geometry.first(grad), filter.shape[2]
        return geometry.last(geometry.input_gradient(sizes, _filter_first(filter), grad, groups))

    return run


@kernel("DepthwiseConv2dNativeBackpropFilter", fresh=True)
def _(node, env):
    geometry = Geometry(node, 4)
    read = sizes_reader(node, env, 1)

    def run(input, filter_sizes, grad):
        height, width, channels, multiplier = read(filter_sizes)
        shape = (channels * multiplier, 1, height, width)
        input, grad = geometry.first(input), geometry.first(grad)
        result = geometry.filter_gradient(input, shape, grad, channels)
        return result.reshape(channels, multiplier, height, width).permute(2, 3, 0, 1)

    return run
