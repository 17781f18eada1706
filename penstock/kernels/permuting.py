"""Kernels of tensors with their elements in another order."""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.known_inputs import is_text, known_list
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import moving
from penstock.ops.permuting import check_reversed_axes


def _check_permutation(perm, rank):
    """A clear error where ATen would only say that something does not match."""
    for axis in range(rank):
        if axis not in [entry % rank for entry in perm]:
            missing = f"{axis} is missing from {{{','.join(map(str, perm))}}}."
            raise errors.InvalidArgumentError(None, None, missing)


def _permute(x, perm):
    try:
        return x.permute(perm)
    except RuntimeError:
        if len(perm) == x.dim():
            _check_permutation(perm, x.dim())
        raise


@kernel("Transpose")
def _(node, env):
    if is_text(node):
        return lambda x, perm: np.transpose(x, perm.tolist())
    known = known_list(node, env, 1)
    if known is None:
        return lambda x, perm: _permute(x, perm.tolist())
    return lambda x, _: _permute(x, known)


@kernel("ConjugateTranspose")
def _(node):
    return lambda x, perm: _permute(x, perm.tolist()).conj_physical()


@kernel("InvertPermutation", fresh=True)
def _(node):
    def run(x):
        places = torch.arange(x.shape[0], dtype=x.dtype, device=x.device)
        inverse = torch.zeros_like(x)
        if x.numel():
            low, high = torch.aminmax(x)
            if int(low) < 0 or int(high) >= x.numel():
                _refuse_permutation(x.tolist())
            inverse.index_copy_(0, x.long(), places)
            # Where an entry occurs twice, another one has no place and keeps a zero.
            if not torch.equal(x.index_select(0, inverse.long()), places):
                _refuse_permutation(x.tolist())
        return inverse

    return run


def _refuse_permutation(entries):
    for i, entry in enumerate(entries):
        if not 0 <= entry < len(entries):
            message = f"{entry} is not between 0 and {len(entries)}"
            raise errors.InvalidArgumentError(None, None, message)
        if entry in entries[:i]:
            message = f"{entry} is duplicated in the input."
            raise errors.InvalidArgumentError(None, None, message)


# Reverse --------------------------------------------------------------------------------------


@kernel("Reverse", fresh=True)
def _(node):
    flip = _flip(node)

    def run(x, dims):
        chosen = dims.tolist()
        if len(chosen) != len(x.shape):
            raise errors.InvalidArgumentError(
                None,
                None,
                "'dims' must have the same number of values as 'input' has dimensions. 'input' has "
                f"{len(x.shape)}'dims' has {len(chosen)} values",
            )
        return flip(x, [axis for axis, is_chosen in enumerate(chosen) if is_chosen])

    return run


@kernel("ReverseV2", fresh=True)
def _(node, env):
    flip = _flip(node)
    known = known_list(node, env, 1)
    if known is not None and node.inputs[0].shape is not None:
        return lambda x, _: flip(x, known)

    def run(x, axes):
        axes = axes.tolist()
        check_reversed_axes(axes, len(x.shape))
        return flip(x, axes)

    return run


def _flip(node):
    if is_text(node):
        return lambda x, axes: np.flip(x, tuple(axes)).copy()
    return moving(node, torch.flip)


@kernel("ReverseSequence", fresh=True)
def _(node):
    sequence, batch = node.attrs["seq_dim"], node.attrs["batch_dim"]
    text = is_text(node)

    def run(x, lengths):
        if batch == sequence:
            message = f"batch_dim == seq_dim == {sequence}"
            raise errors.InvalidArgumentError(None, None, message)
        _check_lengths(lengths, x.shape[batch], x.shape[sequence], sequence)
        place = torch.arange(x.shape[sequence], device=lengths.device)
        column = lengths.long().unsqueeze(1)
        source = torch.where(place < column, column - 1 - place, place)
        rows = torch.arange(x.shape[batch], device=lengths.device).unsqueeze(1)
        if text:
            moved = np.moveaxis(x, (batch, sequence), (0, 1))[rows.numpy(), source.numpy()]
            return np.moveaxis(moved, (0, 1), (batch, sequence))
        rows, source = rows.to(x.device), source.to(x.device, non_blocking=True)
        return x.movedim((batch, sequence), (0, 1))[rows, source].movedim((0, 1), (batch, sequence))

    return run if text else moving(node, run)


def _check_lengths(lengths, count, limit, axis):
    if lengths.shape[0] != count:
        message = f"Length of seq_lens != input.dims({count}), ({lengths.shape[0]} vs. {count})"
        raise errors.InvalidArgumentError(None, None, message)
    for i, length in enumerate(lengths.tolist()):
        if length < 0:
            raise errors.InvalidArgumentError(None, None, f"seq_lens({i}) < 0")
        if length > limit:
            message = f"seq_lens({i}) > input.dims({axis})"
            raise errors.InvalidArgumentError(None, None, message)
