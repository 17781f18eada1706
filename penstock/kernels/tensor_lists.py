"""Kernels of lists of tensors.

A list never changes once it is made. Lists share what they have in common: the one that was made
last by appending goes on in the same Python list, which the others see a shorter part of.
"""

import numpy as np
import torch

from penstock import shapes
from penstock.errors import InvalidArgumentError
from penstock.kernels import variants
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import is_host_type, torch_type


def _invalid(message):
    return InvalidArgumentError(None, None, message)


class TensorList:
    """Elements (None where none was set yet), their type, and what is known of their shape."""

    __slots__ = ("_shared", "dtype", "element_shape", "length", "most")
    shape = ()  # of the tensor whose value it is

    def __init__(self, elements, dtype, element_shape, most=-1):
        self._shared, self.length = elements, len(elements)
        self.dtype, self.element_shape, self.most = dtype, element_shape, most

    @property
    def elements(self):
        return self._shared[: self.length]

    def at(self, index):
        return self._shared[index]

    def with_elements(self, elements):
        return TensorList(elements, self.dtype, self.element_shape, self.most)

    def pushed(self, element):
        if self.most != -1 and self.length >= self.most:
            raise _invalid(
                f"Tried to push item into a full list list size: {self.length} "
                f"max_num_elements: {self.most}"
            )
        self.check(element)
        shared = self._shared
        if len(shared) != self.length:  # another list went on from here
            shared = self.elements
        shared.append(element)
        return self.with_elements(shared)

    def popped(self):
        if not self.length:
            raise _invalid("Trying to pop from an empty list.")
        shorter = self.with_elements(self._shared)
        shorter.length = self.length - 1
        return shorter

    def zeros_like(self):
        """As many zeros; where no element was set yet there is none either."""
        return self.with_elements(
            [None if e is None else variants.zeros_like(e) for e in self.elements]
        )

    def added(self, other):
        """The sums of elements, where one that was never set counts as zeros."""
        if self.length != other.length:
            raise _invalid(
                "Trying to add two lists of tensors with different lengths. One is "
                f"{self.length} and the other is {other.length}"
            )
        pairs = zip(self.elements, other.elements, strict=True)
        return self.with_elements(
            [b if a is None else a if b is None else variants.added(a, b) for a, b in pairs]
        )

    def check(self, element):
        if not shapes.compatible(tuple(element.shape), self.element_shape):
            raise _invalid(
                "Tried to append a tensor with incompatible shape to a list. Op element shape: "
                f"{shapes.text(tuple(element.shape))} list shape: {shapes.text(self.element_shape)}"
            )

    def check_index(self, index, verb="access"):
        if not 0 <= index < self.length:
            raise _invalid(
                f"Trying to {verb} element {index} in a list with {self.length} elements."
            )

    def merged_shape(self, element_shape):
        """What the list, its elements and an op say together of the shape of elements."""
        known = [tuple(e.shape) for e in self.elements if e is not None]
        try:
            result = shapes.merge(self.element_shape, element_shape)
            for each in known:
                result = shapes.merge(result, each)
        except ValueError as error:
            ranks = {len(each) for each in (self.element_shape, element_shape, *known) if each}
            what = (
                f"Incompatible ranks during merge: {' vs. '.join(map(str, sorted(ranks)))}"
                if len(ranks) > 1
                else f"Incompatible shapes during merge: {error}"
            )
            raise _invalid(f"Tried to stack elements of different shapes: {what}") from None
        return result


def _shape_of(value):
    """The raw shape that a tensor of sizes stands for; a number for unknown rank."""
    if value.dim() == 0:
        return None
    return tuple(None if size < 0 else size for size in value.tolist())


_READ = "read an uninitialized tensor"


def _zeros(dtype, shape, verb):
    if not shapes.is_full(shape):
        raise _invalid(
            f"Trying to {verb} but element_shape is not fully defined: {shapes.text(shape)}"
            + (" and no list element is set." if "read" in verb else "")
        )
    if is_host_type(dtype):
        return np.full(shape, b"", object)
    return torch.zeros(shape, dtype=torch_type(dtype))


def _check_type(found, wanted):
    if found.dtype.base_dtype != wanted.base_dtype:
        raise _invalid(
            f"Invalid data types; op elements {wanted.name} but list elements {found.dtype.name}"
        )


def _joined(elements, dtype, shape, together):
    """Elements stacked, or one behind another where `together` is concatenation."""
    if is_host_type(dtype):
        function = np.stack if together is torch.stack else np.concatenate
        return function(elements) if elements else np.empty(shape, object)
    return together(elements) if elements else torch.zeros(shape, dtype=torch_type(dtype))


def _element_type(node):
    return node.attrs["element_dtype"]


def _on_host(*op_types):
    return kernel(*op_types, devices=HOST)


# Making ---------------------------------------------------------------------------------------


@_on_host("EmptyTensorList")
def _(node):
    dtype = _element_type(node)
    return lambda shape, most: TensorList([], dtype, _shape_of(shape), int(most))


@_on_host("TensorListReserve")
def _(node):
    dtype = _element_type(node)

    def run(shape, count):
        if int(count) < 0:
            raise _invalid(f"The num_elements to reserve must be a non negative number: {count}")
        return TensorList([None] * int(count), dtype, _shape_of(shape))

    return run


def _rows(tensor):
    """The rows of a tensor; those of a vector of strings are arrays, too."""
    if isinstance(tensor, np.ndarray):
        return [tensor[i : i + 1].reshape(tensor.shape[1:]) for i in range(len(tensor))]
    return list(tensor)


@_on_host("TensorListFromTensor")
def _(node):
    dtype = _element_type(node)

    def run(tensor, shape):
        if tensor.ndim == 0:
            raise _invalid("Tensor must be at least a vector, but saw shape: []")
        made = TensorList(_rows(tensor), dtype, _shape_of(shape))
        for element in made.elements[:1]:
            made.check(element)
        return made

    return run


def _check_lengths(lengths, count):
    used = 0
    for length in lengths:
        if length < 0:
            raise _invalid(f"Invalid value in lengths: {length}")
        used += length
        if used > count:
            raise _invalid(
                f"Attempting to slice [{used - length}, {used}] from tensor with length {count}"
            )
    if used < count:
        raise _invalid(f"Unused values in tensor. Length of tensor: {count} Values used: {used}")


@_on_host("TensorListSplit")
def _(node):
    dtype = _element_type(node)

    def run(tensor, shape, lengths):
        if lengths.dim() != 1:
            given = shapes.text(tuple(lengths.shape))
            raise _invalid(f"Expected lengths to be a vector, received shape: {given}")
        sizes = lengths.tolist()
        _check_lengths(sizes, tensor.shape[0])
        ends = np.cumsum(sizes).tolist()
        elements = [tensor[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        made = TensorList(elements, dtype, _shape_of(shape))
        for element in elements:
            made.check(element)
        return made

    return run


def _scattered(made, tensor, indices):
    places = indices.tolist()
    if len(places) != tensor.shape[0]:
        raise _invalid(
            f"Expected len(indices) == tensor.shape[0], but saw: {len(places)} vs. "
            f"{tensor.shape[0]}"
        )
    if min(places, default=0) < 0:
        raise _invalid("Indices in TensorListScatter must all be non-negative.")
    elements = made.elements
    elements += [None] * (max(places, default=-1) + 1 - len(elements))
    for place, element in zip(places, tensor, strict=True):
        made.check(element)
        elements[place] = element
    return made.with_elements(elements)


@_on_host("TensorListScatter", "TensorListScatterV2")
def _(node):
    dtype = _element_type(node)

    def run(tensor, indices, shape, count=None):
        reserved = 0 if count is None else int(count)
        if reserved > 0 and max(indices.tolist(), default=-1) >= reserved:
            raise _invalid(
                f"TensorListScatter: Trying to scatter at index {int(indices.max())} in list with "
                f"size {reserved}"
            )
        made = TensorList([None] * max(reserved, 0), dtype, _shape_of(shape))
        return _scattered(made, tensor, indices)

    return run


@_on_host("TensorListScatterIntoExistingList")
def _(node):
    return _scattered


# Changing -------------------------------------------------------------------------------------


@_on_host("TensorListPushBack")
def _(node):
    dtype = _element_type(node)

    def run(made, element):
        _check_type(made, dtype)
        return made.pushed(element)

    return run


@_on_host("TensorListPopBack")
def _(node):
    dtype = _element_type(node)

    def run(made, shape):
        _check_type(made, dtype)
        shorter = made.popped()
        last = made.elements[-1]
        if last is None:
            last = _zeros(dtype, shapes.merge(made.element_shape, _shape_of(shape)), _READ)
        return shorter, last

    return run


@_on_host("TensorListSetItem")
def _(node):
    dtype, grows = _element_type(node), node.attrs["resize_if_index_out_of_bounds"]

    def run(made, index, element):
        _check_type(made, dtype)
        index = int(index)
        elements = made.elements
        if grows and index >= len(elements):
            elements += [None] * (index + 1 - len(elements))
        else:
            made.check_index(index, "modify")
        made.check(element)
        elements[index] = element
        return made.with_elements(elements)

    return run


@_on_host("TensorListResize")
def _(node):
    def run(made, size):
        size = int(size)
        if size < 0:
            raise _invalid(f"TensorListSlice expects size to be non-negative. Got: {size}")
        return made.with_elements(made.elements[:size] + [None] * (size - made.length))

    return run


@_on_host("TensorListConcatLists")
def _(node):
    dtype = _element_type(node)

    def run(a, b):
        if isinstance(a, np.ndarray):
            return np.frompyfunc(run, 2, 1)(a, b)
        _check_type(a, dtype)
        _check_type(b, dtype)
        if not shapes.compatible(a.element_shape, b.element_shape):
            raise _invalid(
                f"input_a and input_b TensorList element shapes are not identical: "
                f"{shapes.text(a.element_shape)} vs. {shapes.text(b.element_shape)}"
            )
        return a.with_elements(a.elements + b.elements)

    return run


# Reading --------------------------------------------------------------------------------------


@_on_host("TensorListLength")
def _(node):
    return lambda made: torch.tensor(made.length, dtype=torch.int32)


@_on_host("TensorListElementShape")
def _(node):
    dtype = torch_type(node.attrs["shape_type"])

    def run(made):
        if made.element_shape is None:
            return torch.tensor(-1, dtype=dtype)
        return torch.tensor([-1 if n is None else n for n in made.element_shape], dtype=dtype)

    return run


@_on_host("TensorListGetItem")
def _(node):
    dtype = _element_type(node)

    def run(made, index, shape):
        _check_type(made, dtype)
        made.check_index(int(index))
        element = made.at(int(index))
        return (
            element
            if element is not None
            else _zeros(dtype, made.merged_shape(_shape_of(shape)), _READ)
        )

    return run


def _stacked(made, elements, dtype, shape):
    _check_type(made, dtype)
    shape = made.merged_shape(_shape_of(shape))
    if not elements and not shapes.is_full(shape):
        raise _invalid(
            "Tried to stack elements of an empty list with non-fully-defined element_shape: "
            f"{shapes.text(shape)}"
        )
    if any(element is None for element in elements):
        zeros = _zeros(dtype, shape, "stack list with only uninitialized tensors")
        elements = [zeros if element is None else element for element in elements]
    return _joined(elements, dtype, (0, *(shape or ())), torch.stack)


@_on_host("TensorListStack")
def _(node):
    dtype, count = _element_type(node), node.attrs["num_elements"]

    def run(made, shape):
        if count not in (-1, made.length):
            raise _invalid(
                f"Operation expected a list with {count} elements but got a list with "
                f"{made.length} elements."
            )
        return _stacked(made, made.elements, dtype, shape)

    return run


@_on_host("TensorListGather")
def _(node):
    dtype = _element_type(node)

    def run(made, indices, shape):
        places, elements = indices.tolist(), made.elements
        for place in places:
            made.check_index(place)
        return _stacked(made, [elements[place] for place in places], dtype, shape)

    return run


def _check_parts(elements):
    """Refuses what can't be put one behind another."""
    for i, element in enumerate(elements):
        if not element.ndim:
            raise _invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
        first, found = (tuple(each.shape[1:]) for each in (elements[0], element))
        if found != first:
            raise _invalid(
                "Tried to concat elements of different shapes: Incompatible shapes during merge: "
                f"{shapes.text(first)} vs. {shapes.text(found)}"
            )


_CONCAT = "concat list with only uninitialized tensors"


def _first_size(made, wanted):
    """The rows of an element that was never set: of any that was, or of the list itself."""
    known = [each for each in (wanted, made.element_shape) if each]
    known += [tuple(element.shape) for element in made.elements if element is not None]
    return next((each[0] for each in known if each[0] is not None), None)


@_on_host("TensorListConcat", "TensorListConcatV2")
def _(node):
    dtype = _element_type(node)

    def run(made, shape=None, leading=None):
        _check_type(made, dtype)
        wanted = shapes.raw(node.attrs["element_shape"]) if shape is None else _shape_of(shape)
        inner = None if wanted is None else wanted[1:]
        own = made.element_shape
        inner = shapes.merge(inner, None if own is None else own[1:])
        sizes = [] if leading is None else leading.tolist()
        elements = made.elements
        if None in [element if element is None else 0 for element in elements]:
            sizes = sizes or [_first_size(made, wanted)] * len(elements)
            given = next((tuple(e.shape[1:]) for e in elements if e is not None), None)
            inner = shapes.merge(inner, given)
            elements = [
                _zeros(dtype, None if inner is None else (size, *inner), _CONCAT)
                if element is None
                else element
                for size, element in zip(sizes, elements, strict=True)
            ]
        _check_parts(elements)
        if not elements and not shapes.is_full(inner):
            raise _invalid(
                "All except the first dimension must be fully defined when concating an empty "
                f"tensor list. element_shape: {shapes.text(wanted)}"
            )
        lengths = torch.tensor([element.shape[0] for element in elements], dtype=torch.int64)
        return _joined(elements, dtype, (0, *(inner or ())), torch.cat), lengths

    return run
