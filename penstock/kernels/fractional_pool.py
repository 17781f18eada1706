"""Kernels of pooling by a fractional ratio."""

import math
import os

import numpy as np
import torch

from penstock.errors import InvalidArgumentError, UnimplementedError
from penstock.kernels.conv import sizes_reader
from penstock.kernels.philox import Generator
from penstock.kernels.random import is_seeded
from penstock.kernels.registry import HOST, kernel


def _invalid(message):
    return InvalidArgumentError(None, None, message)


# The borders of regions -----------------------------------------------------------------------


def _evenly_spread(size, count, generator):
    """Borders ceil(ratio * (i + u)) for one random u, so small that no region is too large."""
    ratio, least = size / count, size // count
    largest = min((least + 2) / ratio - 1, (size + 1 - least) / ratio - (count - 1))
    low, high = (int(word) for word in generator.reserve(1).words(1)[0, :2])
    unit = np.array(0x3FF << 52 | (low & 0xFFFFF) << 32 | high, np.uint64).view(np.float64) - 1.0
    start = float(unit) * largest
    inner = np.ceil(ratio * (np.arange(1, count) + start)).astype(np.int64) - 1
    return np.concatenate([[0], inner, [size]])


def _shuffled(size, count, generator):
    """Borders of regions of two sizes in any order."""
    least, larger = divmod(size, count)
    lengths = [least + 1] * larger + [least] * (count - larger)
    blocks = -(-count // 4)
    words = generator.reserve(blocks).words(blocks).reshape(-1)
    for i in range(count - 1):
        other = i + int(words[i]) % (count - i)
        lengths[i], lengths[other] = lengths[other], lengths[i]
    return np.concatenate([[0], np.cumsum(lengths)])


def _new_generator(node):
    seeds = node.attrs["seed"], node.attrs["seed2"]
    deterministic = node.attrs["deterministic"]
    if is_seeded(node) and not deterministic:
        raise _invalid("Both seed and seed2 should be 0 if deterministic is false.")

    def anywhere():
        return np.frombuffer(os.urandom(16), np.int64).tolist()

    if deterministic:
        fixed = seeds if is_seeded(node) else anywhere()
        return lambda: Generator(*fixed)
    return lambda: Generator(*anywhere())


class _Regions:
    """The elements of every region along one axis, in rows of one length.

    A shorter region repeats its last element, which `counted` leaves out.
    """

    def __init__(self, borders, size, overlapping, device):
        starts, ends = borders[:-1], borders[1:] + int(overlapping)
        ends = np.minimum(ends, size)
        longest = int((ends - starts).max(initial=0))
        if len(starts) and (ends <= starts).any():
            raise _invalid(f"pooling sequence must be increasing, got {borders.tolist()}")
        places = starts[:, None] + np.arange(longest)
        self.counted = torch.from_numpy(places < ends[:, None]).to(device)
        self.places = torch.from_numpy(np.minimum(places, ends[:, None] - 1)).to(device)


def _regions_of(images, rows, columns, overlapping):
    """What the regions see: [batch, rows, columns, elements of a region, channels]."""
    seen = images[:, rows.places][:, :, :, columns.places]
    batch, down, high, across, wide, depth = seen.shape
    return seen.permute(0, 1, 3, 2, 4, 5).reshape(batch, down, across, high * wide, depth)


def _counted(rows, columns):
    """Which elements of regions count: [rows, columns, elements of a region]."""
    both = rows.counted[:, None, :, None] & columns.counted[None, :, None, :]
    return both.flatten(2)


def _positions(rows, columns, width):
    """The place in a flat image of each element of each region."""
    both = rows.places[:, None, :, None] * width + columns.places[None, :, None, :]
    return both.flatten(2)


# Forward --------------------------------------------------------------------------------------


def _pooling(node, pool):
    ratios = node.attrs["pooling_ratio"]
    if ratios[0] != 1 or ratios[3] != 1:
        raise UnimplementedError(
            None,
            None,
            "Fractional pooling is not yet supported on the batch nor channel dimension.",
        )
    overlapping = node.attrs["overlapping"]
    borders = _evenly_spread if node.attrs["pseudo_random"] else _shuffled
    new_generator = _new_generator(node)

    def run(images):
        if images.dim() != 4:
            raise _invalid(f"tensor_in must be 4-dimensional, got {list(images.shape)}")
        for axis, (size, ratio) in enumerate(zip(images.shape, ratios, strict=True)):
            if size < ratio:
                raise _invalid(
                    f"Pooling ratio is higher than input dimension size for dimension {axis}. "
                    f"Input dim size: {size} pooling ratio: {ratio:g}"
                )
        generator, sequences, regions = new_generator(), [], []
        for axis in (1, 2):
            size = images.shape[axis]
            sequence = borders(size, math.floor(size / ratios[axis]), generator)
            sequences.append(torch.from_numpy(sequence))
            regions.append(_Regions(sequence, size, overlapping, images.device))
        return pool(_regions_of(images, *regions, overlapping), *regions), *sequences

    return run


@kernel("FractionalMaxPool", devices=HOST, fresh=True)
def _(node):
    return _pooling(node, lambda seen, rows, columns: seen.amax(3))


@kernel("FractionalAvgPool", devices=HOST, fresh=True)
def _(node):
    whole = node.dtypes[0].is_integer

    def mean(seen, rows, columns):
        counted = _counted(rows, columns)[..., None]
        total = (seen * counted).sum(3, dtype=seen.dtype)
        counts = counted.sum(2, dtype=total.dtype)
        return total.div(counts, rounding_mode="trunc") if whole else total / counts

    return _pooling(node, mean)


# Backward -------------------------------------------------------------------------------------


def _borders(sequence, count, what):
    borders = sequence.cpu().numpy()
    if borders.ndim != 1 or len(borders) != count + 1:
        raise _invalid(
            f"{what}_pooling_sequence must have {count + 1} entries, got shape "
            f"{list(borders.shape)}"
        )
    if borders[0] < 0:
        raise _invalid(f"{what}_pooling_sequence must not be negative, got {borders.tolist()}")
    return borders


def _regions_for_gradient(sizes, grad, rows, columns, overlapping):
    return [
        _Regions(_borders(sequence, grad.shape[axis], what), sizes[axis], overlapping, grad.device)
        for axis, sequence, what in ((1, rows, "row"), (2, columns, "col"))
    ]


@kernel("FractionalMaxPoolGrad", devices=HOST, fresh=True)
def _(node):
    overlapping = node.attrs["overlapping"]

    def run(images, pooled, grad, row_sequence, column_sequence):
        if pooled.shape != grad.shape:
            raise _invalid(
                f"out_backprop must have the shape of orig_output, got {list(grad.shape)} and "
                f"{list(pooled.shape)}"
            )
        batch, height, width, depth = images.shape
        rows, columns = _regions_for_gradient(
            images.shape, grad, row_sequence, column_sequence, overlapping
        )
        seen = _regions_of(images, rows, columns, overlapping)
        values, largest = seen.max(3)
        if not torch.equal(values, pooled):
            raise _invalid("tensor_out_dup is not the same as tensor_out")
        positions = _positions(rows, columns, width)
        places = positions[None, :, :, :, None].expand(seen.shape).gather(3, largest[:, :, :, None])
        result = images.new_zeros(batch, height * width, depth)
        result.scatter_add_(1, places.reshape(batch, -1, depth), grad.reshape(batch, -1, depth))
        return result.view(images.shape)

    return run


@kernel("FractionalAvgPoolGrad", devices=HOST, fresh=True)
def _(node, env):
    overlapping = node.attrs["overlapping"]
    read = sizes_reader(node, env, 0)

    def run(shape, grad, row_sequence, column_sequence):
        sizes = read(shape)
        if len(sizes) != 4:
            raise _invalid(
                f"original input tensor shape must be 1-dimensional of 4 elements, got {sizes}"
            )
        batch, height, width, depth = sizes
        rows, columns = _regions_for_gradient(
            sizes, grad, row_sequence, column_sequence, overlapping
        )
        counted = _counted(rows, columns)[..., None]
        part = grad.double() / counted.sum(2)
        spread = part[:, :, :, None] * counted
        result = spread.new_zeros(batch, height * width, depth)
        places = _positions(rows, columns, width).reshape(-1)
        result.index_add_(1, places, spread.reshape(batch, -1, depth))
        return result.view(sizes).to(grad.dtype)

    return run
