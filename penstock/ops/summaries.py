"""Summaries: values of a step as messages that TensorBoard shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import REAL

__all__ = ["merge", "merge_all", "scalar"]

ScalarSummary = op("ScalarSummary(tags: string, values: T) -> summary: string", T=REAL)
MergeSummary = op("MergeSummary(inputs: N*string) -> summary: string")
not_differentiable(ScalarSummary, MergeSummary)


@ScalarSummary.shape
def _(op, tags, values):
    return ()


@MergeSummary.shape
def _(op, *inputs):
    return ()


def _clean(name: str) -> str:
    """A tag that can be a node name: what can't stand in one becomes an underscore."""
    return re.sub(r"[^-/\w.]", "_", name).lstrip("/")


@contextmanager
def summary_scope(
    name: str, family: str | None, default_name: str | None, values: Sequence[Any]
) -> Iterator[tuple[str, str]]:
    """The tag and the scope of a summary: the family stands in front of both."""
    name = _clean(name)
    family = None if family is None else _clean(family)
    scope_name = name if family is None else f"{family}/{name}"
    with name_scope(scope_name, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(summary: Tensor, collections: Sequence[str] | None) -> None:
    """Adds a summary to its collections; to the one that `merge_all` merges if None."""
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)


def scalar(
    name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of one number: `tf.summary.scalar("loss", loss)`."""
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = ScalarSummary(tag, tensor, name=scope)
        collect(summary, collections)
        return summary


def merge(
    inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """One summary with the values of several."""
    with name_scope(name, "Merge", list(inputs)):
        summary = MergeSummary(list(inputs), name=None)
        collect(summary, [] if collections is None else collections)
        return summary


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """All summaries of the graph (or of a name scope) in one; None if there are none."""
    summaries = get_default_graph().get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None
