"""Kernels that move blocks of space into the batch or depth dimension, and back."""

import math

import torch

from penstock import errors
from penstock.kernels.known_inputs import is_text, known_list
from penstock.kernels.registry import kernel
from penstock.kernels.string_arrays import rearranged

# Batch ----------------------------------------------------------------------------------------


def _check_block(block, borders, rank, what):
    if rank < len(block) + 1:
        message = f"input rank should be >= {len(block) + 1} instead of {rank}"
        raise errors.InvalidArgumentError(None, None, message)
    if any(size < 1 for size in block):
        message = f"All values in block_shape must be positive, got {block}"
        raise errors.InvalidArgumentError(None, None, message)
    if len(borders) != len(block):
        message = f"{what} should have shape [{len(block)}, 2] instead of [{len(borders)},2]"
        raise errors.InvalidArgumentError(None, None, message)
    if any(min(border) < 0 for border in borders):
        message = f"{what.capitalize()} must be non-negative, got {borders}"
        raise errors.InvalidArgumentError(None, None, message)


def _to_batch(x, block, paddings):
    count, rest = len(block), tuple(x.shape[len(block) + 1 :])
    if any(map(any, paddings)):
        flat = [size for border in reversed(paddings) for size in border]
        x = torch.constant_pad_nd(x, [0, 0] * len(rest) + flat)
    split = [x.shape[0]]
    for i, size in enumerate(block):
        if x.shape[i + 1] % size:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"padded_shape[{i}]={x.shape[i + 1]} is not divisible by block_shape[{i}]={size}",
            )
        split += [x.shape[i + 1] // size, size]
    within = range(2, 2 * count + 1, 2)
    between = range(1, 2 * count, 2)
    after = range(2 * count + 1, 2 * count + 1 + len(rest))
    moved = x.reshape((*split, *rest)).permute((*within, 0, *between, *after))
    batch = x.shape[0] * math.prod(block)
    return moved.reshape((batch, *[split[axis] for axis in between], *rest))


def _to_space(x, block, crops):
    count, rest = len(block), tuple(x.shape[len(block) + 1 :])
    cells = math.prod(block)
    if x.shape[0] % cells:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes "
            f"({cells})",
        )
    batch = x.shape[0] // cells
    split = x.reshape((*block, batch, *x.shape[1 : count + 1], *rest))
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    sizes = [x.shape[i + 1] * block[i] for i in range(count)]
    whole = split.permute(order).reshape((batch, *sizes, *rest))
    for i, (before, after) in enumerate(crops):
        if before + after > sizes[i]:
            message = f"cropped_shape[{i}]={sizes[i] - before - after} must be non-negative"
            raise errors.InvalidArgumentError(None, None, message)
        if before or after:
            whole = whole.narrow(i + 1, before, sizes[i] - before - after)
    return whole


def _register(op_type, move, what):
    @kernel(f"{op_type}ND")
    def _(node, env):
        known_block, known_borders = known_list(node, env, 1), known_list(node, env, 2)

        def run(x, block, borders):
            block = known_block if known_block is not None else block.tolist()
            borders = known_borders if known_borders is not None else borders.tolist()
            _check_block(block, borders, x.dim(), what)
            return move(x, block, borders)

        return run

    @kernel(op_type)
    def _(node):
        block = [node.attrs["block_size"]] * 2

        def run(x, borders):
            borders = borders.tolist()
            _check_block(block, borders, x.dim(), what)
            return move(x, block, borders)

        return run


_register("SpaceToBatch", _to_batch, "paddings")
_register("BatchToSpace", _to_space, "crops")


# Depth ----------------------------------------------------------------------------------------


@kernel("SpaceToDepth")
def _(node):
    block, is_last = node.attrs["block_size"], node.attrs["data_format"] == "NHWC"

    def run(x):
        n, h, w, c = x.shape if is_last else x.permute(0, 2, 3, 1).shape
        h, w = h // block, w // block
        if is_last:
            cells = x.reshape(n, h, block, w, block, c).permute(0, 1, 3, 2, 4, 5)
            return cells.reshape(n, h, w, block * block * c)
        cells = x.reshape(n, c, h, block, w, block).permute(0, 3, 5, 1, 2, 4)
        return cells.reshape(n, block * block * c, h, w)

    return rearranged(run) if is_text(node) else run


@kernel("DepthToSpace")
def _(node):
    block, is_last = node.attrs["block_size"], node.attrs["data_format"] == "NHWC"

    def run(x):
        n, h, w, c = x.shape if is_last else x.permute(0, 2, 3, 1).shape
        c //= block * block
        if is_last:
            cells = x.reshape(n, h, w, block, block, c).permute(0, 1, 3, 2, 4, 5)
            return cells.reshape(n, h * block, w * block, c)
        cells = x.reshape(n, block, block, c, h, w).permute(0, 3, 4, 1, 5, 2)
        return cells.reshape(n, c, h * block, w * block)

    return rearranged(run) if is_text(node) else run
