"""Kernels of pooling, on channels-first views.

ATen pads symmetrically and at most by half a window, but can let the last window reach over the
end (`ceil_mode`); elements outside of the image never count. That covers SAME padding but for
even windows at stride one; for the rest the image is padded explicitly.
"""

from __future__ import annotations

import itertools
import math

import torch

from penstock import errors
from penstock.kernels.conv import sizes_reader
from penstock.kernels.registry import kernel
from penstock.kernels.with_triton import Attempt
from penstock.ops import window

_aten = torch.ops.aten
_largest, _gradient = Attempt("pooling", "largest"), Attempt("pooling", "gradient")
_MOST_PLACES = 64  # of a window that our own kernels look through
_MAX = {2: torch._C._nn.max_pool2d_with_indices, 3: torch._C._nn.max_pool3d_with_indices}
_MAX_BACKWARD = {
    2: _aten.max_pool2d_with_indices_backward.default,
    3: _aten.max_pool3d_with_indices_backward.default,
}
_MEAN = {2: torch._C._nn.avg_pool2d, 3: torch._C._nn.avg_pool3d}
_MEAN_BACKWARD = {2: _aten.avg_pool2d_backward.default, 3: _aten.avg_pool3d_backward.default}


def _unimplemented(message):
    return errors.UnimplementedError(None, None, message)


class Pooling:
    """A node's windows in ATen's terms."""

    def __init__(self, attrs, ksize, strides):
        rank = len(ksize)
        self.channels = channels = window.channel_axis(attrs.get("data_format"))
        if ksize[0] != 1 or strides[0] != 1:
            raise _unimplemented("Pooling is not yet supported on the batch dimension.")
        self.rank = rank - 2
        self.windows = window.spatial(ksize, channels)
        self.strides = window.spatial(strides, channels)
        self.depth_window, self.depth_stride = ksize[channels], strides[channels]
        self.padding = attrs["padding"]
        self.given = window.explicit_pads(attrs, channels)
        self.ones, self.zeros = [1] * self.rank, [0] * self.rank
        self.to_first = (0, rank - 1, *range(1, rank - 1)) if channels != 1 else None
        self.to_last = (0, *range(2, rank), 1) if channels != 1 else None
        self._fits = {}
        self._terms = {}

    def require_plain_depth(self):
        """Raises where a window covers several channels."""
        if self.depth_window != 1 or self.depth_stride != 1:
            raise _unimplemented("Non-spatial pooling is not yet supported.")

    def first(self, tensor):
        return tensor if self.to_first is None else tensor.permute(self.to_first)

    def last(self, tensor):
        return tensor if self.to_last is None else tensor.permute(self.to_last)

    def fit(self, sizes):
        """For the spatial sizes of an image: ATen's padding, ceil mode, the explicit pad, and
        whether there are no windows at all.

        The explicit pad is None where ATen's own padding does.
        """
        found = self._fits.get(sizes)
        if found is None:
            pairs = window.pads(sizes, self.windows, self.strides, self.padding, self.given)
            outputs = window.run_output_sizes(
                sizes, self.windows, self.strides, self.padding, self.given
            )
            if 0 in outputs:
                found = self.zeros, False, None, True
            else:
                found = self._without_pad(sizes, pairs, outputs)
            if found is None:
                flat = [entry for pair in reversed(pairs) for entry in pair]
                found = self.zeros, False, flat, False
            if len(self._fits) > 1000:  # images of ever new sizes must not fill the memory
                self._fits.clear()
            self._fits[sizes] = found
        return found

    def _without_pad(self, sizes, pairs, outputs):
        before = [pair[0] for pair in pairs]
        if any(2 * pad > size for pad, size in zip(before, self.windows, strict=True)):
            return None
        for ceil_mode in (False, True):
            dims = zip(sizes, self.windows, self.strides, before, strict=True)
            if [_aten_size(*dim, ceil_mode) for dim in dims] == outputs:
                return before, ceil_mode, None, False
        return None

    # Maximum ----------------------------------------------------------------------------------

    def max(self, image):
        """Maxima of a channels-first image, and their positions in its planes (padded ones
        where the image must be padded).
        """
        padding, ceil_mode, pad, empty = self.fit(image.shape[2:])
        if empty:
            nothing = self._nothing(image)
            return nothing, nothing.to(torch.int64)
        if pad is not None:
            image = torch.constant_pad_nd(image, pad, _lowest(image.dtype))
        return _MAX[self.rank](image, self.windows, self.strides, padding, self.ones, ceil_mode)

    def _nothing(self, image):
        """What is pooled from a channels-first image that no window fits into."""
        return image.new_empty((*image.shape[:2], *self._terms_of(image.shape[2:])[1]))

    def _own_terms(self, image):
        """What our own kernels for GPUs are told of the windows; None where ATen's are used."""
        if not image.is_cuda or self.rank != 2 or math.prod(self.windows) > _MOST_PLACES:
            return None
        if not image.is_floating_point() or not image.is_contiguous(
            memory_format=torch.channels_last
        ):
            return None
        terms = self._terms_of(image.shape[2:])
        return None if 0 in terms[1] else terms

    def _terms_of(self, sizes):
        """For the spatial sizes of an image: the padding before it, the numbers of windows."""
        found = self._terms.get(sizes)
        if found is None:
            args = sizes, self.windows, self.strides, self.padding, self.given
            before = [before for before, _ in window.pads(*args)]
            found = before, window.run_output_sizes(*args)
            if len(self._terms) > 1000:  # images of ever new sizes must not fill the memory
                self._terms.clear()
            self._terms[sizes] = found
        return found

    def largest(self, image):
        """The maxima of a channels-first image."""
        terms = self._own_terms(image)
        if terms is not None:
            found = _largest(image, self.windows, self.strides, *terms, False)
            if found is not None:
                return found
        return self.max(image)[0]

    def largest_kept(self, image):
        """The maxima, and what `max_gradient` wants to know of them."""
        terms = self._own_terms(image)
        found = terms and _largest(image, self.windows, self.strides, *terms, True)
        return found or self.max(image)

    def max_gradient(self, image, grad, positions=None):
        """The gradient for the image: each window's goes to its first maximum.

        `positions` are those that `max` or `largest_kept` found, where they were kept.
        """
        if positions is not None and positions.dtype is torch.uint8:
            sizes = image.shape[2:]
            before, _ = self._terms_of(sizes)
            found = _gradient(grad, positions, sizes, self.windows, self.strides, before)
            if found is not None:
                return found
            positions = None
        padding, ceil_mode, pad, empty = self.fit(image.shape[2:])
        if empty:
            return torch.zeros_like(image)
        if pad is not None:
            image = torch.constant_pad_nd(image, pad, _lowest(image.dtype))
        args = self.windows, self.strides, padding, self.ones, ceil_mode
        if positions is None:
            _, positions = _MAX[self.rank](image, *args)
        result = _MAX_BACKWARD[self.rank](grad, image, *args, positions)
        return result if pad is None else torch.constant_pad_nd(result, [-n for n in pad])

    def positions_past_nans(self, image):
        """Where TensorFlow finds the maxima: a NaN is one only if its window begins with it."""
        padding, ceil_mode, pad, _ = self.fit(image.shape[2:])
        unknown, even = image.isnan(), torch.zeros_like(image)
        numbers = image.masked_fill(unknown, _lowest(image.dtype))
        if pad is not None:
            numbers, even = (
                torch.constant_pad_nd(part, pad, _lowest(image.dtype)) for part in (numbers, even)
            )
            unknown = torch.constant_pad_nd(unknown, pad)
        args = self.windows, self.strides, padding, self.ones, ceil_mode
        _, positions = _MAX[self.rank](numbers, *args)
        _, first = _MAX[self.rank](even, *args)
        begins = unknown.flatten(2).gather(2, first.flatten(2)).view(first.shape)
        return torch.where(begins, first, positions)

    def at_maxima(self, image, values):
        """The entries of `values` that stand where the image's windows have their maxima."""
        _, positions = self.max(image)
        _, _, pad, _ = self.fit(image.shape[2:])
        if pad is not None:
            values = torch.constant_pad_nd(values, pad)
        flat = values.flatten(2).gather(2, positions.flatten(2))
        return flat.view(positions.shape)

    # Mean -------------------------------------------------------------------------------------

    def mean(self, image):
        padding, ceil_mode, pad, empty = self.fit(image.shape[2:])
        if empty:
            return self._nothing(image)
        if self._slices_are_faster(image, padding, ceil_mode, pad):
            return self._mean_of_slices(image)
        if pad is None:
            return _MEAN[self.rank](image, self.windows, self.strides, padding, ceil_mode, False)
        total = _MEAN[self.rank](torch.constant_pad_nd(image, pad), self.windows, self.strides)
        return total / self._inside(image, pad)

    def mean_gradient(self, sizes, grad):
        """The gradient for an image of channels-first shape `sizes`."""
        padding, ceil_mode, pad, empty = self.fit(sizes[2:])
        if empty:
            return grad.new_zeros(sizes)
        if self._slices_are_faster(grad, padding, ceil_mode, pad):
            return self._mean_gradient_of_slices(sizes, grad)
        shape = sizes
        if pad is not None:
            grad = grad / self._inside(grad.new_empty(sizes), pad)
            padded = [n + pad[-2 * i - 2] + pad[-2 * i - 1] for i, n in enumerate(sizes[2:])]
            shape = (*sizes[:2], *padded)
        # ATen asks for an image but only looks at its shape and layout.
        stand_in = self.first(
            grad.new_empty(window.assemble(shape[0], shape[2:], shape[1], self.channels))
        )
        if grad.is_cuda and any(padding):
            # With channels last, ATen's kernel for GPUs forgets the padding.
            grad, stand_in = grad.contiguous(), grad.new_empty(shape)
        result = _MEAN_BACKWARD[self.rank](
            grad, stand_in, self.windows, self.strides, padding, ceil_mode, False, None
        )
        return result if pad is None else torch.constant_pad_nd(result, [-n for n in pad])

    def _slices_are_faster(self, image, padding, ceil_mode, pad):
        """ATen averages volumes channel by channel, here they are side by side."""
        plain = pad is None and not ceil_mode and not any(padding)
        return plain and self.rank == 3 and self.to_first is not None and image.is_cpu

    def _slices(self, image, sizes):
        """For each position in a window the elements at that position in all windows."""
        for offsets in itertools.product(*map(range, self.windows)):
            along = zip(offsets, self.strides, sizes, strict=True)
            cuts = [slice(at, at + stride * (size - 1) + 1, stride) for at, stride, size in along]
            place = (slice(None), slice(None), *cuts)
            yield image[place]

    def _mean_of_slices(self, image):
        sizes = self._terms_of(image.shape[2:])[1]
        first, *others = self._slices(image, sizes)
        total = first.clone()  # keeps channels where they are
        for part in others:
            total.add_(part)
        return total.div_(math.prod(self.windows))

    def _mean_gradient_of_slices(self, sizes, grad):
        share = grad / math.prod(self.windows)
        result = self.first(
            grad.new_zeros(window.assemble(sizes[0], sizes[2:], sizes[1], self.channels))
        )
        for part in self._slices(result, grad.shape[2:]):
            part.add_(share)
        return result

    def _inside(self, image, pad):
        """For each window the fraction of it that lies inside of the image."""
        ones = image.new_ones((1, 1, *image.shape[2:]))
        return _MEAN[self.rank](torch.constant_pad_nd(ones, pad), self.windows, self.strides)


def _aten_size(size, window_size, stride, pad, ceil_mode):
    """The output size that ATen computes."""
    span = size + 2 * pad - window_size
    if span < 0 and not (ceil_mode and span > -stride):
        return None
    count = (span + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + pad:
        count -= 1
    return count


def _lowest(dtype):
    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _widened(node, types_):
    """The type to compute in where ATen lacks the node's, else None."""
    return types_.get(node.inputs[0].dtype.base_dtype.name)


_WIDER_MAX = {"uint16": torch.int32}


def _max_pool(pooling):
    if pooling.depth_window == 1:
        return lambda image: pooling.last(pooling.largest(pooling.first(image)))
    if any(size != 1 for size in pooling.windows):
        raise _unimplemented(
            "MaxPooling supports exactly one of pooling across depth or pooling across "
            "width/height."
        )

    def run(image):
        if image.shape[pooling.channels] % pooling.depth_window:
            raise _unimplemented(
                "Depthwise max pooling requires the depth window to evenly divide the input depth."
            )
        if pooling.depth_window != pooling.depth_stride:
            raise _unimplemented(
                "Depthwise max pooling requires the depth window to equal the depth stride."
            )
        grouped = image.unflatten(pooling.channels, (-1, pooling.depth_window))
        return grouped.amax(-1 if pooling.channels == -1 else 2)

    return run


@kernel("MaxPool", "MaxPool3D", fresh=True)
def _(node):
    run = _max_pool(Pooling(node.attrs, node.attrs["ksize"], node.attrs["strides"]))
    wide = _widened(node, _WIDER_MAX)
    return run if wide is None else lambda image: run(image.to(wide)).to(image.dtype)


def _by_inputs(node, env, first, make):
    """Specialises for window sizes and strides that are inputs number `first` and the next."""
    read_ksize, read_strides = sizes_reader(node, env, first), sizes_reader(node, env, first + 1)
    made = {}

    def run(*inputs):
        key = read_ksize(inputs[first]), read_strides(inputs[first + 1])
        if key not in made:
            made[key] = make(Pooling(node.attrs, *map(list, key)))
        return made[key](*inputs[:first])

    return run


@kernel("MaxPoolV2", fresh=True)
def _(node, env):
    return _by_inputs(node, env, 1, _max_pool)


def _max_pool_grad(pooling):
    pooling.require_plain_depth()

    def run(image, output, grad, positions=None):
        if grad.shape != output.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected grad shape to be {list(output.shape)}, but got {list(grad.shape)}",
            )
        dtype = grad.dtype
        if not dtype.is_floating_point:  # ATen's backward knows floating point alone
            image, grad = image.double(), grad.double()
        elif image.dtype != dtype:
            image = image.to(dtype)
        planes = pooling.first(image), pooling.first(grad)
        if not output.is_cuda and output.is_floating_point() and output.sum().isnan():
            positions = pooling.positions_past_nans(planes[0])
        result = pooling.last(pooling.max_gradient(*planes, positions))
        return result if result.dtype == dtype else result.to(dtype)

    return run


@kernel("_MaxPoolKeeping", fresh=True)
def _(node):
    pooling = Pooling(node.attrs, node.attrs["ksize"], node.attrs["strides"])
    pooling.require_plain_depth()

    def run(image):
        values, positions = pooling.largest_kept(pooling.first(image))
        return pooling.last(values), positions

    return run


@kernel("MaxPoolGrad", "MaxPool3DGrad", "_MaxPoolGradOfKept", fresh=True)
def _(node):
    return _max_pool_grad(Pooling(node.attrs, node.attrs["ksize"], node.attrs["strides"]))


@kernel("MaxPoolGradV2", fresh=True)
def _(node, env):
    return _by_inputs(node, env, 3, _max_pool_grad)


def _max_pool_grad_grad(pooling):
    pooling.require_plain_depth()

    def run(image, output, grad):
        return pooling.last(pooling.at_maxima(pooling.first(image), pooling.first(grad)))

    return run


@kernel("MaxPoolGradGrad", "MaxPool3DGradGrad", fresh=True)
def _(node):
    return _max_pool_grad_grad(Pooling(node.attrs, node.attrs["ksize"], node.attrs["strides"]))


@kernel("MaxPoolGradGradV2", fresh=True)
def _(node, env):
    return _by_inputs(node, env, 3, _max_pool_grad_grad)


# Maximum with positions -----------------------------------------------------------------------


def _batch_offsets(shape, device):
    """How far each image of a batch is into the flattened batch."""
    per_image = shape[1] * shape[2] * shape[3]
    return torch.arange(shape[0], device=device).mul_(per_image).view(-1, 1, 1, 1)


@kernel("MaxPoolWithArgmax")
def _(node):
    pooling = Pooling(node.attrs, node.attrs["ksize"], node.attrs["strides"])
    pooling.require_plain_depth()
    with_batch = node.attrs["include_batch_in_index"]
    index_type = torch.int32 if node.dtypes[1].name == "int32" else torch.int64
    wide = _widened(node, {"uint16": torch.int32, "uint32": torch.int64, "uint64": torch.float64})

    def run(image):
        _, _, width, depth = image.shape
        planes = pooling.first(image if wide is None else image.to(wide))
        values, positions = pooling.max(planes)
        _, _, pad, _ = pooling.fit(planes.shape[2:])
        if pad is not None:
            left, right, top, _ = pad
            padded_width = width + left + right
            rows = positions.div(padded_width, rounding_mode="floor").sub_(top)
            positions = positions.remainder(padded_width).sub_(left).add_(rows, alpha=width)
        values, positions = pooling.last(values), pooling.last(positions)
        positions = positions * depth + torch.arange(depth, device=image.device)
        if with_batch:
            positions += _batch_offsets(image.shape, image.device)
        return values.to(image.dtype), positions.to(index_type)

    return run


def _flat_positions(node):
    """A function that turns positions into ones in the flattened batch."""
    if node.attrs["include_batch_in_index"]:
        return lambda image, argmax: argmax.to(torch.int64)
    return lambda image, argmax: argmax + _batch_offsets(image.shape, image.device)


@kernel("MaxPoolGradWithArgmax", fresh=True)
def _(node):
    flat_positions = _flat_positions(node)

    def run(image, grad, argmax):
        result = grad.new_zeros(image.numel())
        positions = flat_positions(image, argmax).flatten()
        return result.index_add_(0, positions, grad.flatten()).view(image.shape)

    return run


@kernel("MaxPoolGradGradWithArgmax", fresh=True)
def _(node):
    flat_positions = _flat_positions(node)

    def run(image, grad, argmax):
        return grad.flatten()[flat_positions(image, argmax)]

    return run


# Mean -----------------------------------------------------------------------------------------


def _mean_pooling(node):
    pooling = Pooling(node.attrs, node.attrs["ksize"], node.attrs["strides"])
    pooling.require_plain_depth()
    name = node.dtypes[0].name
    # ATen averages volumes in single and double precision alone.
    wide = torch.float32 if pooling.rank == 3 and name in ("float16", "bfloat16") else None
    return pooling, wide


@kernel("AvgPool", "AvgPool3D", fresh=True)
def _(node):
    pooling, wide = _mean_pooling(node)
    if wide is None:
        return lambda image: pooling.last(pooling.mean(pooling.first(image)))
    return lambda image: pooling.last(pooling.mean(pooling.first(image.to(wide)))).to(image.dtype)


@kernel("AvgPoolGrad", "AvgPool3DGrad", fresh=True)
def _(node, env):
    pooling, wide = _mean_pooling(node)
    read = sizes_reader(node, env, 0)

    def run(shape, grad):
        shape = read(shape)
        sizes = shape if pooling.channels == 1 else (shape[0], shape[-1], *shape[1:-1])
        flowing = pooling.first(grad if wide is None else grad.to(wide))
        result = pooling.last(pooling.mean_gradient(sizes, flowing))
        return result if wide is None else result.to(grad.dtype)

    return run
