"""Kernels that reduce slices along an axis."""

import torch

from penstock.kernels.registry import kernel
from penstock.kernels.values import to_array


def _lowest(dtype):
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype):
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max


#: How a slice is reduced, and what an empty one gives.
_REDUCTIONS = {
    "ReduceSliceSum": (lambda part, axis: part.sum(axis, dtype=part.dtype), lambda dtype: 0),
    "ReduceSliceProd": (lambda part, axis: part.prod(axis, dtype=part.dtype), lambda dtype: 1),
    "ReduceSliceMax": (lambda part, axis: part.amax(axis), _lowest),
    "ReduceSliceMin": (lambda part, axis: part.amin(axis), _highest),
}


@kernel(*_REDUCTIONS, fresh=True)
def _(node):
    reduce, of_empty = _REDUCTIONS[node.type]

    def run(data, indices, axis):
        place = int(axis)
        bounds = to_array(indices)
        if bounds.ndim == 1:
            pairs = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        else:
            pairs = bounds.tolist()
        size = data.shape[place]
        shape = list(data.shape)
        shape[place] = len(pairs)
        result = torch.full(shape, of_empty(data.dtype), dtype=data.dtype, device=data.device)
        for number, (start, end) in enumerate(pairs):
            start, end = max(start, 0), min(end, size)
            if start < end:
                part = data.narrow(place, start, end - start)
                result.select(place, number).copy_(reduce(part, place))
        return result

    return run
