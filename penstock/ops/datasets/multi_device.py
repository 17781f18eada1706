"""Iterators that deal the elements of one dataset out to several devices."""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, WRITES, attr, op
from penstock.ops.datasets.elements import ELEMENTS
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

MultiDeviceIterator = op(
    "MultiDeviceIterator() -> handle: resource",
    STATEFUL,
    devices=attr("list(string)", minimum=1),
    shared_name=attr("string"),
    container=attr("string"),
    **ELEMENTS,
)
AnonymousMultiDeviceIterator = op(
    "AnonymousMultiDeviceIterator() -> handle: resource, deleter: variant",
    STATEFUL,
    devices=attr("list(string)", minimum=1),
    **ELEMENTS,
)
DeleteMultiDeviceIterator = op(
    "DeleteMultiDeviceIterator(multi_device_iterator: resource, iterators: N*resource, "
    "deleter: variant)",
    STATEFUL,
    N=attr("int", minimum=0),
)
MultiDeviceIteratorInit = op(
    "MultiDeviceIteratorInit(dataset: variant, multi_device_iterator: resource, "
    "max_buffer_size: int64) -> incarnation_id: int64",
    STATEFUL,
    WRITES,
)
MultiDeviceIteratorGetNextFromShard = op(
    "MultiDeviceIteratorGetNextFromShard(multi_device_iterator: resource, shard_num: int32, "
    "incarnation_id: int64) -> components: *output_types",
    STATEFUL,
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
)
MultiDeviceIteratorToStringHandle = op(
    "MultiDeviceIteratorToStringHandle(multi_device_iterator: resource) -> string_handle: string",
    STATEFUL,
)
MultiDeviceIteratorFromStringHandle = op(
    "MultiDeviceIteratorFromStringHandle(string_handle: string) -> multi_device_iterator: resource",
    STATEFUL,
    output_types=attr("list(type)", [], minimum=0),
    output_shapes=attr("list(shape)", [], minimum=0),
)


@MultiDeviceIterator.shape
@MultiDeviceIteratorInit.shape
@MultiDeviceIteratorToStringHandle.shape
@MultiDeviceIteratorFromStringHandle.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    return ()


@AnonymousMultiDeviceIterator.shape
def _(op: Operation) -> list[Shape]:
    return [(), ()]


@MultiDeviceIteratorGetNextFromShard.shape
def _(op: Operation, handle: Shape, shard_num: Shape, incarnation_id: Shape) -> list[Shape]:
    with_rank(shard_num, 0)
    with_rank(incarnation_id, 0)
    return list(op.attrs["output_shapes"])
