"""Kernels of tensors with a border added."""

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.known_inputs import is_text, known_list, known_number
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import moving
from penstock.kernels.string_arrays import rearranged


def _check_borders(borders, shape):
    if len(borders) != len(shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The first dimension of paddings must be the rank of inputs[{len(borders)},2] "
            f"{shapes.text(tuple(shape))}",
        )
    for before, after in borders:
        if before < 0 or after < 0:
            message = f"Paddings must be non-negative: {before} {after}"
            raise errors.InvalidArgumentError(None, None, message)


def _flat(borders):
    """The borders as ATen wants them: the last dimension first, in one list."""
    return [size for border in reversed(borders) for size in border]


def _is_cut(borders):
    return any(border < 0 for pair in borders for border in pair)


def _known_filler(node, env):
    if node.type == "Pad":
        return 0
    return known_number(node, env, 2) if node.inputs[2].shape == () else None


def _pad_text(x, paddings, filler=None):
    borders = paddings.tolist()
    _check_borders(borders, x.shape)
    sizes = [before + size + after for (before, after), size in zip(borders, x.shape, strict=True)]
    result = np.full(sizes, b"" if filler is None else filler.item(), object)
    result[tuple(slice(b, b + size) for (b, _), size in zip(borders, x.shape, strict=True))] = x
    return result


@kernel("Pad", "PadV2", fresh=True)
def _(node, env):
    if is_text(node):
        return _pad_text
    borders = known_list(node, env, 1)
    value = _known_filler(node, env)
    shape = node.inputs[0].shape
    if borders is not None and value is not None and shape is not None and not _is_cut(borders):
        flat = _flat(borders)
        return lambda x, *_: torch.constant_pad_nd(x, flat, value)

    def run(x, paddings, filler=None):
        borders = paddings.tolist()
        _check_borders(borders, x.shape)
        if filler is not None and filler.dim():
            message = f"constant_values must be a scalar, got shape {list(filler.shape)}"
            raise errors.InvalidArgumentError(None, None, message)
        return torch.constant_pad_nd(x, _flat(borders), 0 if filler is None else filler.item())

    return run


# Mirrored -------------------------------------------------------------------------------------


def _mirrored(x, axis, before, after, skip):
    """`x` with its first and last elements mirrored along `axis`, but for `skip` at the edge."""
    size = x.shape[axis]
    parts = [
        x.narrow(axis, skip, before).flip(axis),
        x,
        x.narrow(axis, size - skip - after, after).flip(axis),
    ]
    return torch.cat(parts, axis)


def _folded_back(grad, axis, before, after, skip):
    """The gradient of `_mirrored`: the border added to the elements that it mirrors."""
    size = grad.shape[axis] - before - after
    result = grad.narrow(axis, before, size).clone()
    result.narrow(axis, skip, before).add_(grad.narrow(axis, 0, before).flip(axis))
    border = grad.narrow(axis, before + size, after).flip(axis)
    result.narrow(axis, size - skip - after, after).add_(border)
    return result


def _check_mirror(borders, sizes, skip, what):
    for (before, after), size in zip(borders, sizes, strict=True):
        if max(before, after) > size - skip:
            relation = "less than" if skip else "no greater than"
            seen = "not less than" if skip else "greater than"
            raise errors.InvalidArgumentError(
                None,
                None,
                f"paddings must be {relation} the {what}dimension size: {before}, {after} {seen} "
                f"{size}",
            )


@kernel("MirrorPad")
def _(node):
    skip = 1 if node.attrs["mode"] == "REFLECT" else 0

    def run(x, paddings):
        borders = paddings.tolist()
        _check_borders(borders, x.shape)
        _check_mirror(borders, x.shape, skip, "")
        for axis, (before, after) in enumerate(borders):
            if before or after:
                x = _mirrored(x, axis, before, after, skip)
        return x

    return rearranged(run) if is_text(node) else moving(node, run)


@kernel("MirrorPadGrad")
def _(node):
    skip = 1 if node.attrs["mode"] == "REFLECT" else 0

    def run(grad, paddings):
        borders = paddings.tolist()
        _check_borders(borders, grad.shape)
        sizes = [size - sum(border) for size, border in zip(grad.shape, borders, strict=True)]
        _check_mirror(borders, sizes, skip, "output ")
        for axis, (before, after) in enumerate(borders):
            if before or after:
                grad = _folded_back(grad, axis, before, after, skip)
        return grad

    return moving(node, run)
