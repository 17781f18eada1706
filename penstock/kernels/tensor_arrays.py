"""Kernels of tensor arrays. An array lives as long as the step that made it.

The flow that comes in goes out again, so that the analysis of memory sees what an array holds: a
value that was written lives on in the flow, and in what is read with it.
"""

import functools

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.ir.registry import ALIASES, READS, RESHAPES
from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type
from penstock.state.tensor_array import Reference, TensorArray


def _types(name):
    """The op types that do the same: of references, of strings and of resources."""
    return [f"TensorArray{name}", f"TensorArray{name}V2", f"TensorArray{name}V3"]


def _array(handle):
    return handle.array if type(handle) is Reference else handle


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _zeros(dtype, env):
    """The function that makes an element which was never written."""
    if dtype is dtypes.string:
        return _no_zero_string
    return functools.partial(torch.zeros, dtype=torch_type(dtype), device=env.torch_device)


def _no_zero_string(shape):
    raise _invalid("an element of a TensorArray of strings was read before it was written")


# Making ---------------------------------------------------------------------------------------


@kernel(*_types(""))
def _(node):
    attrs = node.attrs
    name = attrs["tensor_array_name"] or node.name
    options = {
        "identical_shapes": attrs.get("identical_element_shapes", False),
        "is_dynamic": attrs["dynamic_size"],
        "clear_after_read": attrs["clear_after_read"],
    }
    returned = _returned(node)

    def run(size):
        if size.dim():
            raise _invalid(
                f"TensorArray size must be scalar, but had shape: {shapes.text(tuple(size.shape))}"
            )
        count = size.item()
        if count < 0:
            raise _invalid("Size should be >= 0.")
        unique = TensorArray.unique_name(name)
        array = TensorArray(unique, attrs["dtype"], count, attrs["element_shape"], **options)
        return returned(array)

    return run


@kernel("TensorArrayGrad", "TensorArrayGradV2", "TensorArrayGradV3", "TensorArrayGradWithShape")
def _(node):
    source = node.attrs["source"]
    source = source.decode() if isinstance(source, bytes) else source
    returned = _returned(node)

    def run(handle, flow, prefix=None):
        before = () if prefix is None else tuple(prefix.tolist())
        return returned(_array(handle).gradient(source, before))

    return run


def _returned(node):
    """The form in which an op type gives its array: with a flow, as it is, as a reference."""
    if len(node.dtypes) == 2:
        return lambda array: (array, torch.zeros(()))
    if node.dtypes[0].is_ref_dtype:
        return Reference
    return lambda array: array


# Writing --------------------------------------------------------------------------------------


def _keeping(node, index):
    """What keeps an input beyond this node: a copy where it is the memory of a variable."""
    edge = node.inputs[index]
    while True:
        traits = edge.node.spec.traits
        if edge.dtype.is_ref_dtype or READS in traits:
            return lambda value: value.clone() if hasattr(value, "clone") else value.copy()
        if not (ALIASES in traits or RESHAPES in traits) or not edge.node.inputs:
            return lambda value: value
        edge = edge.node.inputs[0]


@kernel(*_types("Write"))
def _(node):
    dtype, kept = node.attrs["T"], _keeping(node, 2)

    def run(handle, index, value, flow):
        array = _array(handle)
        array.check_type(dtype, "is trying to write")
        array.write(index.item(), kept(value))
        return flow

    return run


@kernel(*_types("Scatter"))
def _(node):
    dtype, kept = node.attrs["T"], _keeping(node, 2)

    def run(handle, indices, value, flow):
        if indices.dim() != 1:
            raise _invalid(
                f"Input indices must be a vector, but received shape: {_text(indices.shape)}"
            )
        _scatter(_array(handle), dtype, indices.tolist(), kept(value))
        return flow

    return run


@kernel("TensorArrayUnpack")
def _(node):
    dtype, kept = node.attrs["T"], _keeping(node, 1)

    def run(handle, value, flow):
        array = _array(handle)
        count = value.shape[0] if value.ndim else 0
        if not array.is_dynamic and count != len(array):
            raise _invalid(
                f"TensorArray's size is not equal to the size of the unpacked value ({len(array)} "
                f"vs. {count})"
            )
        _scatter(array, dtype, list(range(count)), kept(value))
        return flow

    return run


def _scatter(array, dtype, indices, value):
    array.check_open()
    array.check_type(dtype, "is trying to write")
    if not value.ndim:
        raise _invalid(
            f"Input value for unpack must be at least a vector but received shape: "
            f"{_text(value.shape)}"
        )
    if len(indices) != value.shape[0]:
        raise _invalid(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. "
            f"{value.shape[0]}"
        )
    highest = max(indices, default=-1)
    if highest >= len(array):
        if not array.is_dynamic:
            raise _invalid(f"Max scatter index must be < array size ({highest} vs. {len(array)})")
        array.grow(highest + 1)
    for index, row in zip(indices, _rows(value), strict=True):
        array.write(index, row)


def _rows(value):
    if isinstance(value, torch.Tensor):
        return value.unbind(0)
    return [value[i, ...] for i in range(value.shape[0])]  # the dots keep a scalar an array


@kernel(*_types("Split"))
def _(node):
    dtype, kept = node.attrs["T"], _keeping(node, 1)

    def run(handle, value, lengths, flow):
        array = _array(handle)
        array.check_open()
        array.check_type(dtype, "is trying to write")
        if lengths.dim() != 1:
            raise _invalid(
                f"Expected lengths to be a vector, received shape: {_text(lengths.shape)}"
            )
        sizes = lengths.tolist()
        _check_split(array, value, sizes)
        ends = np.cumsum(sizes, dtype=np.int64).tolist()
        value = kept(value)
        for i, (end, size) in enumerate(zip(ends, sizes, strict=True)):
            array.write(i, value[end - size : end])
        if not array.is_gradient:
            array.split_into = len(sizes)
        return flow

    return run


def _check_split(array, value, sizes):
    if not value.ndim:
        raise _invalid(
            f"Expected value to be at least a vector, but received shape: {_text(value.shape)}"
        )
    if sum(sizes) != value.shape[0]:
        raise _invalid(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{sum(sizes)} and value's shape is: {_text(value.shape)}"
        )
    if any(size < 0 for size in sizes):
        raise _invalid(f"Invalid lengths: {sizes} must not be negative")
    if len(array) != len(sizes):
        if not array.is_dynamic:
            raise _invalid(
                f"TensorArray's size is not equal to the size of lengths ({len(array)} vs. "
                f"{len(sizes)}), and the TensorArray is not marked as dynamically resizeable"
            )
        array.grow(len(sizes))


# Reading --------------------------------------------------------------------------------------


@kernel(*_types("Read"))
def _(node, env):
    dtype = node.attrs["dtype"]
    zeros = _zeros(dtype, env)

    def run(handle, index, flow):
        array = _array(handle)
        array.check_type(dtype, "requested")
        return array.read(index.item(), zeros)

    return run


@kernel(*_types("Gather"), fresh=True)
def _(node, env):
    stacked = _stacking(node, env)
    return lambda handle, indices, flow: stacked(_array(handle), indices.tolist())


@kernel("TensorArrayPack", fresh=True)
def _(node, env):
    stacked = _stacking(node, env)

    def run(handle, flow):
        array = _array(handle)
        return stacked(array, range(len(array)))

    return run


def _stacking(node, env):
    dtype, wanted = node.attrs["dtype"], node.attrs["element_shape"]
    zeros = _zeros(dtype, env)
    is_string = dtype is dtypes.string

    def stacked(array, indices):
        array.check_open()
        array.check_type(dtype, "requested")
        if not indices:
            element = _merged(wanted, array.element_shape, "element shape", "packing")
            shape = (0, *element)
            return np.empty(shape, object) if is_string else zeros(shape)
        values = array.read_many(indices, zeros)
        first = values[0].shape
        for i, value in enumerate(values):
            if value.shape != first:
                raise _invalid(
                    f"TensorArray has inconsistent shapes.  Index 0 has shape: {_text(first)} but "
                    f"index {i} has shape: {_text(value.shape)}"
                )
        return np.stack(values) if is_string else torch.stack(values)

    return stacked


def _merged(wanted, known, what, action):
    """The shape of elements of which there are none; it must be known altogether."""
    if not shapes.compatible(wanted, known):
        raise _invalid(
            f"TensorArray was passed element_shape {shapes.text(wanted)} which does not match the "
            f"array's own element shape {shapes.text(known)}"
        )
    merged = shapes.merge(wanted, known)
    if not shapes.is_full(merged):
        raise errors.UnimplementedError(
            None,
            None,
            f"TensorArray has size zero, but {what} {shapes.text(merged)} is not fully defined. "
            f"Currently only static shapes are supported when {action} zero-size TensorArrays.",
        )
    return merged


@kernel(*_types("Concat"), fresh=True)
def _(node, env):
    dtype, wanted = node.attrs["dtype"], node.attrs["element_shape_except0"]
    zeros = _zeros(dtype, env)
    is_string = dtype is dtypes.string

    def run(handle, flow):
        array = _array(handle)
        array.check_open()
        array.check_type(dtype, "requested")
        if not len(array):
            rest = None if array.element_shape is None else array.element_shape[1:]
            rest = _merged(wanted, rest, "element_shape_except0", "concatenating")
            empty = np.empty((0, *rest), object) if is_string else zeros((0, *rest))
            return empty, torch.zeros(0, dtype=torch.int64)
        # Of a gradient only what the split made: elements that were written later have their own.
        count = array.split_into if array.is_gradient else len(array)
        values = array.read_many(range(count), zeros)
        _check_concat(values)
        joined = np.concatenate(values) if is_string else torch.cat(values)
        return joined, torch.tensor([value.shape[0] for value in values], dtype=torch.int64)

    return run


def _check_concat(values):
    for i, value in enumerate(values):
        if not value.ndim:
            raise _invalid(
                f"Concat saw a scalar shape at index {i} but requires at least vectors.  Did you "
                "mean to call pack?"
            )
        if value.shape[1:] != values[0].shape[1:]:
            raise _invalid(
                "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                f"{_text(values[0].shape[1:])} but index {i} has (excepting dimension 0) shape: "
                f"{_text(value.shape[1:])}"
            )


@kernel(*_types("Size"), fresh=True)
def _(node):
    return lambda handle, flow: torch.tensor(len(_array(handle)), dtype=torch.int32)


@kernel(*_types("Close"))
def _(node):
    return lambda handle: _array(handle).close()


def _text(shape):
    return shapes.text(tuple(shape))
