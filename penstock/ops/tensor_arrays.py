"""The ops of tensor arrays: lists of tensors that a step writes and reads by index.

An array is state of one step. Its handle tells which array; its *flow*, a scalar without meaning,
goes through every access and so orders them. The class `tf.TensorArray` hides both.
"""

from __future__ import annotations

from penstock import shapes
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.signature import attr
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank, with_rank_at_least
from penstock.shapes import Shape

TensorArrayV3 = op(
    "TensorArrayV3(size: int32) -> handle: resource, flow: float32",
    STATEFUL,
    dtype=attr("type"),
    element_shape=attr("shape", None),
    dynamic_size=False,
    clear_after_read=True,
    identical_element_shapes=False,
    tensor_array_name="",
)
TensorArrayGradV3 = op(
    "TensorArrayGradV3(handle: resource, flow_in: float32) -> grad_handle: resource, "
    "flow_out: float32",
    STATEFUL,
    source=attr("string"),
)
TensorArrayGradWithShape = op(
    "TensorArrayGradWithShape(handle: resource, flow_in: float32, shape_to_prepend: int32) "
    "-> grad_handle: resource, flow_out: float32",
    STATEFUL,
    source=attr("string"),
)
TensorArrayWriteV3 = op(
    "TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float32) "
    "-> flow_out: float32",
    STATEFUL,
)
TensorArrayReadV3 = op(
    "TensorArrayReadV3(handle: resource, index: int32, flow_in: float32) -> value: dtype", STATEFUL
)
TensorArrayGatherV3 = op(
    "TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float32) -> value: dtype",
    STATEFUL,
    element_shape=attr("shape", None),
)
TensorArrayScatterV3 = op(
    "TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float32) "
    "-> flow_out: float32",
    STATEFUL,
)
TensorArrayConcatV3 = op(
    "TensorArrayConcatV3(handle: resource, flow_in: float32) -> value: dtype, lengths: int64",
    STATEFUL,
    element_shape_except0=attr("shape", None),
)
TensorArraySplitV3 = op(
    "TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float32) "
    "-> flow_out: float32",
    STATEFUL,
)
TensorArraySizeV3 = op(
    "TensorArraySizeV3(handle: resource, flow_in: float32) -> size: int32", STATEFUL
)
TensorArrayCloseV3 = op("TensorArrayCloseV3(handle: resource)", STATEFUL)

# Older op types, as files of TensorFlow 0.x and 1.0 name them: a handle is a string there.
TensorArrayV2 = op(
    "TensorArrayV2(size: int32) -> handle: string",
    STATEFUL,
    dtype=attr("type"),
    element_shape=attr("shape", None),
    dynamic_size=False,
    clear_after_read=True,
    tensor_array_name="",
)
TensorArrayGradV2 = op(
    "TensorArrayGradV2(handle: string, flow_in: float32) -> grad_handle: string",
    STATEFUL,
    source=attr("string"),
)
TensorArrayWriteV2 = op(
    "TensorArrayWriteV2(handle: string, index: int32, value: T, flow_in: float32) "
    "-> flow_out: float32",
)
TensorArrayReadV2 = op(
    "TensorArrayReadV2(handle: string, index: int32, flow_in: float32) -> value: dtype"
)
TensorArrayGatherV2 = op(
    "TensorArrayGatherV2(handle: string, indices: int32, flow_in: float32) -> value: dtype",
    element_shape=attr("shape", None),
)
TensorArrayScatterV2 = op(
    "TensorArrayScatterV2(handle: string, indices: int32, value: T, flow_in: float32) "
    "-> flow_out: float32",
)
TensorArrayConcatV2 = op(
    "TensorArrayConcatV2(handle: string, flow_in: float32) -> value: dtype, lengths: int64",
    element_shape_except0=attr("shape", None),
)
TensorArraySplitV2 = op(
    "TensorArraySplitV2(handle: string, value: T, lengths: int64, flow_in: float32) "
    "-> flow_out: float32",
)
TensorArraySizeV2 = op("TensorArraySizeV2(handle: string, flow_in: float32) -> size: int32")
TensorArrayCloseV2 = op("TensorArrayCloseV2(handle: string)")

TensorArrayV1 = op(
    "TensorArray(size: int32) -> handle: &string",
    STATEFUL,
    dtype=attr("type"),
    dynamic_size=False,
    clear_after_read=True,
    tensor_array_name="",
    element_shape=attr("shape", None),
)
TensorArrayGrad = op(
    "TensorArrayGrad(handle: string, flow_in: float32) -> grad_handle: &string",
    STATEFUL,
    source=attr("string"),
)
TensorArrayWrite = op(
    "TensorArrayWrite(handle: &string, index: int32, value: T, flow_in: float32) "
    "-> flow_out: float32",
)
TensorArrayRead = op(
    "TensorArrayRead(handle: &string, index: int32, flow_in: float32) -> value: dtype"
)
TensorArrayPack = op(
    "TensorArrayPack(handle: &string, flow_in: float32) -> value: dtype",
    element_shape=attr("shape", None),
)
TensorArrayUnpack = op(
    "TensorArrayUnpack(handle: &string, value: T, flow_in: float32) -> flow_out: float32"
)
TensorArrayGather = op(
    "TensorArrayGather(handle: &string, indices: int32, flow_in: float32) -> value: dtype",
    element_shape=attr("shape", None),
)
TensorArrayScatter = op(
    "TensorArrayScatter(handle: &string, indices: int32, value: T, flow_in: float32) "
    "-> flow_out: float32",
)
TensorArrayConcat = op(
    "TensorArrayConcat(handle: &string, flow_in: float32) -> value: dtype, lengths: int64",
    element_shape_except0=attr("shape", None),
)
TensorArraySplit = op(
    "TensorArraySplit(handle: &string, value: T, lengths: int64, flow_in: float32) "
    "-> flow_out: float32",
)
TensorArraySize = op("TensorArraySize(handle: &string, flow_in: float32) -> size: int32")
TensorArrayClose = op("TensorArrayClose(handle: &string)")

not_differentiable(
    *(TensorArrayV1, TensorArrayV2, TensorArrayV3),
    *(TensorArrayGrad, TensorArrayGradV2, TensorArrayGradV3, TensorArrayGradWithShape),
    *(TensorArraySize, TensorArraySizeV2, TensorArraySizeV3),
    *(TensorArrayClose, TensorArrayCloseV2, TensorArrayCloseV3),
)


# Shapes ---------------------------------------------------------------------------------------

_PASSING_ON = ("Enter", "Switch", "Merge", "Identity", "NextIteration", "Exit")


def _made_by(handle: Tensor) -> Operation:
    """The node that made an array, seen through what loops and branches put between."""
    while handle._op.type in _PASSING_ON:
        handle = handle._op.inputs[0]
    return handle._op


def _element_shape(handle: Tensor) -> tuple[bool, Shape]:
    """Whether all elements are known to have one shape, and that shape as far as it is known."""
    made = _made_by(handle)
    if made.type == "TensorArrayV3":
        shape = made.attrs["element_shape"]
        known = made.attrs["identical_element_shapes"] or shapes.is_full(shape)
        return known, shape if known else None
    if made.type == "TensorArrayGradV3":
        return _element_shape(made.inputs[0])
    if made.type == "TensorArrayGradWithShape":
        known, shape = _element_shape(made.inputs[0])
        prefix = made.inputs[2]._shape
        if shape is None or not prefix or prefix[0] is None:
            return known, None
        return known, (None,) * prefix[0] + shape
    return False, None


def _shape_of_new(op: Operation, size: Shape) -> list[Shape]:
    with_rank(size, 0)
    return _handle_and_flow(op)


def _shape_of_gradient(op: Operation, handle: Shape, flow: Shape, *prefix: Shape) -> list[Shape]:
    return _handle_and_flow(op)


def _handle_and_flow(op: Operation) -> list[Shape]:
    shapes_of_both: list[Shape] = [(2,), ()]
    return shapes_of_both[: len(op.outputs)]


def _shape_of_write(op: Operation, handle: Shape, index: Shape, value: Shape, flow: Shape) -> Shape:
    with_rank(index, 0)
    with_rank(flow, 0)
    merge_shapes(_element_shape(op.inputs[0])[1], value)
    return ()


def _shape_of_read(op: Operation, handle: Shape, index: Shape, flow: Shape) -> Shape:
    with_rank(index, 0)
    with_rank(flow, 0)
    return _element_shape(op.inputs[0])[1]


def _shape_of_gather(op: Operation, handle: Shape, indices: Shape, flow: Shape) -> Shape:
    (count,) = with_rank(indices, 1)
    with_rank(flow, 0)
    known, element = _element_shape(op.inputs[0])
    element = element if known else op.attrs["element_shape"]
    return None if element is None else (count, *element)


def _shape_of_scatter(
    op: Operation, handle: Shape, indices: Shape, value: Shape, flow: Shape
) -> Shape:
    (count,) = with_rank(indices, 1)
    with_rank(flow, 0)
    value = with_rank_at_least(value, 1)
    if value is not None:
        merge_sizes(value[0], count)
        merge_shapes(_element_shape(op.inputs[0])[1], value[1:])
    return ()


def _shape_of_concat(op: Operation, handle: Shape, flow: Shape) -> list[Shape]:
    with_rank(flow, 0)
    return [None, (None,)]


def _shape_of_split(
    op: Operation, handle: Shape, value: Shape, lengths: Shape, flow: Shape
) -> Shape:
    with_rank(lengths, 1)
    with_rank(flow, 0)
    return ()


def _shape_of_size(op: Operation, handle: Shape, flow: Shape) -> Shape:
    return ()


for _specs, _rule in (
    ((TensorArrayV1, TensorArrayV2, TensorArrayV3), _shape_of_new),
    (
        (TensorArrayGrad, TensorArrayGradV2, TensorArrayGradV3, TensorArrayGradWithShape),
        _shape_of_gradient,
    ),
    ((TensorArrayWrite, TensorArrayWriteV2, TensorArrayWriteV3), _shape_of_write),
    ((TensorArrayRead, TensorArrayReadV2, TensorArrayReadV3), _shape_of_read),
    ((TensorArrayGather, TensorArrayGatherV2, TensorArrayGatherV3), _shape_of_gather),
    ((TensorArrayScatter, TensorArrayScatterV2, TensorArrayScatterV3), _shape_of_scatter),
    ((TensorArrayConcat, TensorArrayConcatV2, TensorArrayConcatV3), _shape_of_concat),
    ((TensorArraySplit, TensorArraySplitV2, TensorArraySplitV3), _shape_of_split),
    ((TensorArraySize, TensorArraySizeV2, TensorArraySizeV3), _shape_of_size),
):
    for _spec in _specs:
        _spec.shape(_rule)


@TensorArrayPack.shape
def _(op: Operation, handle: Shape, flow: Shape) -> Shape:
    element = op.attrs["element_shape"]
    return None if element is None else (None, *element)


@TensorArrayUnpack.shape
def _(op: Operation, handle: Shape, value: Shape, flow: Shape) -> Shape:
    with_rank_at_least(value, 1)
    return ()
