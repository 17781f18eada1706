"""Kernels of convolutions, on channels-first views of whatever layout the graph has.

An NHWC tensor seen as NCHW is what ATen calls channels-last: its fastest layout, reached without
a copy. Padding that differs before and behind is made with an explicit pad, since ATen's own is
symmetric.
"""

from __future__ import annotations

import torch

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type
from penstock.ops import window

_backward = torch.ops.aten.convolution_backward.default


class Geometry:
    """How a node's convolution lies over its input, in ATen's terms."""

    def __init__(self, node, rank):
        attrs = node.attrs
        data_format = attrs.get("data_format", "NHWC")
        self.channels = window.channel_axis(data_format)
        for told in ("strides", "dilations"):
            if attrs[told][0] != 1 or attrs[told][self.channels] != 1:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Current implementation does not yet support {told} in the batch and depth "
                    "dimensions.",
                )
        self.spatial_rank = rank - 2
        self.strides = window.spatial(attrs["strides"], self.channels)
        self.rates = window.spatial(attrs["dilations"], self.channels)
        self.padding = attrs["padding"]
        try:
            window.check_explicit_pads(attrs, rank, self.channels)
        except ValueError as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self.given = window.explicit_pads(attrs, self.channels)
        self.zeros = [0] * self.spatial_rank
        last = rank - 1
        spatial_axes = range(1, last)
        self.to_first = (0, last, *spatial_axes) if self.channels != 1 else None
        self.to_last = (0, *range(2, rank), 1) if self.channels != 1 else None
        self.filter_to_first = (last, last - 1, *range(rank - 2))
        self.filter_to_last = (*range(2, rank), 1, 0)
        self._fits = {}

    def first(self, tensor):
        """A channels-first view of an activation."""
        return tensor if self.to_first is None else tensor.permute(self.to_first)

    def last(self, tensor):
        """A channels-first activation in the node's own data format."""
        return tensor if self.to_last is None else tensor.permute(self.to_last)

    def sizes(self, shape):
        """An activation's shape as (batch, channels, *spatial)."""
        if self.channels == 1:
            return tuple(shape)
        return (shape[0], shape[-1], *shape[1:-1])

    def fit(self, sizes, taps):
        """For the spatial sizes of input and filter: symmetric padding, explicit pad, output sizes.

        The explicit pad is None where symmetric padding does, else it has the form of
        `torch.constant_pad_nd`: last dimension first.
        """
        key = (sizes, taps)
        found = self._fits.get(key)
        if found is None:
            extents = [(n - 1) * rate + 1 for n, rate in zip(taps, self.rates, strict=True)]
            pairs = window.pads(sizes, extents, self.strides, self.padding, self.given)
            outputs = window.run_output_sizes(
                sizes, extents, self.strides, self.padding, self.given
            )
            if all(before == after for before, after in pairs):
                found = [before for before, _ in pairs], None, outputs
            else:
                found = self.zeros, [entry for pair in reversed(pairs) for entry in pair], outputs
            if len(self._fits) > 1000:  # inputs of ever new sizes must not fill the memory
                self._fits.clear()
            self._fits[key] = found
        return found

    def forward(self, input, filter, groups):
        """The convolution of channels-first tensors."""
        padding, pad, outputs = self.fit(input.shape[2:], filter.shape[2:])
        if 0 in outputs:  # ATen refuses windows that don't fit
            return input.new_empty((input.shape[0], filter.shape[0], *outputs))
        if pad is not None:
            input = torch.constant_pad_nd(input, pad)
        return torch.convolution(
            input, filter, None, self.strides, padding, self.rates, False, self.zeros, groups
        )

    def input_gradient(self, sizes, filter, grad, groups):
        """The gradient for an input of shape `sizes`, all channels-first."""
        padding, pad, outputs = self.fit(sizes[2:], filter.shape[2:])
        _check_gradient(grad, outputs, sizes[2:], filter.shape[2:])
        if 0 in outputs:
            return grad.new_zeros(sizes)
        if pad is not None:
            padded = [size + pad[-2 * i - 2] + pad[-2 * i - 1] for i, size in enumerate(sizes[2:])]
        else:
            padded = sizes[2:]
        # ATen asks for an input but only looks at its shape and layout.
        stand_in = self.first(
            grad.new_empty(window.assemble(sizes[0], padded, sizes[1], self.channels))
        )
        result = _backward(
            grad,
            stand_in,
            filter,
            None,
            self.strides,
            padding,
            self.rates,
            False,
            self.zeros,
            groups,
            (True, False, False),
        )[0]
        return result if pad is None else torch.constant_pad_nd(result, [-n for n in pad])

    def gradients(self, input, filter, grad, groups):
        """Both gradients, of channels-first tensors."""
        sizes, taps = input.shape[2:], filter.shape[2:]
        padding, pad, outputs = self.fit(sizes, taps)
        _check_gradient(grad, outputs, sizes, taps)
        if 0 in outputs:
            return torch.zeros_like(input), torch.zeros_like(filter)
        if pad is not None:
            input = torch.constant_pad_nd(input, pad)
        of_input, of_filter, _ = _backward(
            grad,
            input,
            filter,
            None,
            self.strides,
            padding,
            self.rates,
            False,
            self.zeros,
            groups,
            (True, True, False),
        )
        if pad is not None:
            of_input = torch.constant_pad_nd(of_input, [-n for n in pad])
        return of_input, of_filter

    def filter_gradient(self, input, shape, grad, groups):
        """The gradient for a channels-first filter of shape `shape`."""
        padding, pad, outputs = self.fit(input.shape[2:], shape[2:])
        _check_gradient(grad, outputs, input.shape[2:], shape[2:])
        if 0 in outputs:
            return grad.new_zeros(shape)
        if pad is not None:
            input = torch.constant_pad_nd(input, pad)
        return _backward(
            grad,
            input,
            grad.new_empty(shape),
            None,
            self.strides,
            padding,
            self.rates,
            False,
            self.zeros,
            groups,
            (False, True, False),
        )[1]


def _check_gradient(grad, outputs, sizes, taps):
    if list(grad.shape[2:]) != outputs:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Size of out_backprop doesn't match computed: actual = {list(grad.shape[2:])}, "
            f"computed = {outputs}, input: {list(sizes)} filter: {list(taps)}",
        )


def sizes_reader(node, env, index):
    """A function from the runtime value of a shape input to a tuple; constants are read once."""
    known = env.constant(node, index)
    if known is not None:
        fixed = tuple(known.tolist())
        return lambda _: fixed
    return lambda sizes: tuple(sizes.tolist())


def _check_filter(filter):
    if filter.numel() == 0:
        raise errors.InvalidArgumentError(
            None, None, f"filter must not have zero elements, got shape {list(filter.shape)}"
        )


def _of_unusual(geometry, input, filter):
    """The convolution with no filters at all; an error for any other filter that doesn't fit."""
    if filter.shape[0]:
        _check_filter(filter)
        raise ValueError("input depth must be a multiple of the filter's")
    outputs = geometry.fit(input.shape[2:], filter.shape[2:])[2]
    return input.new_empty((input.shape[0], 0, *outputs))


@kernel("Conv2D", "Conv3D", fresh=True)
def _(node):
    geometry = Geometry(node, 5 if node.type == "Conv3D" else 4)

    def run(input, filter):
        filter = filter.permute(geometry.filter_to_first)
        input = geometry.first(input)
        per_group = filter.shape[1]
        if filter.numel() == 0 or input.shape[1] % per_group:
            return geometry.last(_of_unusual(geometry, input, filter))
        return geometry.last(geometry.forward(input, filter, input.shape[1] // per_group))

    return run


@kernel("Conv2DBackpropInput", "Conv3DBackpropInputV2", fresh=True)
def _(node, env):
    rank = 4 if node.type == "Conv2DBackpropInput" else 5
    geometry = Geometry(node, rank)
    read = sizes_reader(node, env, 0)
    whole = torch_type(node.dtypes[0]) if node.dtypes[0].is_integer else None

    def run(input_sizes, filter, grad):
        shape = read(input_sizes)
        grad = geometry.first(grad)
        filter = filter.permute(geometry.filter_to_first)
        if len(shape) == rank:
            sizes = geometry.sizes(shape)
        else:  # spatial sizes alone
            sizes = (grad.shape[0], filter.shape[1], *shape)
        _check_filter(filter)
        groups = sizes[1] // filter.shape[1]
        if whole is None:
            return geometry.last(geometry.input_gradient(sizes, filter, grad, groups))
        # ATen differentiates floating point alone; doubles hold the products of small integers.
        result = geometry.input_gradient(sizes, filter.double(), grad.double(), groups)
        return geometry.last(result).to(torch.int64).to(whole)

    return run


@kernel("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", fresh=True)
def _(node, env):
    geometry = Geometry(node, 4 if node.type == "Conv2DBackpropFilter" else 5)
    read = sizes_reader(node, env, 1)

    def run(input, filter_sizes, grad):
        *taps, per_group, outputs = read(filter_sizes)
        taps = tuple(taps)
        input, grad = geometry.first(input), geometry.first(grad)
        groups = input.shape[1] // per_group
        result = geometry.filter_gradient(input, (outputs, per_group, *taps), grad, groups)
        return result.permute(geometry.filter_to_last)

    return run


@kernel("_Conv2DGradients", fresh=True)
def _(node):
    geometry = Geometry(node, 4)

    def run(input, filter, grad):
        filter = filter.permute(geometry.filter_to_first)
        _check_filter(filter)
        input, grad = geometry.first(input), geometry.first(grad)
        groups = input.shape[1] // filter.shape[1]
        of_input, of_filter = geometry.gradients(input, filter, grad, groups)
        return geometry.last(of_input), of_filter.permute(geometry.filter_to_last)

    return run
