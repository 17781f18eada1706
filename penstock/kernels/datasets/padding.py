"""Datasets of batches whose elements are padded to one shape."""

from __future__ import annotations

import numpy as np
import torch

from penstock import dtypes, errors
from penstock.kernels.datasets.batching import Batched, batch_count, positive_batch_size
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import brackets, invalid
from penstock.kernels.values import to_array, torch_type
from penstock.state.datasets import DerivedDataset


def _padded_shape(parts, wanted, number):
    """The shape that all values of a component are padded to: -1 is the largest size."""
    shape = list(wanted)
    for part in parts:
        if part.ndim != len(wanted):
            raise invalid(
                "All elements in a batch must have the same rank as the padded shape for "
                f"component{number}: expected rank {len(wanted)} but got element with rank "
                f"{part.ndim}"
            )
        for axis, size in enumerate(part.shape):
            if wanted[axis] == -1:
                shape[axis] = max(shape[axis], size)
            elif size > wanted[axis]:
                raise errors.DataLossError(
                    None,
                    None,
                    "Attempted to pad to a smaller size than the input element: component "
                    f"{number} has shape {brackets(part.shape)}, padded shape "
                    f"{brackets(wanted)}",
                )
    return [max(size, 0) for size in shape]


def _padder(dtype, number, wanted, value):
    """The function that joins the values of one component."""
    if dtype is dtypes.string:
        filler = value.item()

        def empty(shape):
            batch = np.empty(shape, dtype=object)
            batch[...] = filler
            return batch
    else:
        filler, kind = value.item(), torch_type(dtype)

        def empty(shape):
            return torch.full(shape, filler, dtype=kind)

    def join(parts):
        shape = _padded_shape(parts, wanted, number)
        if dtype is not dtypes.string and all(list(part.shape) == shape for part in parts):
            return torch.stack(parts)
        batch = empty([len(parts), *shape])
        for place, part in enumerate(parts):
            corner = (place, *map(slice, part.shape))
            batch[corner] = part if part.ndim else part.item()
        return batch

    return join


@dataset_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def _(node):
    types = node.attrs["Toutput_types"]
    has_flag = node.type == "PaddedBatchDatasetV2"

    def run(source, size, *rest):
        size, drop = positive_batch_size(size), bool(rest[-1]) if has_flag else False
        count = len(types)
        shapes = [to_array(rest[number]).tolist() for number in range(count)]
        for wanted in shapes:
            if wanted and min(wanted) < -1:
                raise invalid(f"Dimension {min(wanted)} must be >= -1")
        joiners = [
            _padder(dtype, number, shapes[number], rest[count + number])
            for number, dtype in enumerate(types)
        ]

        def join(elements):
            columns = zip(*elements, strict=True)
            return tuple([joiner(parts) for joiner, parts in zip(joiners, columns, strict=True)])

        return DerivedDataset(
            source,
            lambda elements, _: Batched(elements, size, drop, join),
            lambda number: batch_count(number, size, drop),
        )

    return run
