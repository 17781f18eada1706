"""`tf.contrib.nccl`: sums, products, minima and maxima over the GPUs of a machine.

Penstock's kernels of these ops are on CPUs, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from penstock import devices, dtypes
from penstock.ir.defaults import get_default_graph
from penstock.ir.registry import MEETS, STATEFUL, WAITS, attr, op, types
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape, raw

__all__ = ["all_max", "all_min", "all_prod", "all_sum", "broadcast", "reduce_sum"]

_TYPES = types(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_REDUCTION = attr("string", allowed=("min", "max", "prod", "sum"))

NcclAllReduce = op(
    "NcclAllReduce(input: T) -> data: T",
    STATEFUL,
    WAITS,
    MEETS,
    reduction=_REDUCTION,
    T=_TYPES,
    num_devices=attr("int"),
    shared_name=attr("string"),
)
NcclReduce = op(
    "NcclReduce(input: num_devices*T) -> data: T", STATEFUL, reduction=_REDUCTION, T=_TYPES
)
NcclBroadcast = op("NcclBroadcast(input: T) -> output: T", STATEFUL, T=_TYPES, shape=attr("shape"))


@NcclAllReduce.shape
@NcclReduce.shape
def _(op: Any, *given: Shape) -> Shape:
    return given[0]


@NcclBroadcast.shape
def _(op: Any, given: Shape) -> Shape:
    return raw(op.attrs["shape"])


@NcclAllReduce.gradient
def _(op: Any, grad: Any) -> Any:
    _check_sum(op)
    _check_device(grad, expected=op.device)
    with get_default_graph().device(op.device):
        return NcclAllReduce(
            grad,
            reduction="sum",
            num_devices=op.get_attr("num_devices"),
            shared_name=op.get_attr("shared_name") + b"_grad",
        )


@NcclReduce.gradient
def _(op: Any, grad: Any) -> Any:
    _check_sum(op)
    _check_device(grad, expected=op.device)
    with get_default_graph().device(op.device):
        shared = NcclBroadcast(grad, shape=grad.shape)
    return [shared] * len(op.inputs)


@NcclBroadcast.gradient
def _(op: Any, grad: Any) -> Any:
    # The sum over the users of the value is one NCCL reduction instead of copies and an AddN.
    grads = list(grad.op.inputs)
    for each in grads:
        _check_device(each)
    with get_default_graph().device(op.device):
        return NcclReduce(grads, reduction="sum")


def _check_sum(op: Any) -> None:
    if op.get_attr("reduction") != b"sum":
        raise LookupError(f"No gradient defined for {op.type} except sum.")


def all_sum(tensors: Sequence[Any]) -> list[Tensor]:
    """For each of the tensors, which are on different devices, their sum on its device."""
    return _all_reduce("sum", tensors)


def all_prod(tensors: Sequence[Any]) -> list[Tensor]:
    """For each of the tensors, which are on different devices, their product on its device."""
    return _all_reduce("prod", tensors)


def all_min(tensors: Sequence[Any]) -> list[Tensor]:
    """For each of the tensors, which are on different devices, their minimum on its device."""
    return _all_reduce("min", tensors)


def all_max(tensors: Sequence[Any]) -> list[Tensor]:
    """For each of the tensors, which are on different devices, their maximum on its device."""
    return _all_reduce("max", tensors)


def reduce_sum(tensors: Sequence[Any]) -> Tensor:
    """The sum of tensors of several devices, on the current one, which is one of theirs."""
    _check_not_empty(tensors, "reduce")
    for each in tensors:
        _check_device(each)
    made: Tensor = NcclReduce(tensors, reduction="sum")
    if all(each.device != made.device for each in tensors):
        raise ValueError("One input tensor must be assigned to current device")
    return made


def broadcast(tensor: Any) -> Tensor:
    """A tensor that ops on other devices can take."""
    _check_device(tensor)
    with get_default_graph().device(tensor.device):
        made: Tensor = NcclBroadcast(tensor, shape=tensor.shape)
        return made


_numbers = itertools.count()


def _all_reduce(reduction: str, tensors: Sequence[Any]) -> list[Tensor]:
    _check_not_empty(tensors, "all reduce")
    shared_name = f"c{next(_numbers)}"
    made = []
    for each in tensors:
        _check_device(each)
        with get_default_graph().device(each.device):
            made.append(
                NcclAllReduce(
                    each,
                    reduction=reduction,
                    num_devices=len(tensors),
                    shared_name=shared_name,
                )
            )
    return made


def _check_not_empty(tensors: Sequence[Any], what: str) -> None:
    if not tensors:
        raise ValueError(f"Must pass >0 tensors to {what} operations")


def _check_device(tensor: Any, expected: str | None = None) -> None:
    if not devices.canonical_name(tensor.device):
        raise ValueError(f"Device assignment required for nccl collective ops: {tensor}")
    if expected and expected != tensor.device:
        raise ValueError(f"Expected device {expected}, got {tensor.device}")
