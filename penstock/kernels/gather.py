"""Kernels of slices taken from a tensor by their indices."""

import math

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.kernels import variants
from penstock.kernels.bounds_on_gpu import flat_or_negative, outside, select_or_zero
from penstock.kernels.known_inputs import is_text, known_number
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import moving

# Along one dimension --------------------------------------------------------------------------


def _refuse(indices, limit):
    """Raises TensorFlow's error where an index is outside of [0, limit); else does nothing."""
    indices = indices.cpu()
    outside = torch.nonzero((indices < 0) | (indices >= limit))
    if len(outside):
        place = outside[0].tolist()
        value = indices[tuple(place)].item()
        position = f"[{','.join(map(str, place))}]" if place else ""
        raise errors.InvalidArgumentError(
            None, None, f"indices{position} = {value} is not in [0, {limit})"
        )


def _select(params, indices, axis):
    """The slices of `params` along an axis; on the host ATen itself checks the indices."""
    if params.is_cuda:
        axis %= params.dim()
        picked = select_or_zero(params, indices.reshape(-1), axis)
        return picked.view(params.shape[:axis] + indices.shape + params.shape[axis + 1 :])
    try:
        if indices.dim() == 1:
            return params.index_select(axis, indices)
        axis %= params.dim()
        picked = params.index_select(axis, indices.reshape(-1))
        return picked.reshape(params.shape[:axis] + indices.shape + params.shape[axis + 1 :])
    except (IndexError, RuntimeError):
        _refuse(indices, params.shape[axis])
        raise


def _select_rows(params, indices, *_):
    """`_select` along the first dimension of a matrix, in one call; the axis is known."""
    if params.is_cuda:
        return _select(params, indices, 0)
    try:
        return torch.embedding(params, indices)
    except (IndexError, RuntimeError):
        _refuse(indices, params.shape[0])
        raise


def _select_text(params, indices, axis):
    _refuse(indices, params.shape[axis])
    return np.asarray(np.take(params, indices.numpy(), axis=axis), dtype=object)


def _select_variants(params, indices, axis):
    _refuse(indices, params.shape[axis])
    return variants.single(params.take(indices.numpy(), axis=axis))


def _select_batched(params, indices, axis, batch):
    """`_select` for each entry of the leading `batch` dimensions that both have."""
    if params.shape[:batch] != indices.shape[:batch]:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"params.shape[:{batch}] = {list(params.shape[:batch])} should be equal to "
            f"indices.shape[:{batch}] = {list(indices.shape[:batch])}",
        )
    shape = params.shape
    inner = math.prod(shape[axis + 1 :])
    cells = params.reshape(
        math.prod(shape[:batch]), math.prod(shape[batch:axis]), shape[axis], inner
    )
    spread = indices.reshape(cells.shape[0], 1, -1, 1).long()
    if cells.numel():
        spread = spread.expand(-1, cells.shape[1], -1, inner)
    if params.is_cuda:
        picked = _gather_or_zero(cells, spread)
    else:
        _refuse(indices, shape[axis])
        picked = cells.gather(2, spread)
    return picked.reshape(shape[:axis] + indices.shape[batch:] + shape[axis + 1 :])


def _gather_or_zero(cells, spread):
    if not cells.numel():
        return cells.new_zeros((*cells.shape[:2], spread.shape[2], cells.shape[3]))
    nearest, bad = outside(spread, cells.shape[2])
    return cells.gather(2, nearest).masked_fill_(bad, 0)


@kernel("Gather", fresh=True)
def _(node):
    if is_text(node):
        return lambda params, indices: _select_text(params, indices, 0)
    return moving(node, _row_selector(node))


def _row_selector(node):
    shape = node.inputs[0].shape
    if shape is not None and len(shape) == 2:
        return _select_rows
    return lambda params, indices, *_: _select(params, indices, 0)


@kernel("GatherV2", fresh=True)
def _(node, env):
    batch = node.attrs["batch_dims"]
    known = known_number(node, env, 2)
    if node.inputs[0].dtype.base_dtype is dtypes.variant and not batch:
        return lambda params, indices, axis: _select_variants(params, indices, int(axis))
    if is_text(node):
        if batch:
            return lambda params, indices, axis: _select_text_batched(
                params, indices, int(axis), batch
            )
        return lambda params, indices, axis: _select_text(params, indices, int(axis))
    narrow = node.inputs[1].dtype.name == "int16"
    if known == 0 and node.inputs[0].shape and not batch and not narrow:
        return moving(node, _row_selector(node))

    def run(params, indices, axis):
        if not params.dim():
            raise errors.InvalidArgumentError(None, None, "params must be at least 1 dimensional")
        if known is None and axis.dim():
            raise errors.InvalidArgumentError(None, None, "axis must be scalar")
        axis = known if known is not None else axis.item()
        if not -params.dim() <= axis < params.dim():
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected axis in the range [{-params.dim()}, {params.dim()}), but got {axis}",
            )
        if narrow:
            indices = indices.int()
        if not batch:
            return _select(params, indices, axis)
        leading = batch + indices.dim() if batch < 0 else batch
        return _select_batched(params, indices, axis % params.dim(), leading)

    return moving(node, run)


def _select_text_batched(params, indices, axis, batch):
    """Strings by their places, which are gathered as numbers."""
    places = torch.arange(params.size).reshape(params.shape)
    leading = batch + indices.dim() if batch < 0 else batch
    chosen = _select_batched(places, indices, axis % params.ndim, leading)
    return np.asarray(params.reshape(-1)[chosen.numpy()], dtype=object)


# Along several dimensions ---------------------------------------------------------------------


def row_numbers(indices, sizes, what):
    """Positions [..., k] in dimensions of `sizes` as numbers of rows in one dimension.

    `what` is how an error names the tensor that is indexed. On a GPU a position out of range is
    row number -1.
    """
    if indices.is_cuda:
        return flat_or_negative(indices, sizes)
    limits = torch.tensor(sizes, dtype=torch.int64)
    indices = indices.to(torch.int64)
    if ((indices < 0) | (indices >= limits)).any():
        _refuse_position(indices, limits, what)
    if len(sizes) == 1:
        return indices.reshape(-1)
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    weights = torch.tensor(steps, dtype=torch.int64, device=indices.device)
    return (indices * weights).sum(-1).reshape(-1)


def _refuse_position(indices, limits, what):
    outside = ((indices < 0) | (indices >= limits)).any(-1)
    place = torch.nonzero(outside)[0].tolist()
    position = f"[{','.join(map(str, place))}]" if place else ""
    value = indices[tuple(place)].tolist()
    raise errors.InvalidArgumentError(
        None, None, f"indices{position} = {value} does not index into {what}"
    )


def _rows_of(params, indices):
    """The numbers of the rows that indices [..., k] name, where k dimensions make the rows."""
    depth = indices.shape[-1]
    if not depth:
        return torch.zeros(math.prod(indices.shape[:-1]), dtype=torch.int64, device=indices.device)
    what = f"param shape [{','.join(map(str, params.shape))}]"
    return row_numbers(indices, list(params.shape[:depth]), what)


def _check_nonempty(params, indices):
    message = None
    if not params.ndim or not indices.ndim:
        message = f"{'indices' if params.ndim else 'params'} must be at least a vector"
    elif not math.prod(params.shape) and math.prod(indices.shape[:-1]):
        message = (
            "Requested more than 0 entries, but params is empty.  "
            f"Params shape: {shapes.text(tuple(params.shape))}"
        )
    if message is not None:
        raise errors.InvalidArgumentError(None, None, message)


@kernel("GatherNd", fresh=True)
def _(node):
    text = is_text(node)

    def run(params, indices):
        _check_nonempty(params, indices)
        depth = indices.shape[-1]
        inner = tuple(params.shape[depth:])
        rows = params.reshape((math.prod(params.shape[:depth]), *inner))
        numbers = _rows_of(params, indices)
        if text:
            picked = rows[numbers.numpy()]
        elif rows.is_cuda:
            picked = select_or_zero(rows, numbers)
        else:
            picked = rows.index_select(0, numbers)
        return picked.reshape(tuple(indices.shape[:-1]) + inner)

    return run if text else moving(node, run)
