"""The summary functions of before TensorFlow 1.0: the tag is taken as it is, whatever the scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.summaries import (
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    MergeSummary,
    ScalarSummary,
    collect,
)

__all__ = [
    "audio_summary",
    "get_summary_op",
    "histogram_summary",
    "image_summary",
    "merge_all_summaries",
    "merge_summary",
    "scalar_summary",
]

Collections = Sequence[str] | None


def scalar_summary(
    tags: Any, values: Any, collections: Collections = None, name: str | None = None
) -> Tensor:
    """A summary of numbers, one for each tag; `tf.summary.scalar` of today."""
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        summary = ScalarSummary(tags, values, name=scope)
        collect(summary, collections)
        return summary


def histogram_summary(
    tag: Any, values: Any, collections: Collections = None, name: str | None = None
) -> Tensor:
    """A summary of a distribution; `tf.summary.histogram` of today."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        summary = HistogramSummary(tag, values, name=scope)
        collect(summary, collections)
        return summary


def image_summary(
    tag: Any,
    tensor: Any,
    max_images: int = 3,
    collections: Collections = None,
    name: str | None = None,
) -> Tensor:
    """A summary of images; `tf.summary.image` of today."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        summary = ImageSummary(tag, tensor, max_images=max_images, name=scope)
        collect(summary, collections)
        return summary


def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Collections = None,
    name: str | None = None,
) -> Tensor:
    """A summary of sounds; `tf.summary.audio` of today."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtypes.float32, "sample_rate")
        summary = AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        collect(summary, collections)
        return summary


def merge_summary(
    inputs: Sequence[Any], collections: Collections = None, name: str | None = None
) -> Tensor:
    """One summary with the values of several; `tf.summary.merge` of today."""
    with name_scope(name, "MergeSummary", list(inputs)):
        summary = MergeSummary(list(inputs), name=name)
        collect(summary, collections, ())
        return summary


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | None:
    """All summaries of the graph in one; `tf.summary.merge_all` of today."""
    summaries = get_default_graph().get_collection(key)
    return merge_summary(summaries) if summaries else None


def get_summary_op() -> Tensor | None:
    """The summary of the graph's collection SUMMARY_OP; all summaries in one if it is empty."""
    graph = get_default_graph()
    members = graph.get_collection(GraphKeys.SUMMARY_OP)
    if members:
        return members[0]
    merged = merge_all_summaries()
    if merged is not None:
        graph.add_to_collection(GraphKeys.SUMMARY_OP, merged)
    return merged
