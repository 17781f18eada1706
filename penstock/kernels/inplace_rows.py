"""The kernels of rows replaced, or added to."""

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.bounds_on_gpu import replace_rows
from penstock.kernels.known_inputs import is_text
from penstock.kernels.registry import kernel
from penstock.kernels.rows import has_repeats, last_of_each
from penstock.kernels.signed_bits import as_signed
from penstock.shapes import text


def _checked_rows(x, i, v):
    shapes = [text(tuple(each.shape)) for each in (i, x, v)]
    message = None
    if i.dim() != 1:
        message = f"i must be a vector. {shapes[0]}"
    elif x.ndim != v.ndim:
        message = f"x and v shape doesn't match (ranks differ): {shapes[1]} vs. {shapes[2]}"
    elif x.shape[1:] != v.shape[1:]:
        message = f"x and v shape doesn't match: {shapes[1]} vs. {shapes[2]}"
    elif i.shape[0] != v.shape[0]:
        message = f"i and x shape doesn't match at index 0: {shapes[0]} vs. {shapes[2]}"
    elif not x.shape[0] and len(i):
        message = "there is no row to change in an empty x"
    if message is not None:
        raise InvalidArgumentError(None, None, message)
    return i.long() % max(1, x.shape[0])


def _update_text(x, i, v):
    result = x.copy()
    for row, value in zip(_checked_rows(x, i, v).tolist(), v, strict=True):
        result[row] = value
    return result


@kernel("InplaceUpdate", fresh=True)
def _(node):
    if is_text(node):
        return _update_text

    def run(x, i, v):
        rows = _checked_rows(x, i, v)
        if x.is_cuda:
            return replace_rows(x.clone(), rows, v)
        if has_repeats(rows, x.shape[0]):  # then the last value holds
            last = last_of_each(rows)
            rows, v = rows[last], as_signed(v)[last]
        result = x.clone()
        as_signed(result).index_copy_(0, rows, as_signed(v))
        return result

    return run


@kernel("InplaceAdd", fresh=True)
def _(node):
    return lambda x, i, v: x.index_add(0, _checked_rows(x, i, v), v)


@kernel("InplaceSub", fresh=True)
def _(node):
    return lambda x, i, v: x.index_add(0, _checked_rows(x, i, v), v, alpha=-1)


@kernel("DeepCopy", fresh=True)
def _(node):
    return np.copy if is_text(node) else torch.clone
