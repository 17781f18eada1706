"""Summaries: values of a step as messages that TensorBoard shows."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import not_differentiable, op
from penstock.ir.signature import attr, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import REAL
from penstock.ops.constants import constant
from penstock.ops.shape_checks import with_rank
from penstock.platform import logging
from penstock.proto import SummaryDescription, SummaryMetadata

__all__ = [
    "audio",
    "get_summary_description",
    "histogram",
    "image",
    "merge",
    "merge_all",
    "scalar",
    "tensor_summary",
    "text",
]

ScalarSummary = op("ScalarSummary(tags: string, values: T) -> summary: string", T=REAL)
MergeSummary = op("MergeSummary(inputs: N*string) -> summary: string")
HistogramSummary = op(
    "HistogramSummary(tag: string, values: T) -> summary: string",
    T=types(REAL, default=dtypes.float32),
)
ImageSummary = op(
    "ImageSummary(tag: string, tensor: T) -> summary: string",
    max_images=attr("int", 3, minimum=1),
    T=types(dtypes.uint8, dtypes.float32, dtypes.float16, dtypes.float64, default=dtypes.float32),
    bad_color=attr("tensor", np.array([255, 0, 0, 255], dtype=np.uint8)),
)
AudioSummary = op(
    "AudioSummary(tag: string, tensor: float32) -> summary: string",
    sample_rate=attr("float"),
    max_outputs=attr("int", 3, minimum=1),
)
AudioSummaryV2 = op(
    "AudioSummaryV2(tag: string, tensor: float32, sample_rate: float32) -> summary: string",
    max_outputs=attr("int", 3, minimum=1),
)
TensorSummary = op(
    "TensorSummary(tensor: T) -> summary: string",
    description="",
    labels=attr("list(string)", []),
    display_name="",
)
TensorSummaryV2 = op(
    "TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) "
    "-> summary: string",
)
not_differentiable(
    ScalarSummary,
    MergeSummary,
    HistogramSummary,
    ImageSummary,
    AudioSummary,
    AudioSummaryV2,
    TensorSummary,
    TensorSummaryV2,
)


@ScalarSummary.shape
@HistogramSummary.shape
@ImageSummary.shape
@AudioSummary.shape
@TensorSummary.shape
@TensorSummaryV2.shape
def _(op, *inputs):
    return ()


@AudioSummaryV2.shape
def _(op, tag, tensor, sample_rate):
    with_rank(sample_rate, 0)
    return ()


@MergeSummary.shape
def _(op, *inputs):
    return ()


def clean_tag(name: str | None) -> str | None:
    """A tag that can be a node name: what can't stand in one becomes an underscore."""
    if name is None:
        return None
    cleaned = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
    if cleaned != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def summary_scope(
    name: str | None,
    family: str | None = None,
    default_name: str | None = None,
    values: Sequence[Any] | None = None,
) -> Iterator[tuple[str, str]]:
    """The tag and the scope of a summary: the family stands in front of both."""
    name = clean_tag(name)
    family = clean_tag(family)
    scope_name = name if family is None else f"{family}/{name}"
    with name_scope(scope_name, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collect(
    val: Tensor,
    collections: Sequence[str] | None,
    default_collections: Sequence[str] = (GraphKeys.SUMMARIES,),
) -> None:
    """Adds a summary to its collections; to the one that `merge_all` merges if None."""
    for key in default_collections if collections is None else collections:
        get_default_graph().add_to_collection(key, val)


class _Replica(threading.local):
    """The replica of a model whose part of the graph a thread builds."""

    number = 0


replica = _Replica()


def _of_the_first_replica(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Lets the replicas of a model have one summary: those of the others are empty."""

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Tensor:
        return constant("") if replica.number else make(*args, **kwargs)

    return made


@_of_the_first_replica
def scalar(
    name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of one number: `tf.summary.scalar("loss", loss)`."""
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = ScalarSummary(tag, tensor, name=scope)
        collect(summary, collections)
        return summary


@_of_the_first_replica
def histogram(
    name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of how the elements of a tensor are distributed."""
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        summary = HistogramSummary(tag, values, name=scope)
        collect(summary, collections)
        return summary


@_of_the_first_replica
def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of images.

    Args:
      name: the tag.
      tensor: `[batch, height, width, channels]` with 1 (grey), 3 (RGB) or 4 (RGBA) channels.
        Floats are scaled so that each image fills the range of 0 to 255; where one has negative
        values, 0 becomes 127.
      max_outputs: how many images of the batch to keep.
      collections: graph collections; the one that `merge_all` merges if None.
      family: prefix of the tag.
    """
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = ImageSummary(tag, tensor, max_images=max_outputs, name=scope)
        collect(summary, collections)
        return summary


@_of_the_first_replica
def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of sounds.

    Args:
      name: the tag.
      tensor: `[batch, frames, channels]` or `[batch, frames]`, from -1 to 1.
      sample_rate: frames a second.
      max_outputs: how many sounds of the batch to keep.
      collections: graph collections; the one that `merge_all` merges if None.
      family: prefix of the tag.
    """
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtypes.float32, "sample_rate")
        summary = AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        collect(summary, collections)
        return summary


@_of_the_first_replica
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Sequence[str] | None = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary with a whole tensor; `summary_metadata` says which plugin shows it."""
    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = TensorSummaryV2(tag, tensor, metadata.SerializeToString(), name=scope)
        collect(summary, collections)
        return summary


def text(name: str, tensor: Any, collections: Sequence[str] | None = None) -> Tensor:
    """A summary of texts: `tensor` holds strings."""
    if tensor.dtype is not dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription that a node of type TensorSummary carries."""
    from google.protobuf import json_format

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    message = SummaryDescription()
    json_format.Parse(node_def.attr["description"].s.decode(), message)
    return message


@_of_the_first_replica
def merge(
    inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """One summary with the values of several."""
    _refuse_in_eager_mode()
    name = clean_tag(name)
    with name_scope(name, "Merge", list(inputs)):
        summary = MergeSummary(list(inputs), name=name)
        collect(summary, collections, ())
        return summary


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """All summaries of the graph (or of a name scope) in one; None if there are none."""
    _refuse_in_eager_mode()
    summaries = get_default_graph().get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


def _refuse_in_eager_mode() -> None:
    if executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution: tf.contrib.summary "
            "writes its summaries one by one."
        )
