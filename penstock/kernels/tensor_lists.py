"""Kernels of lists of tensors.

A list never changes once it is made. Lists share what they have in common: the one that was made
last by appending goes on in the same Python list, which the others see a shorter part of.
"""

import numpy as np
import torch

from penstock import shapes
from penstock.dtypes import runtime_name
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
        if self.dtype.base_dtype != other.dtype.base_dtype:
            raise _invalid(
                "Trying to add two lists of tensors of different dtypes. One is "
                f"{runtime_name(self.dtype)} and the other is {runtime_name(other.dtype)}"
            )
        if not shapes.compatible(self.element_shape, other.element_shape):
            raise _invalid(
                "Trying to add two lists of tensors with incompatible element shapes. One is "
                f"{shapes.text(self.element_shape)} and the other is "
                f"{shapes.text(other.element_shape)}"
            )
        pairs = zip(self.elements, other.elements, strict=True)
        return self.with_elements(
            [b if a is None else a if b is None else variants.added(a, b) for a, b in pairs]
        )

    def check(self, element, where=""):
        if not shapes.compatible(tuple(element.shape), self.element_shape):
            raise _invalid(
                f"Tried to append a tensor with incompatible shape to a list{where}. Op element "
                f"shape: {shapes.text(tuple(element.shape))} list shape: "
                f"{shapes.text(self.element_shape)}"
            )

    def check_index(self, index, verb="access"):
        if not 0 <= index < self.length:
            raise _invalid(
                f"Trying to {verb} element {index} in a list with {self.length} elements."
            )

    def merged_shape(self, named, elements=None):
        """What an op, the list and elements (of all) say together of the shape of elements."""
        result = _merged(named, self.element_shape)
        for element in self.elements if elements is None else elements:
            if element is not None:
                result = _merged(result, tuple(element.shape))
        return result


def _merged(a, b):
    """What two shapes say together; the error names `a` first."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if len(a) != len(b):
        what = f"ranks during merge: {len(a)} vs. {len(b)}"
    elif not shapes.compatible(a, b):
        what = f"shapes during merge: {shapes.text(a)} vs. {shapes.text(b)}"
    else:
        return shapes.merge(a, b)
    raise _invalid(f"PartialTensorShape: Incompatible {what}")


def _shape_of(value):
    """The raw shape that a tensor of sizes stands for; a number for unknown rank."""
    if value.dim() == 0:
        return None
    return tuple(None if size < 0 else size for size in value.tolist())


def _zeros_to_read(dtype, shape):
    """What is read where no element was set yet."""
    if not shapes.is_full(shape):
        raise _invalid(
            "Trying to read an uninitialized tensor but element_shape is not fully defined: "
            f"{shapes.text(shape)} and no list element is set."
        )
    return _zeros(dtype, shape)


def _zeros(dtype, shape):
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


def _check_has_rows(tensor):
    if tensor.ndim == 0:
        raise _invalid("Tensor must be at least a vector, but saw shape: []")


def _rows(tensor):
    """The rows of a tensor; those of a vector of strings are arrays, too."""
    if isinstance(tensor, np.ndarray):
        return [tensor[i : i + 1].reshape(tensor.shape[1:]) for i in range(len(tensor))]
    return list(tensor)


@_on_host("TensorListFromTensor")
def _(node):
    dtype = _element_type(node)

    def run(tensor, shape):
        _check_has_rows(tensor)
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
        _check_has_rows(tensor)
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
            f"Invalid number of rows in input tensor. Expected: {len(places)} Actual: "
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
        if reserved < -1:
            raise _invalid(f"TensorListScatter expects num_elements >= -1, found: {reserved}")
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


@_on_host("TensorListPushBackBatch")
def _(node):
    dtype = _element_type(node)

    def run(lists, elements):
        pushed = np.empty(np.shape(lists), dtype=object)
        for flat, place in enumerate(np.ndindex(pushed.shape)):
            made = lists[place]
            _check_type(made, dtype)
            made.check(elements[place], f" at index {flat}")
            pushed[place] = made.pushed(elements[place])
        return pushed

    return run


@_on_host("TensorListPopBack")
def _(node):
    dtype = _element_type(node)

    def run(made, shape):
        _check_type(made, dtype)
        shorter = made.popped()
        last = made.elements[-1]
        if last is None:
            last = _zeros_to_read(dtype, made.merged_shape(_shape_of(shape), elements=()))
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

    def joined(a, b, index):
        for made, name in ((a, "input_a"), (b, "input_b")):
            if made.dtype.base_dtype != dtype.base_dtype:
                raise _invalid(
                    f"{name}[{index}].dtype != element_dtype. Saw: {runtime_name(made.dtype)} vs. "
                    f"{runtime_name(dtype)}"
                )
        if a.element_shape != b.element_shape:
            raise _invalid(
                "input_a and input_b TensorList element shapes are not identical at index "
                f"{index}. Saw {shapes.text(a.element_shape)} vs. {shapes.text(b.element_shape)}"
            )
        return a.with_elements(a.elements + b.elements)

    def run(a, b):
        if not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray):
            return joined(a, b, 0)
        if np.shape(a) != np.shape(b):
            raise _invalid(
                "Incompatible input TensorList tensor shapes: "
                f"{shapes.text(np.shape(a))} vs. {shapes.text(np.shape(b))}"
            )
        result = np.empty(a.shape, dtype=object)
        for index, place in enumerate(np.ndindex(a.shape)):
            result[place] = joined(a[place], b[place], index)
        return result

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
            else _zeros_to_read(dtype, made.merged_shape(_shape_of(shape)))
        )

    return run


def _stacked(made, elements, dtype, shape, words):
    """Elements on top of each other; zeros stand for those that were never set.

    Args:
      words: What errors say of no elements, and of none that was set.
    """
    _check_type(made, dtype)
    shape = made.merged_shape(_shape_of(shape), elements)
    if not shapes.is_full(shape):
        raise _invalid(f"Tried to {words[1] if elements else words[0]}: {shapes.text(shape)}")
    if any(element is None for element in elements):
        zeros = _zeros(dtype, shape)
        elements = [zeros if element is None else element for element in elements]
    return _joined(elements, dtype, (0, *shape), torch.stack)


_OF_STACK = (
    "stack elements of an empty list with non-fully-defined element_shape",
    "stack list which only contains uninitialized tensors and has a non-fully-defined "
    "element_shape",
)
_OF_GATHER = (
    "gather 0-elements from a list with non-fully-defined shape",
    "gather uninitialized tensors from a list with non-fully-defined element_shape",
)


@_on_host("TensorListStack")
def _(node):
    dtype, count = _element_type(node), node.attrs["num_elements"]

    def run(made, shape):
        if count not in (-1, made.length):
            raise _invalid(
                f"Operation expected a list with {count} elements but got a list with "
                f"{made.length} elements."
            )
        return _stacked(made, made.elements, dtype, shape, _OF_STACK)

    return run


@_on_host("TensorListGather")
def _(node):
    dtype = _element_type(node)

    def run(made, indices, shape):
        places = indices.tolist()
        for place in places:
            if not 0 <= place < made.length:
                raise _invalid(f"Index {place} out of range; list only has {made.length} elements.")
        return _stacked(made, [made.at(place) for place in places], dtype, shape, _OF_GATHER)

    return run


def _row_shape(made, wanted):
    """The shape of the rows of elements that are put one behind another."""
    if () in (wanted, made.element_shape):
        raise _invalid("Concat requires elements to be at least vectors, found scalars instead.")
    result = _merged(wanted and wanted[1:], made.element_shape and made.element_shape[1:])
    if not made.length and not shapes.is_full(result):
        raise _invalid(
            "All except the first dimension must be fully defined when concating an empty tensor "
            f"list. element_shape: {shapes.text(wanted)}"
        )
    for i, element in enumerate(made.elements):
        if element is not None:
            if not element.ndim:
                raise _invalid(
                    f"Concat saw a scalar shape at index {i} but requires at least vectors."
                )
            result = _merged(result, tuple(element.shape[1:]))
    if not shapes.is_full(result):
        raise _invalid(
            "Trying to concat list with only uninitialized tensors but "
            f"element_shape_except_first_dim_ is not fully defined: {shapes.text(result)}"
        )
    return result


def _row_counts(made, wanted, leading):
    """How many rows each element has: those that were never set as many as all others."""
    given = [each[0] for each in (wanted, made.element_shape) if each and each[0] is not None]
    found = [None if element is None else element.shape[0] for element in made.elements]
    set_ones = {count for count in found if count is not None}
    if not given and not leading and len(set_ones) == 1:
        given = [*set_ones]
    for i, count in enumerate(found):
        if count is None and not given and i >= len(leading):
            raise _invalid(
                f"List contains uninitialized tensor at index {i} but leading_dims has only "
                f"{len(leading)} elements."
            )
        if count is None:
            found[i] = given[0] if given else leading[i]
        elif given and count != given[0]:
            raise _invalid(
                "First entry of element_shape input does not match the first dim of list element "
                f"at index: {i} Expected: {given[0]} Actual: {count}"
            )
    return found


@_on_host("TensorListConcat", "TensorListConcatV2")
def _(node):
    dtype = _element_type(node)

    def run(made, shape=None, leading=None):
        _check_type(made, dtype)
        wanted = shapes.raw(node.attrs["element_shape"]) if shape is None else _shape_of(shape)
        inner = _row_shape(made, wanted)
        counts = _row_counts(made, wanted, [] if leading is None else leading.tolist())
        elements = [
            _zeros(dtype, (count, *inner)) if element is None else element
            for count, element in zip(counts, made.elements, strict=True)
        ]
        joined = _joined(elements, dtype, (0, *inner), torch.cat)
        return joined, torch.tensor(counts, dtype=torch.int64)

    return run
