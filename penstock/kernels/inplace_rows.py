"""The kernels of rows replaced, or added to."""

import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel


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
    return i.long() % x.shape[0]


@kernel("InplaceUpdate", fresh=True)
def _(node):
    def run(x, i, v):
        result = x.clone()
        for row, value in zip(_checked_rows(x, i, v).tolist(), v, strict=True):
            result[row] = value  # of a row that is listed twice, the last value holds
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
