"""Lists of tensors as values, of which loops of TensorFlow 2's kind are made.

A list is a tensor of type variant; an op that changes one gives a new list.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock import dtypes
from penstock.dtypes import runtime_name
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.filling import zeros_like
from penstock.ops.joining import concat
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.ops.shaping import shape
from penstock.shapes import Shape

EmptyTensorList = op(
    "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> handle: variant",
    element_dtype=attr("type"),
    shape_type=INDEX,
)
TensorListReserve = op(
    "TensorListReserve(element_shape: shape_type, num_elements: int32) -> handle: variant",
    element_dtype=attr("type"),
    shape_type=INDEX,
)
TensorListPushBackBatch = op(
    "TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) "
    "-> output_handles: variant"
)
TensorListPushBack = op(
    "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> output_handle: variant"
)
TensorListPopBack = op(
    "TensorListPopBack(input_handle: variant, element_shape: int32) -> output_handle: variant, "
    "tensor: element_dtype",
)
TensorListLength = op("TensorListLength(input_handle: variant) -> length: int32")
TensorListElementShape = op(
    "TensorListElementShape(input_handle: variant) -> element_shape: shape_type", shape_type=INDEX
)
TensorListStack = op(
    "TensorListStack(input_handle: variant, element_shape: int32) -> tensor: element_dtype",
    num_elements=-1,
)
TensorListFromTensor = op(
    "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) "
    "-> output_handle: variant",
    shape_type=INDEX,
)
TensorListGetItem = op(
    "TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) "
    "-> item: element_dtype",
    Tshape=types(INDEX, default=dtypes.int32),
)
TensorListSetItem = op(
    "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) "
    "-> output_handle: variant",
    resize_if_index_out_of_bounds=False,
)
TensorListGather = op(
    "TensorListGather(input_handle: variant, indices: int32, element_shape: int32) "
    "-> values: element_dtype",
)
TensorListScatter = op(
    "TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) "
    "-> output_handle: variant",
    shape_type=INDEX,
)
TensorListScatterV2 = op(
    "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, "
    "num_elements: int32) -> output_handle: variant",
    shape_type=INDEX,
)
TensorListScatterIntoExistingList = op(
    "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, "
    "indices: int32) -> output_handle: variant",
)
TensorListResize = op(
    "TensorListResize(input_handle: variant, size: int32) -> output_handle: variant"
)
TensorListConcat = op(
    "TensorListConcat(input_handle: variant) -> tensor: element_dtype, lengths: int64",
    element_shape=attr("shape", None),
)
TensorListConcatV2 = op(
    "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) "
    "-> tensor: element_dtype, lengths: int64",
    shape_type=INDEX,
)
TensorListSplit = op(
    "TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) "
    "-> output_handle: variant",
    shape_type=INDEX,
)
TensorListConcatLists = op(
    "TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant",
    element_dtype=attr("type"),
)
not_differentiable(
    *(EmptyTensorList, TensorListReserve, TensorListLength, TensorListElementShape),
    *(TensorListConcatLists, TensorListPushBackBatch),
)


# Shapes ---------------------------------------------------------------------------------------


class _Elements(NamedTuple):
    """What is known of the elements of a list while its graph is built."""

    dtype: Any
    shape: Shape


_CHANGING = frozenset(
    ["TensorListPushBack", "TensorListPopBack", "TensorListSetItem", "TensorListResize"]
    + ["TensorListScatterIntoExistingList"]
)
_PASSING = frozenset(["Identity", "Pack", "Unpack", "TensorListPushBackBatch"])  # lists as they are
# The ops that make a list, and which of their inputs is the shape of its elements.
_MAKING = {
    "EmptyTensorList": 0,
    "TensorListReserve": 0,
    "TensorListFromTensor": 1,
    "TensorListSplit": 1,
    "TensorListScatter": 2,
    "TensorListScatterV2": 2,
}


def elements_of(handle: Tensor) -> _Elements | None:
    """What the op that made a list says of its elements; None for a list from elsewhere."""
    tensor, passed = handle, []
    found: _Elements | None = None
    while found is None:
        op = tensor._op
        found = op.__dict__.get("_elements")
        passed.append(op)
        before = _before(tensor)
        if before is None:
            break
        tensor = before
    if found is None and op.type in _MAKING:
        found = _Elements(op.attrs["element_dtype"], _element_shape(op, _MAKING[op.type]))
    for op in passed:
        if op.type in _CHANGING:
            op.__dict__["_elements"] = found
    return found


def _before(handle: Tensor) -> Tensor | None:
    """The list that a list has come from: through a change, into a function, through a loop."""
    op = handle._op
    outer: Tensor | None = op.__dict__.get("_stands_for")
    if outer is not None:
        return outer
    if op.type in _CHANGING or op.type in _PASSING:
        return op.inputs[0]
    return op.inputs[handle.value_index] if op.type in ("While", "StatelessWhile") else None


def _read_shape(op: Any, named: Shape) -> Shape:
    """The shape of the elements of an op's list, which must have the op's type."""
    found = elements_of(op.inputs[0])
    if found is None:
        return named
    if found.dtype.base_dtype != op.attrs["element_dtype"].base_dtype:
        raise ValueError(
            "Trying to read from list with wrong element dtype: Expected list with element dtype "
            f"{runtime_name(op.attrs['element_dtype'])} but got list with element dtype "
            f"{runtime_name(found.dtype)}"
        )
    return merge_shapes(named, found.shape)


def _check_written_type(op: Any) -> None:
    """Refuses an element of another type; one of another shape is refused when the step runs."""
    found = elements_of(op.inputs[0])
    if found is None:
        return
    if found.dtype.base_dtype != op.attrs["element_dtype"].base_dtype:
        raise ValueError(
            "Trying to push to list with wrong element dtype. List has type "
            f"{runtime_name(found.dtype)} but trying to push element with type "
            f"{runtime_name(op.attrs['element_dtype'])}"
        )


@EmptyTensorList.shape
@TensorListReserve.shape
@TensorListLength.shape
@TensorListScatter.shape
@TensorListScatterV2.shape
@TensorListScatterIntoExistingList.shape
@TensorListResize.shape
def _(op: Any, *inputs: Shape) -> Shape:
    return ()


@TensorListPushBackBatch.shape
def _(op: Any, handles: Shape, elements: Shape) -> Shape:
    if handles is None or elements is None:
        return handles
    for size, number in zip(handles, elements, strict=False):
        if None not in (size, number) and size != number:
            raise ValueError(f"Dimensions must be equal, but are {number} and {size}")
    _check_written_type(op)
    return handles


@TensorListPushBack.shape
def _(op: Any, handle: Shape, element: Shape) -> Shape:
    _check_written_type(op)
    return ()


@TensorListSetItem.shape
def _(op: Any, handle: Shape, index: Shape, item: Shape) -> Shape:
    with_rank(index, 0)
    found = elements_of(op.inputs[0])
    if found is not None:  # an element of another type is refused when the step runs
        merge_shapes(item, found.shape)
    return ()


@TensorListFromTensor.shape
def _(op: Any, tensor: Shape, element_shape: Shape) -> Shape:
    if tensor:  # the kernel refuses a number
        merge_shapes(tensor[1:], _element_shape(op, 1))
    return ()


@TensorListSplit.shape
def _(op: Any, tensor: Shape, element_shape: Shape, lengths: Shape) -> Shape:
    with_rank_at_least(tensor, 1)
    with_rank(lengths, 1)
    return ()


@TensorListConcatLists.shape
def _(op: Any, a: Shape, b: Shape) -> Shape:
    known = [(name, elements_of(op.inputs[i])) for i, name in enumerate(("input_a", "input_b"))]
    element_shape: Shape = None
    for name, elements in known:
        if elements is None:
            continue
        if elements.dtype.base_dtype != op.attrs["element_dtype"].base_dtype:
            raise ValueError(
                f"{name}.type != element_dtype: {runtime_name(elements.dtype)} vs. "
                f"{runtime_name(op.attrs['element_dtype'])}"
            )
        element_shape = merge_shapes(element_shape, elements.shape)
    return merge_shapes(a, b)


@TensorListElementShape.shape
def _(op: Any, handle: Shape) -> Shape:
    found = elements_of(op.inputs[0])
    # A number where even the rank is unknown.
    return None if found is None or found.shape is None else (len(found.shape),)


def _element_shape(op: Any, index: int) -> Shape:
    """The shape that an input names; None where it is not known or of unknown rank."""
    known = constant_value(op.inputs[index])
    if known is not None and known.ndim == 0:
        return None
    return constant_shape(op.inputs[index])


@TensorListPopBack.shape
def _(op: Any, handle: Shape, element_shape: Shape) -> list[Shape]:
    # The shape that the op names counts for elements that were never set alone.
    return [(), _read_shape(op, None)]


@TensorListGetItem.shape
def _(op: Any, handle: Shape, index: Shape, element_shape: Shape) -> Shape:
    return _read_shape(op, _element_shape(op, 2))


@TensorListStack.shape
def _(op: Any, handle: Shape, element_shape: Shape) -> Shape:
    inner, count = _read_shape(op, _element_shape(op, 1)), op.attrs["num_elements"]
    return None if inner is None else (None if count < 0 else count, *inner)


@TensorListGather.shape
def _(op: Any, handle: Shape, indices: Shape, element_shape: Shape) -> Shape:
    inner = _read_shape(op, _element_shape(op, 2))
    return None if inner is None else (with_rank(indices, 1)[0], *inner)


@TensorListConcat.shape
@TensorListConcatV2.shape
def _(op: Any, handle: Shape, *_: Shape) -> list[Shape]:
    inner = _read_shape(op, _element_shape(op, 1) if op.type == "TensorListConcatV2" else None)
    return [None if not inner else (None, *inner[1:]), (None,)]


# Gradients ------------------------------------------------------------------------------------


def _shape_of_elements(handle: Any) -> Any:
    return TensorListElementShape(handle, shape_type=dtypes.int32)


def _inner_shape(tensor: Any) -> Any:
    """The shape of the rows of a tensor."""
    sizes: Any = shape(tensor)
    return sizes[1:]


@TensorListPushBack.gradient
def _(op: Any, grad: Any) -> Any:
    tensor = op.inputs[1]
    return TensorListPopBack(grad, shape(tensor), element_dtype=tensor.dtype)


@TensorListPopBack.gradient
def _(op: Any, list_grad: Any, grad: Any) -> Any:
    if list_grad is None:
        elements = _shape_of_elements(op.outputs[0])
        list_grad = EmptyTensorList(elements, -1, element_dtype=op.attrs["element_dtype"])
    given = zeros_like(op.outputs[1]) if grad is None else grad
    return TensorListPushBack(list_grad, given), None


@TensorListStack.gradient
def _(op: Any, grad: Any) -> Any:
    return TensorListFromTensor(grad, _inner_shape(grad)), None


@TensorListFromTensor.gradient
def _(op: Any, grad: Any) -> Any:
    tensor = op.inputs[0]
    count = None if tensor.shape.ndims is None else tensor.shape.as_list()[0]
    stacked = TensorListStack(
        grad,
        _inner_shape(tensor),
        element_dtype=tensor.dtype,
        num_elements=-1 if count is None else count,
    )
    return stacked, None


@TensorListConcat.gradient
@TensorListConcatV2.gradient
def _(op: Any, grad: Any, _: Any) -> Any:
    parts = TensorListSplit(grad, _shape_of_elements(op.inputs[0]), op.outputs[1])
    return parts, *(None for _ in op.inputs[1:])


@TensorListSplit.gradient
def _(op: Any, grad: Any) -> Any:
    tensor, _, lengths = op.inputs
    elements = concat([[-1], _inner_shape(tensor)], 0)
    joined = TensorListConcatV2(grad, elements, lengths, element_dtype=tensor.dtype)
    return joined[0], None, None


@TensorListGetItem.gradient
def _(op: Any, grad: Any) -> Any:
    handle, index, _ = op.inputs
    empty = TensorListReserve(
        _shape_of_elements(handle), TensorListLength(handle), element_dtype=grad.dtype
    )
    return TensorListSetItem(empty, index, grad), None, None


@TensorListSetItem.gradient
def _(op: Any, grad: Any) -> Any:
    handle, index, item = op.inputs
    rest = TensorListSetItem(grad, index, zeros_like(item))
    if op.attrs["resize_if_index_out_of_bounds"]:
        rest = TensorListResize(rest, TensorListLength(handle))
    return rest, None, TensorListGetItem(grad, index, shape(item), element_dtype=item.dtype)


@TensorListResize.gradient
def _(op: Any, grad: Any) -> Any:
    return TensorListResize(grad, TensorListLength(op.inputs[0])), None


@TensorListGather.gradient
def _(op: Any, grad: Any) -> Any:
    handle, indices, _ = op.inputs
    empty = TensorListReserve(
        _shape_of_elements(handle), TensorListLength(handle), element_dtype=grad.dtype
    )
    return TensorListScatterIntoExistingList(empty, grad, indices), None, None


@TensorListScatter.gradient
@TensorListScatterV2.gradient
def _(op: Any, grad: Any) -> Any:
    tensor, indices = op.inputs[:2]
    gathered = TensorListGather(grad, indices, _inner_shape(tensor), element_dtype=tensor.dtype)
    return gathered, *(None for _ in op.inputs[1:])


@TensorListScatterIntoExistingList.gradient
def _(op: Any, grad: Any) -> Any:
    _, tensor, indices = op.inputs
    gathered = TensorListGather(grad, indices, _inner_shape(tensor), element_dtype=tensor.dtype)
    rest = TensorListScatterIntoExistingList(grad, zeros_like(tensor), indices)
    return rest, gathered, None
