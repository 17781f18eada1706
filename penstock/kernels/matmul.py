"""Kernels of products of matrices, of batches of matrices, and of vectors in space."""

import torch

from penstock import errors, shapes
from penstock.kernels.large_products import biased_product_of, product_of
from penstock.kernels.registry import kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, in_int64
from penstock.kernels.values import torch_type


def _product(node, mm):
    """The product of a node; `t()` is a view, which `mm` reads in place."""
    turn_a, turn_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if turn_a and turn_b:
        return lambda a, b: mm(a.t(), b.t())
    if turn_a:
        return lambda a, b: mm(a.t(), b)
    if turn_b:
        return lambda a, b: mm(a, b.t())
    return mm


@kernel("MatMul", fresh=True)
def _(node, env):
    return _product(node, product_of(node.attrs["T"], env.torch_device))


@kernel("_BiasedMatMul", fresh=True)
def _(node, env):
    attrs = node.attrs
    product = biased_product_of(attrs["T"], env.torch_device, attrs["rectified"])
    turn_a, turn_b = attrs["transpose_a"], attrs["transpose_b"]

    def run(a, b, bias):
        return product(bias, a.t() if turn_a else a, b.t() if turn_b else b)

    return run


@kernel("SparseMatMul", fresh=True)
def _(node):
    product = _product(node, torch.mm)
    return lambda a, b: product(a.float(), b.float())


@kernel("BatchMatMul", "BatchMatMulV2", fresh=True)
def _(node):
    return _batch_product(node)


@kernel("BatchMatMulV3", fresh=True)
def _(node):
    product, target = _batch_product(node), torch_type(node.attrs["Tout"])
    return lambda x, y: product(x.to(target), y.to(target))


def _batch_product(node):
    x, y = (edge.shape for edge in node.inputs)
    known = x is not None and y is not None
    if known and len(x) == len(y) == 3 and x[0] is not None and x[0] == y[0]:
        product = torch.bmm
    elif known and None not in x + y and min(len(x), len(y)) >= 2:
        product = torch.matmul
    else:
        product = _checked_product(broadcasts=node.type != "BatchMatMul")
    turn_x, turn_y = node.attrs["adj_x"], node.attrs["adj_y"]
    if turn_x and turn_y:
        return lambda x, y: product(x.mH, y.mH)
    if turn_x:
        return lambda x, y: product(x.mH, y)
    if turn_y:
        return lambda x, y: product(x, y.mH)
    return product


def _checked_product(broadcasts):
    """ATen's product, which would also take vectors, and broadcast where the op does not."""

    def product(x, y):
        if x.dim() < 2 or y.dim() < 2:
            raise ValueError("a factor is no matrix")
        if not broadcasts and x.shape[:-2] != y.shape[:-2]:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"In[0] and In[1] must have the same batch dimensions: {list(x.shape)} and "
                f"{list(y.shape)}",
            )
        return torch.matmul(x, y)

    return product


@kernel("Cross", fresh=True)
def _(node):
    if node.attrs["T"] in WIDE_UNSIGNED:
        return lambda a, b: in_int64(lambda wide: _cross(wide, b.to(torch.int64)))(a)
    return _cross


def _cross(a, b):
    shown = shapes.text(tuple(a.shape))
    if a.shape != b.shape:
        other = shapes.text(tuple(b.shape))
        message = f"Both inputs must be of same shape: {shown} vs. {other}"
        raise errors.InvalidArgumentError(None, None, message)
    if a.shape[-1:] != (3,):
        message = f"Cross-products are only defined for 3-element vectors: {shown}"
        raise errors.FailedPreconditionError(None, None, message)
    return torch.linalg.cross(a, b, dim=-1)
