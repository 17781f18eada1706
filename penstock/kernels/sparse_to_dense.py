"""The kernel of dense tensors with values at given positions."""

from __future__ import annotations

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import brackets, is_increasing, is_within
from penstock.kernels.values import is_host_type, to_array


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


@kernel("SparseToDense", devices=HOST, fresh=True)
def _(node):
    validate = node.attrs["validate_indices"]
    scatter = _scatter_objects if is_host_type(node.dtypes[0]) else _scatter

    def run(indices, output_shape, values, default):
        shape = output_shape.tolist()
        if indices.dim() > 2:
            raise _invalid(
                "sparse_indices should be a scalar, vector, or matrix, got shape "
                f"{brackets(indices.shape)}"
            )
        rows = indices.reshape(-1, 1) if indices.dim() < 2 else indices
        count, rank = rows.shape
        if rank != len(shape):
            raise _invalid(
                f"output_shape has incorrect number of elements: {len(shape)} should be: {rank}"
            )
        if tuple(values.shape) not in ((), (count,)):
            raise _invalid(
                f"sparse_values has incorrect shape {brackets(values.shape)}, should be [] or "
                f"[{count}]"
            )
        if default.shape != ():
            raise _invalid("default_value should be a scalar.")
        flat = _flat_positions(to_array(rows), shape, validate)
        return scatter(flat, shape, values, default)

    return run


def _flat_positions(rows, shape, validate):
    """Positions in the flattened result, checked."""
    if not is_within(rows, shape):
        if not validate:
            raise _invalid(f"Indices are not valid (out of bounds).  Shape: {brackets(shape)}")
        first = int(np.argmax(((rows < 0) | (rows >= shape)).any(axis=1)))
        raise _invalid(
            f"indices[{first}] = {brackets(rows[first])} is out of bounds: need 0 <= index < "
            f"{brackets(shape)}"
        )
    flat = np.zeros(len(rows), np.int64)
    for column, size in zip(rows.T, shape, strict=True):
        flat *= size
        flat += column
    if validate and not is_increasing(flat, strictly=True):
        first = int(np.argmax(flat[1:] <= flat[:-1])) + 1
        given = f"indices[{first}] = {brackets(rows[first])}"
        if flat[first] == flat[first - 1]:
            raise _invalid(f"{given} is repeated")
        raise _invalid(
            f"{given} is out of order. Many sparse ops require sorted indices. "
            "Use `tf.sparse.reorder` to create a correctly ordered copy."
        )
    return flat


def _scatter(flat, shape, values, default):
    result = torch.full(shape, default.item(), dtype=default.dtype)
    if values.dim() == 0:
        values = values.expand(flat.shape)
    # One after the other, so that of repeated positions the last counts.
    result.view(-1).scatter_(0, torch.from_numpy(flat), values)
    return result


def _scatter_objects(flat, shape, values, default):
    result = np.full(shape, default[()], dtype=object)
    result.reshape(-1)[flat] = values if values.ndim else values[()]
    return result
