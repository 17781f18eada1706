"""The kernels of rows replaced, or added to."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.bounds_on_gpu import replace_rows
from penstock.kernels.registry import kernel
from penstock.kernels.rows import has_repeats, last_of_each
from penstock.kernels.signed_bits import as_signed


def _checked_rows(x, i, v):
    if i.dim() != 1:
        raise InvalidArgumentError(None, None, f"i must be a vector. {list(i.shape)}")
    if x.dim() != v.dim():
        raise InvalidArgumentError(
            None,
            None,
            f"x and v shape doesn't match (ranks differ): {list(x.shape)}, {list(v.shape)}",
        )
    if x.shape[1:] != v.shape[1:]:
        raise InvalidArgumentError(
            None, None, f"x and v shape doesn't match: {list(x.shape)}, {list(v.shape)}"
        )
    if i.shape[0] != v.shape[0]:
        raise InvalidArgumentError(
            None, None, f"i and x shape doesn't match at index 0: {i.shape[0]}, {v.shape[0]}"
        )
    if not x.shape[0] and len(i):
        raise InvalidArgumentError(None, None, "there is no row to change in an empty x")
    return i.long() % max(1, x.shape[0])


@kernel("InplaceUpdate", fresh=True)
def _(node):
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
    return torch.clone
