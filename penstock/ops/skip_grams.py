"""Words paired with those around them."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.shapes import Shape

__all__ = ["SkipGramGenerateCandidates"]

SkipGramGenerateCandidates = op(
    "SkipGramGenerateCandidates(input_tensor: T, min_skips: int32, max_skips: int32, "
    "start: int32, limit: int32, emit_self_as_target: bool) -> tokens: T, labels: T",
    STATEFUL,
    seed=0,
    seed2=0,
)

not_differentiable("SkipGramGenerateCandidates")


@SkipGramGenerateCandidates.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [(None,), (None,)]
