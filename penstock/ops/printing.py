"""The op of `tf.print`, and the time of a step."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

__all__ = ["timestamp"]

PrintV2 = op("PrintV2(input: string)", STATEFUL, output_stream="stderr", end="\n")
Timestamp = op("Timestamp() -> ts: float64", STATEFUL)
not_differentiable(PrintV2, Timestamp)


@PrintV2.shape
def _(op: Any, input: Shape) -> Any:
    if input not in (None, ()):
        raise ValueError(f"Shape must be rank 0 but is rank {len(input)}")
    return []


@Timestamp.shape
def _(op: Any) -> Shape:
    return ()


def timestamp(name: str | None = None) -> Tensor:
    """The time when the node runs, in seconds since 1970."""
    return Timestamp(name=name)
