"""Kernels of rows dealt out to several tensors, and put together again."""

import math

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.bounds_on_gpu import select_or_zero
from penstock.kernels.host_loops import shares_memory
from penstock.kernels.known_inputs import is_text
from penstock.kernels.output_lists import as_outputs
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed


@kernel("DynamicPartition", fresh=True)
def _(node):
    count = node.attrs["num_partitions"]
    text = is_text(node)

    def run(data, partitions):
        if data.shape[: partitions.ndim] != partitions.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                "data.shape must start with partitions.shape, got data.shape = "
                f"{_text(data)}, partitions.shape = {_text(partitions)}",
            )
        chosen = partitions.reshape(-1)
        sizes = _part_sizes(chosen, partitions, count)
        order = chosen.argsort(stable=True)
        rows = data.reshape((chosen.shape[0], *data.shape[partitions.dim() :]))
        if text:
            return np.split(rows[order.numpy()], np.cumsum(sizes)[:-1])
        return as_signed(rows).index_select(0, order).view(data.dtype).split_with_sizes(sizes)

    return as_outputs(node, run)


def _text(value):
    return shapes.text(tuple(value.shape))


def _part_sizes(chosen, partitions, count):
    outside = (chosen < 0) | (chosen >= count)
    if outside.any():
        place = torch.nonzero(outside.reshape(partitions.shape))[0].tolist()
        value = partitions[tuple(place)].item()
        position = ",".join(map(str, place))
        raise errors.InvalidArgumentError(
            None, None, f"partitions[{position}] = {value} is not in [0, {count})"
        )
    return torch.bincount(chosen, minlength=count).tolist()


@kernel("DynamicStitch", "ParallelDynamicStitch", fresh=True)
def _(node):
    count = node.attrs["N"]
    text = is_text(node, count)

    def run(*inputs):
        indices = [entry.reshape(-1).long() for entry in inputs[:count]]
        length = max((int(entry.max()) + 1 for entry in indices if entry.numel()), default=0)
        for entry in indices:
            if entry.numel() and entry.min() < 0:
                place = torch.nonzero(entry < 0)[0].item()
                raise errors.InvalidArgumentError(None, None, f"indices[{place}] is out of range")
        _check_stitched(inputs[:count], inputs[count:])
        rest = tuple(inputs[count].shape[inputs[0].dim() :])
        rows = [
            data.reshape((entry.shape[0], *rest))
            for data, entry in zip(inputs[count:], indices, strict=True)
        ]
        return (_merge_text if text else _merge)(length, rest, indices, rows)

    return run


def _check_stitched(indices, data):
    """Refuses data whose shapes don't begin with those of their indices, or end in others."""
    rest = tuple(data[0].shape[indices[0].ndim :])
    for i, (places, values) in enumerate(zip(indices, data, strict=True)):
        if tuple(values.shape[: places.ndim]) != tuple(places.shape):
            problem = (
                f"data[{i}].shape = {_text(values)} does not start with indices[{i}].shape = "
                f"{_text(places)}"
            )
        elif tuple(values.shape[places.ndim :]) != rest:
            problem = (
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{places.ndim}:], got "
                f"data[0].shape = {_text(data[0])}, data[{i}].shape = {_text(values)}, "
                f"indices[0].shape = {_text(indices[0])}, indices[{i}].shape = {_text(places)}"
            )
        else:
            continue
        raise errors.InvalidArgumentError(None, None, problem)


def _merge(length, rest, indices, rows):
    if rows[0].is_cuda:
        return _merge_on_gpu(length, indices, rows)
    merged = rows[0].new_zeros((length, *rest))
    if math.prod(merged.shape):
        for positions, values in zip(indices, rows, strict=True):
            if shares_memory(merged):
                merged.numpy()[positions.numpy()] = values.numpy(force=True)
            else:
                as_signed(merged).index_copy_(0, positions, as_signed(values))
    return merged


def _merge_on_gpu(length, indices, rows):
    """The same with rows on a GPU; the indices are on the host, which finds the row to take."""
    sources = np.full(length, -1)
    first = 0
    for positions in indices:
        sources[positions.numpy()] = np.arange(first, first + len(positions))
        first += len(positions)
    taken = torch.from_numpy(sources).to(rows[0].device, non_blocking=True)
    return select_or_zero(torch.cat(rows), taken)


def _merge_text(length, rest, indices, rows):
    merged = np.full((length, *rest), b"", dtype=object)
    for positions, values in zip(indices, rows, strict=True):
        merged[positions.numpy()] = values
    return merged
