"""Stacks: the memory of gradient loops."""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, WRITES, not_differentiable, op
from penstock.ir.signature import attr
from penstock.shapes import Shape

StackV2 = op(
    "StackV2(max_size: int32) -> handle: resource", STATEFUL, elem_type=attr("type"), stack_name=""
)
StackPushV2 = op("StackPushV2(handle: resource, elem: T) -> output: T", STATEFUL, swap_memory=False)
StackPopV2 = op("StackPopV2(handle: resource) -> elem: elem_type", STATEFUL, elem_type=attr("type"))
StackCloseV2 = op("StackCloseV2(handle: resource)", STATEFUL)
# The same with references for handles, as in graphs of the first releases.
Stack = op("Stack() -> handle: &string", STATEFUL, elem_type=attr("type"), stack_name="")
StackPush = op("StackPush(handle: &string, elem: T) -> output: T", WRITES, swap_memory=False)
StackPop = op("StackPop(handle: &string) -> elem: elem_type", WRITES, elem_type=attr("type"))
StackClose = op("StackClose(handle: &string)", WRITES)
not_differentiable(
    *(StackV2, StackPushV2, StackPopV2, StackCloseV2), *(Stack, StackPush, StackPop, StackClose)
)


@Stack.shape
@StackV2.shape
def _(op: Operation, *max_size: Shape) -> Shape:
    return (2,)


@StackPush.shape
@StackPushV2.shape
def _(op: Operation, handle: Shape, elem: Shape) -> Shape:
    return elem


@StackPop.shape
@StackPopV2.shape
def _(op: Operation, handle: Shape) -> Shape:
    return None
