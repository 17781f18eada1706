"""Kernels of shapes as tensors, and of tensors in other shapes."""

import math

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.known_inputs import is_text, known_list, known_number
from penstock.kernels.matrix_checks import invalid
from penstock.kernels.output_lists import as_outputs
from penstock.kernels.registry import kernel

_NUMPY_INDEX = {"int32": np.int32, "int64": np.int64}


def _out_type(node):
    return _NUMPY_INDEX[node.attrs["out_type"].name]


# By way of NumPy a small vector is made in less than half of the time that torch.tensor takes.


@kernel("Shape", fresh=True)
def _(node):
    out_type = _out_type(node)
    return lambda x: torch.from_numpy(np.array(x.shape, out_type))


@kernel("ShapeN", fresh=True)
def _(node):
    out_type = _out_type(node)
    return as_outputs(node, lambda *xs: [torch.from_numpy(np.array(x.shape, out_type)) for x in xs])


@kernel("Size", fresh=True)
def _(node):
    out_type = _out_type(node)
    return lambda x: torch.from_numpy(np.array(math.prod(x.shape), out_type))


@kernel("Rank", fresh=True)
def _(node):
    return lambda x: torch.from_numpy(np.array(len(x.shape), np.int32))


@kernel("Reshape")
def _(node, env):
    known = known_list(node, env, 1)
    if known is None:
        return lambda x, sizes: _reshape(x, sizes.tolist())
    sizes = tuple(known)
    return lambda x, _: _reshape(x, sizes)


def _reshape(x, sizes):
    try:
        return x.reshape(sizes)
    except (RuntimeError, ValueError):
        # For ATen and NumPy -1 beside a size of 0 could be any number. TensorFlow leaves sizes of 0
        # out of account on both sides.
        if 0 not in x.shape or 0 not in sizes or list(sizes).count(-1) != 1:
            raise _cannot_reshape(x, list(sizes)) from None
        count = math.prod(size for size in x.shape if size)
        rest = count // math.prod(size for size in sizes if size > 0)
        return x.reshape([rest if size == -1 else size for size in sizes])


def _cannot_reshape(x, sizes):
    negative = [index for index, size in enumerate(sizes) if size < 0]
    if negative and sizes[negative[0]] != -1:
        return invalid(f"Size {negative[0]} must be non-negative, not {sizes[negative[0]]}")
    if len(negative) > 1:
        return invalid(f"Only one input size may be -1, not both {negative[0]} and {negative[1]}")
    given = f"Input to reshape is a tensor with {math.prod(x.shape)} values, but the requested"
    wanted = math.prod(size for size in sizes if size >= 0)
    if negative:
        return invalid(f"{given} shape requires a multiple of {wanted}")
    return invalid(f"{given} shape has {wanted}")


@kernel("ExpandDims")
def _(node, env):
    if is_text(node):
        return lambda x, axis: np.expand_dims(x, int(axis))
    axis = known_number(node, env, 1)
    if axis is None:
        return lambda x, axis: x.unsqueeze(axis.item())
    return lambda x, _: x.unsqueeze(axis)


@kernel("Squeeze")
def _(node):
    axes = tuple(node.attrs["squeeze_dims"])
    if not axes:
        return np.squeeze if is_text(node) else torch.squeeze

    def run(x):
        for axis in axes:
            if x.shape[axis] != 1:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Can not squeeze dim[{axis}], expected a dimension of 1, got {x.shape[axis]}",
                )
        return x.squeeze(axes)

    return run


@kernel("EnsureShape")
def _(node):
    wanted = node.attrs["shape"]

    def run(x):
        if not shapes.compatible(tuple(x.shape), wanted):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Shape of tensor {node.inputs[0].node.name} {shapes.text(tuple(x.shape))} is not "
                f"compatible with expected shape {shapes.text(wanted)}.",
            )
        return x

    return run
