"""Functions of tensor lists with TensorFlow's arguments: shapes as Python has them, defaults."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops import tensor_lists as ops
from penstock.shapes import Dimension, TensorShape


def build_element_shape(shape: Any) -> Any:
    """A shape as the list ops take it: -1 for what is not known."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = shape.as_list() if shape.ndims is not None else None
    if shape is None:
        return -1
    sizes = [size.value if isinstance(size, Dimension) else size for size in shape]
    known = [-1 if size is None else size for size in sizes]
    return known if known else convert_to_tensor([], dtypes.int32)


def empty_tensor_list(
    element_shape: Any,
    element_dtype: Any,
    max_num_elements: Any = None,
    name: str | None = None,
) -> Tensor:
    """A list without elements."""
    largest = -1 if max_num_elements is None else max_num_elements
    shape = build_element_shape(element_shape)
    made: Tensor = ops.EmptyTensorList(shape, largest, element_dtype=element_dtype, name=name)
    return made


def tensor_list_reserve(
    element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None
) -> Tensor:
    """A list of elements that are not set yet."""
    shape = build_element_shape(element_shape)
    made: Tensor = ops.TensorListReserve(
        shape, num_elements, element_dtype=element_dtype, name=name
    )
    return made


def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Tensor:
    """The rows of a tensor as a list."""
    shape = build_element_shape(element_shape)
    made: Tensor = ops.TensorListFromTensor(tensor, shape, name=name)
    return made


def tensor_list_get_item(
    input_handle: Any,
    index: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    shape = build_element_shape(element_shape)
    item: Tensor = ops.TensorListGetItem(
        input_handle, index, shape, element_dtype=element_dtype, name=name
    )
    return item


def tensor_list_set_item(
    input_handle: Any,
    index: Any,
    item: Any,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """The list with another element at an index; beyond its end it may grow."""
    made: Tensor = ops.TensorListSetItem(
        input_handle,
        index,
        item,
        resize_if_index_out_of_bounds=bool(resize_if_index_out_of_bounds),
        name=name,
    )
    return made


def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    """The list without its last element, and that element."""
    return ops.TensorListPopBack(input_handle, -1, element_dtype=element_dtype, name=name)


def tensor_list_gather(
    input_handle: Any,
    indices: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    shape = build_element_shape(element_shape)
    values: Tensor = ops.TensorListGather(
        input_handle, indices, shape, element_dtype=element_dtype, name=name
    )
    return values


def tensor_list_scatter(
    tensor: Any,
    indices: Any,
    element_shape: Any = None,
    input_handle: Any = None,
    name: str | None = None,
) -> Tensor:
    """A list with the rows of a tensor at these indices; `input_handle`: a list to put them in."""
    if input_handle is not None:
        put: Tensor = ops.TensorListScatterIntoExistingList(
            input_handle, tensor, indices, name=name
        )
        return put
    shape = build_element_shape(element_shape)
    made: Tensor = ops.TensorListScatterV2(tensor, indices, shape, -1, name=name)
    return made


def tensor_list_stack(
    input_handle: Any,
    element_dtype: Any,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    shape = build_element_shape(element_shape)
    values: Tensor = ops.TensorListStack(
        input_handle,
        shape,
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )
    return values


def tensor_list_concat(
    input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None
) -> Tensor:
    """The elements, joined along their first axis."""
    leading = convert_to_tensor([], dtypes.int64)
    shape = build_element_shape(element_shape)
    made = ops.TensorListConcatV2(
        input_handle, shape, leading, element_dtype=element_dtype, name=name
    )
    joined: Tensor = made[0]
    return joined


def tensor_list_split(
    tensor: Any, element_shape: Any, lengths: Any, name: str | None = None
) -> Tensor:
    """A tensor cut along its first axis into elements of these lengths."""
    shape = build_element_shape(element_shape)
    made: Tensor = ops.TensorListSplit(tensor, shape, lengths, name=name)
    return made
