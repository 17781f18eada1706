"""How much memory of a device is in use."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]

_bytes_in_use = op("BytesInUse() -> out: int64", STATEFUL)
_bytes_limit = op("BytesLimit() -> out: int64", STATEFUL)
_max_bytes_in_use = op("MaxBytesInUse() -> out: int64", STATEFUL)

not_differentiable("BytesInUse", "BytesLimit", "MaxBytesInUse")


@_bytes_in_use.shape
@_bytes_limit.shape
@_max_bytes_in_use.shape
def _(op: Any) -> Shape:
    return ()


def BytesInUse() -> Tensor:
    """The memory of the node's device that tensors take now."""
    return _bytes_in_use()


def BytesLimit() -> Tensor:
    """All the memory of the node's device."""
    return _bytes_limit()


def MaxBytesInUse() -> Tensor:
    """The most memory of the node's device that tensors have taken."""
    return _max_bytes_in_use()
