"""Kernels of rows of unequal length. Where rows begin is known on the host."""

from itertools import pairwise

import numpy as np
import torch

from penstock import errors
from penstock.kernels.known_inputs import is_text
from penstock.kernels.output_lists import as_outputs
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.signed_bits import as_signed
from penstock.kernels.values import torch_type


def _refuse(message):
    raise errors.InvalidArgumentError(None, None, message)


def ranges(starts, lengths):
    """The numbers start, start + 1 … of each row, one row after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + lengths, lengths)


# Range ----------------------------------------------------------------------------------------


@kernel("RaggedRange", devices=HOST, fresh=True)
def _(node):
    splits_type = torch_type(node.dtypes[0])

    def run(starts, limits, deltas):
        given = [each for each in (starts, limits, deltas) if each.dim()]
        count = given[0].shape[0] if given else 1
        if any(each.shape[0] != count for each in given):
            _refuse("starts, limits, and deltas must have the same shape")
        starts, limits, deltas = (each.expand(count) for each in (starts, limits, deltas))
        if (deltas == 0).any():
            _refuse("Requires delta != 0")
        lengths = _range_sizes(starts, limits, deltas)
        splits = torch.zeros(count + 1, dtype=torch.int64)
        torch.cumsum(lengths, 0, out=splits[1:])
        if splits_type is torch.int32 and splits[-1] > 2**31 - 1:
            _refuse(
                "Requires ((limit - start) / delta) to have a total size that fits Tsplits; "
                "specify 'Tsplits=int64'"
            )
        within = torch.arange(int(splits[-1])) - splits[:-1].repeat_interleave(lengths)
        first, step = (each.repeat_interleave(lengths) for each in (starts, deltas))
        return splits.to(splits_type), first + within.to(starts.dtype) * step

    return run


def _range_sizes(starts, limits, deltas):
    if starts.is_floating_point():
        return ((limits - starts) / deltas).double().ceil().clamp_(min=0).long()
    span = limits.long() - starts.long()
    return (-torch.div(-span, deltas.long(), rounding_mode="floor")).clamp_(min=0)


# Gather ---------------------------------------------------------------------------------------


@kernel("RaggedGather", devices=HOST, fresh=True)
def _(node):
    params_rank = node.attrs["PARAMS_RAGGED_RANK"]
    text = is_text(node, params_rank)

    def run(*inputs):
        nested = [each.numpy().astype(np.int64) for each in inputs[:params_rank]]
        values, indices = inputs[params_rank:]
        _check_splits(nested, values.shape[0])
        rows = indices.reshape(-1).numpy().astype(np.int64)
        bad = np.nonzero((rows < 0) | (rows >= len(nested[0]) - 1))[0]
        if bad.size:
            _refuse(
                f"indices{_place(bad[0], indices.shape)} = {rows[bad[0]]} is not in "
                f"[0, {len(nested[0]) - 1})"
            )
        outer = _dense_splits(indices.shape)
        inner = []
        for splits in nested:
            lengths = splits[rows + 1] - splits[rows]
            inner.append(np.concatenate([[0], np.cumsum(lengths)]))
            rows = ranges(splits[rows], lengths)
        if not indices.dim():
            inner = inner[1:]  # one row has no dimension of rows
        kind = inputs[0].dtype
        result = [torch.from_numpy(np.ascontiguousarray(each)).to(kind) for each in outer + inner]
        return *result, _rows_of(values, rows, text)

    return as_outputs(node, run)


def _check_splits(nested, count):
    for place, splits in enumerate(nested):
        if not len(splits):
            _refuse("Ragged splits may not be empty")
        limit = len(nested[place + 1]) - 1 if place + 1 < len(nested) else count
        if splits[0] < 0:
            _refuse("Ragged splits must be non-negative")
        if splits[-1] > limit:
            _refuse("Ragged splits must not point past values")
        if (np.diff(splits) < 0).any():
            _refuse("Ragged splits must be sorted in ascending order")


def _place(flat, shape):
    if not len(shape):
        return ""
    return "[" + ",".join(str(i) for i in np.unravel_index(flat, tuple(shape))) + "]"


def _dense_splits(shape):
    """Where rows begin in the outer dimensions of a dense tensor of indices."""
    splits = []
    for axis in range(1, len(shape)):
        before = int(np.prod(shape[:axis]))
        splits.append(np.arange(before + 1) * int(shape[axis]))
    return splits


def _rows_of(values, rows, text):
    if text:
        return values[rows]
    return as_signed(values).index_select(0, torch.from_numpy(rows)).view(values.dtype)


# To sparse and dense tensors ------------------------------------------------------------------


@kernel("RaggedTensorToSparse", devices=HOST)
def _(node):
    rank = node.attrs["RAGGED_RANK"]

    def run(*inputs):
        nested = [each.numpy().astype(np.int64) for each in inputs[:rank]]
        values = inputs[rank]
        _check_whole_splits(nested, values.shape[0])
        inner = tuple(values.shape[1:])
        count = int(np.prod(inner))
        columns = [np.repeat(each, count) for each in _coordinates(nested)]
        grid = np.indices(inner).reshape(len(inner), count)
        columns += [np.tile(each, values.shape[0]) for each in grid]
        sizes = [len(nested[0]) - 1]
        sizes += [int(np.diff(splits).max(initial=0)) for splits in nested]
        return (
            torch.from_numpy(np.stack(columns, axis=1).astype(np.int64)),
            values.reshape(-1),
            torch.tensor([*sizes, *inner], dtype=torch.int64),
        )

    return run


_WRONG_END = "Final value of ragged splits must match the length the corresponding ragged array."


def _check_whole_splits(nested, count):
    for place, splits in enumerate(nested):
        if not len(splits) or splits[0] != 0:
            _refuse("First value of ragged splits must be 0.")
        if place and nested[place - 1][-1] != len(splits) - 1:
            _refuse(_WRONG_END)
    if nested[-1][-1] != count:
        _refuse(_WRONG_END)


def _coordinates(nested):
    """Of each flat value its row in every ragged dimension, and its place in the innermost row."""
    found = [np.arange(len(nested[0]) - 1)]
    for splits in nested:
        lengths = np.diff(splits)
        found = [np.repeat(each, lengths) for each in found]
        found.append(np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths))
    return found


@kernel("RaggedTensorToTensor", devices=HOST, fresh=True)
def _(node):
    kinds = [k.decode() if isinstance(k, bytes) else k for k in node.attrs["row_partition_types"]]
    text = is_text(node, 1)

    def run(shape, values, default, *partitions):
        nested = _as_splits(kinds, [each.numpy() for each in partitions])
        ragged_rank = len(nested)
        inner = tuple(values.shape[1:])
        natural = [len(nested[0]) - 1]
        natural += [int(np.diff(splits).max(initial=0)) for splits in nested]
        natural += inner
        wanted = shape.tolist() if shape.dim() else [-1] * len(natural)
        if len(wanted) != len(natural):
            _refuse(
                f"The shape {wanted} has rank {len(wanted)}, but the result needs {len(natural)}"
            )
        sizes = [n if w < 0 else w for w, n in zip(wanted, natural, strict=True)]
        outer = sizes[: ragged_rank + 1]
        coordinates = _coordinates(nested)
        fits = np.ones(len(coordinates[-1]), dtype=bool)
        for each, size in zip(coordinates, outer, strict=True):
            fits &= each < size
        kept = tuple(each[fits] for each in coordinates)
        source = np.nonzero(fits)[0]
        if text:
            result = np.empty(sizes, dtype=object)
            result[...] = default
            result[kept] = values[source]
            return result
        result = default.expand(sizes).clone(memory_format=torch.contiguous_format)
        if len(source):
            places = tuple(torch.from_numpy(each) for each in kept)
            as_signed(result)[places] = as_signed(values)[torch.from_numpy(source)]
        return result

    return run


def _as_splits(kinds, partitions):
    """The partitions of all dimensions as row splits."""
    nested = []
    rows = None
    for kind, partition in zip(kinds, partitions, strict=True):
        if kind == "FIRST_DIM_SIZE":
            rows = int(partition)
            continue
        if kind == "ROW_SPLITS":
            splits = partition.astype(np.int64)
        elif kind == "VALUE_ROWIDS":
            lengths = np.bincount(partition, minlength=rows or 0)
            splits = np.concatenate([[0], np.cumsum(lengths)])
        else:
            _refuse(f"Unsupported row partition type: {kind}")
        nested.append(splits)
        rows = int(splits[-1])
    return nested


# Variants -------------------------------------------------------------------------------------


class EncodedRagged:
    """A ragged tensor as one value: its splits from the outside in, and its flat values."""

    def __init__(self, nested, values):
        self.nested = nested
        self.values = values


@kernel("RaggedTensorToVariant", devices=HOST)
def _(node):
    batched = node.attrs["batched_input"]

    def run(*inputs):
        # What is encoded outlives the step, which may overwrite its values.
        *nested, values = (
            each.copy() if isinstance(each, np.ndarray) else each.clone() for each in inputs
        )
        if not batched:
            return _array([EncodedRagged(nested, values)]).reshape(())
        return _array(_encoded_rows(nested, values))

    return run


def _array(encoded):
    result = np.empty(len(encoded), dtype=object)
    result[:] = encoded
    return result


def _encoded_rows(nested, values):
    if not nested:
        return [EncodedRagged([], row) for row in values]
    bounds = nested[0].tolist()
    rows = []
    for first, last in pairwise(bounds):
        inner = []
        for splits in nested[1:]:
            part = splits[first : last + 1]
            first, last = int(part[0]), int(part[-1])
            inner.append(part - first)
        rows.append(EncodedRagged(inner, values[first:last]))
    return rows


@kernel("RaggedTensorFromVariant", devices=HOST)
def _(node):
    rank = node.attrs["output_ragged_rank"]
    splits_type = torch_type(node.attrs["Tsplits"])

    def run(encoded):
        nested, values = _decoded(encoded)
        if len(nested) != rank:
            _refuse(f"Expected a ragged rank of {rank}, got {len(nested)}")
        return *[splits.to(splits_type) for splits in nested], values

    return as_outputs(node, run)


def _decoded(encoded):
    """The splits and values of one encoded tensor, or of an array of them put together."""
    if isinstance(encoded, EncodedRagged):
        return encoded.nested, encoded.values
    if encoded.ndim == 0:
        return _decoded(encoded.item())
    parts = [_decoded(each) for each in encoded]
    if not parts:
        _refuse("No ragged tensor can be made of no rows")
    depth = len(parts[0][0])
    counts = [len(nested[0]) - 1 if depth else len(values) for nested, values in parts]
    outer = torch.tensor([0, *np.cumsum(counts).tolist()], dtype=torch.int64)
    nested = [outer]
    for level in range(depth):
        offset, pieces = 0, [torch.zeros(1, dtype=torch.int64)]
        for splits, _ in parts:
            pieces.append(splits[level][1:].long() + offset)
            offset += int(splits[level][-1])
        nested.append(torch.cat(pieces))
    values = [values for _, values in parts]
    joined = np.concatenate(values) if isinstance(values[0], np.ndarray) else torch.cat(values)
    return nested, joined
