"""Collective ops: what the devices of a group compute together, each of them getting the result.

`tensorflow.python.ops.collective_ops`. The members of a group name it by a `group_key`, the ops
that belong together by an `instance_key`; an op waits until all members have come.
"""

from __future__ import annotations

from typing import Any

from penstock import devices, dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.registry import MEETS, STATEFUL, WAITS, attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX
from penstock.ops.shape_checks import with_rank_at_least
from penstock.ops.tensor_values import constant_value_as_shape
from penstock.shapes import Shape, TensorShape, raw

_GATHERED = (dtypes.float32, dtypes.float16, dtypes.float64, dtypes.int32, dtypes.int64)
_BROADCAST = (dtypes.bool, *_GATHERED)
_GROUP: dict[str, Any] = {
    "group_size": attr("int"),
    "group_key": attr("int"),
    "instance_key": attr("int"),
}
_HINTS: dict[str, Any] = {"communication_hint": "auto", "timeout_seconds": 0.0}
_MERGING: dict[str, Any] = {
    "merge_op": attr("string", allowed=("Min", "Max", "Mul", "Add")),
    "final_op": attr("string", allowed=("Id", "Div")),
}
_ORDERED: dict[str, Any] = {"is_stateless": False, "Nordering_token": attr("int", 0, minimum=0)}
_KEYS = "group_size: int32, group_key: int32, instance_key: int32"
_TOKENS = "ordering_token: Nordering_token*resource"

CollectiveReduce = op(
    "CollectiveReduce(input: T) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(FLOATING, INDEX),
    **_GROUP,
    **_MERGING,
    subdiv_offsets=attr("list(int)"),
    wait_for=attr("list(int)", []),
    **_HINTS,
)
CollectiveGather = op(
    "CollectiveGather(input: T) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(*_GATHERED),
    **_GROUP,
    shape=attr("shape"),
    **_HINTS,
)
CollectiveBcastSend = op(
    "CollectiveBcastSend(input: T) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(*_BROADCAST),
    **_GROUP,
    shape=attr("shape"),
    **_HINTS,
)
CollectiveBcastRecv = op(
    "CollectiveBcastRecv() -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(*_BROADCAST),
    **_GROUP,
    shape=attr("shape"),
    **_HINTS,
)
CollectiveReduceV2 = op(
    f"CollectiveReduceV2(input: T, {_KEYS}, {_TOKENS}) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(FLOATING, INDEX),
    **_MERGING,
    **_HINTS,
    **_ORDERED,
    max_subdivs_per_device=-1,
)
CollectiveGatherV2 = op(
    f"CollectiveGatherV2(input: T, {_KEYS}, {_TOKENS}) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(*_GATHERED),
    **_HINTS,
    **_ORDERED,
)
CollectiveBcastSendV2 = op(
    f"CollectiveBcastSendV2(input: T, {_KEYS}) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(*_BROADCAST),
    **_HINTS,
)
CollectiveBcastRecvV2 = op(
    f"CollectiveBcastRecvV2({_KEYS}, shape: Tshape) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    T=types(*_BROADCAST),
    Tshape=types(INDEX, default=dtypes.int32),
    **_HINTS,
)
not_differentiable(
    CollectiveReduce,
    CollectiveGather,
    CollectiveBcastSend,
    CollectiveBcastRecv,
    CollectiveReduceV2,
    CollectiveGatherV2,
    CollectiveBcastSendV2,
    CollectiveBcastRecvV2,
)


@CollectiveReduce.shape
@CollectiveReduceV2.shape
@CollectiveBcastSendV2.shape
def _(op: Any, given: Shape, *keys: Shape) -> Shape:
    return given


@CollectiveGather.shape
def _(op: Any, given: Shape) -> Shape:
    rows = with_rank_at_least(given, 1)
    if rows is None:
        return None
    known = None if rows[0] is None else rows[0] * op.attrs["group_size"]
    return (known, *rows[1:])


@CollectiveGatherV2.shape
def _(op: Any, given: Shape, *keys: Shape) -> Shape:
    return None if given is None else (None, *given[1:])


@CollectiveBcastSend.shape
@CollectiveBcastRecv.shape
def _(op: Any, *given: Shape) -> Shape:
    return raw(op.attrs["shape"])


@CollectiveBcastRecvV2.shape
def _(op: Any, group_size: Shape, group_key: Shape, instance_key: Shape, shape: Shape) -> Shape:
    return raw(constant_value_as_shape(op.inputs[3]))


def all_reduce(
    t: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Any = (0,),
    communication_hint: str = "auto",
) -> Tensor:
    """Reduces the tensors of a group's devices; each device gets the result.

    Args:
      t: this device's tensor.
      group_size: how many devices take part.
      group_key: the number of the group.
      instance_key: the number of the ops of the group that belong together.
      merge_op: Add, Mul, Max or Min.
      final_op: Div, by the size of the group, or Id.
      subdiv_offsets: where parts begin that may be reduced one by one; it changes no value.
      communication_hint: auto, ring or nccl; the devices decide.
    """
    _check_device(t)
    _check_size(group_size, "all_reduce")
    return CollectiveReduce(
        t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint,
    )


def all_gather(
    t: Any, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Tensor:
    """Joins the tensors of a group's devices along their first axis, in their order."""
    _check_device(t)
    _check_size(group_size, "all_gather")
    return CollectiveGather(
        t,
        shape=[0],
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


def broadcast_send(
    t: Any,
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """Gives this device's tensor, which has this shape and type, to the others of its group."""
    _check_device(t)
    _check_size(group_size, "broadcast_send")
    if t.shape != TensorShape(shape):
        raise ValueError(
            f"Shape of broadcast_send tensor, {t.shape}, not equal to declared shape {shape}"
        )
    if t.dtype != dtype:
        raise ValueError(
            f"Type of broadcast_send tensor, {t.dtype}, not equal to declared type {dtype}"
        )
    return CollectiveBcastSend(
        t,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


def broadcast_recv(
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Tensor:
    """The tensor of this shape and type that another device of the group sends."""
    _check_size(group_size, "broadcast_send")
    return CollectiveBcastRecv(
        T=dtype,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint,
    )


def _check_device(t: Any) -> None:
    if not devices.canonical_name(convert_to_tensor(t).device):
        raise ValueError("Device assignment required for collective ops")


def _check_size(group_size: int, function: str) -> None:
    if group_size <= 1:
        raise ValueError(f"Parameter group_size to {function} must be at least 2.")
