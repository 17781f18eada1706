"""Stacks: the memory of gradient loops."""

from __future__ import annotations

from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.signature import attr

StackV2 = op(
    "StackV2(max_size: int32) -> handle: resource", STATEFUL, elem_type=attr("type"), stack_name=""
)
StackPushV2 = op("StackPushV2(handle: resource, elem: T) -> output: T", STATEFUL, swap_memory=False)
StackPopV2 = op("StackPopV2(handle: resource) -> elem: elem_type", STATEFUL, elem_type=attr("type"))
StackCloseV2 = op("StackCloseV2(handle: resource)", STATEFUL)
not_differentiable(StackV2, StackPushV2, StackPopV2, StackCloseV2)


@StackV2.shape
def _(op, max_size):
    return (2,)


@StackPushV2.shape
def _(op, handle, elem):
    return elem


@StackPopV2.shape
def _(op, handle):
    return None
