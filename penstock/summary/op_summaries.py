"""Summaries that a graph's steps write to the thread's writer, where recording is on."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import penstock as tf
from penstock.ir.collections import GraphKeys
from penstock.layers.smart_cond import smart_cond
from penstock.ops import summary_writers as writing
from penstock.ops.summaries import summary_scope as tagged_scope
from penstock.summary.op_writers import defaults, serialized_graph

_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")

# Whether to record -------------------------------------------------------------------------------


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A block in which summaries are recorded where a condition holds.

    Args:
      condition: a truth value, a tensor with one, or a function that gives one.
    """
    outer = defaults.recording
    defaults.recording = condition
    try:
        yield
    finally:
        defaults.recording = outer


def always_record_summaries() -> Any:
    """A block in which summaries are recorded."""
    return record_if(True)


def never_record_summaries() -> Any:
    """A block in which summaries are not recorded."""
    return record_if(False)


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """A block in which summaries are recorded at every so many-th step."""
    if global_step is None:
        global_step = tf.train.get_or_create_global_step()
    with tf.device("cpu:0"):
        return record_if(tf.equal(global_step % n, 0))


def should_record_summaries() -> Any:
    """A tensor that tells whether summaries are recorded here; they are not by default."""
    return _is_recording(by_default=False)


def _is_recording(*, by_default: bool) -> Any:
    condition = defaults.recording() if callable(defaults.recording) else defaults.recording
    return tf.logical_and(_records_for_all(), by_default if condition is None else condition)


def _records_for_all() -> Any:
    """Whether this part of the graph records: of the replicas of a model the first one does."""
    replica = tf.distribute.get_replica_context()
    if replica is None or not tf.distribute.has_strategy():
        return True
    return tf.equal(replica.replica_id_in_sync_group, 0)


# At which step -----------------------------------------------------------------------------------


def get_step() -> Any:
    """The thread's step for summaries that `write` writes, None if there is none."""
    return defaults.step


def set_step(step: Any) -> None:
    """Sets the thread's step for summaries that `write` writes: a number or a variable."""
    defaults.step = step


def _chosen_step(step: Any) -> Any:
    if step is None:
        return tf.train.get_or_create_global_step()
    return step if isinstance(step, tf.Tensor) else tf.convert_to_tensor(step, tf.int64)


# Summaries ---------------------------------------------------------------------------------------


def _nothing() -> Any:
    return tf.constant(False)


def _recorded(
    name: str, tensor: Any, write: Callable[[Any, str, str], Any], family: str | None
) -> Any:
    """A truth value that is computed by writing a summary, if it is time to record.

    Args:
      write: makes the operation that writes, of a writer's handle, a tag and a node name.
    """
    writer = defaults.writer
    if writer is None:
        return tf.no_op()
    # Inside a conditional the scope is the same, so that names don't tell whether there is one.
    outer_scope = tf.get_default_graph().get_name_scope()

    def record() -> Any:
        with (
            tf.name_scope(f"{outer_scope}/" if outer_scope else ""),
            tagged_scope(name, family, values=[tensor]) as (tag, scope),
            tf.control_dependencies([write(writer._resource, tag, scope)]),
        ):
            return tf.constant(True)

    with tf.device("cpu:0"):
        done = smart_cond(should_record_summaries(), record, _nothing, name="")
        tf.add_to_collection(GraphKeys._SUMMARY_COLLECTION, done)
    return done


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number; `step` is the global step by default."""

    def write(writer: Any, tag: str, scope: str) -> Any:
        at = _chosen_step(step)
        return writing.WriteScalarSummary(writer, at, tag, tf.identity(tensor), name=scope)

    return _recorded(name, tensor, write, family)


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how the elements of a tensor are distributed; `step` is the global step by default."""

    def write(writer: Any, tag: str, scope: str) -> Any:
        at = _chosen_step(step)
        return writing.WriteHistogramSummary(writer, at, tag, tf.identity(tensor), name=scope)

    return _recorded(name, tensor, write, family)


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes images, `[batch, height, width, channels]`; `step` is the global step by default.

    Args:
      bad_color: color of pixels that are no finite numbers; red by default.
    """

    def write(writer: Any, tag: str, scope: str) -> Any:
        color = tf.constant([255, 0, 0, 255], tf.uint8) if bad_color is None else bad_color
        at = _chosen_step(step)
        return writing.WriteImageSummary(
            writer, at, tag, tf.identity(tensor), color, max_images=max_images, name=scope
        )

    return _recorded(name, tensor, write, family)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes sounds, `[batch, frames, channels]`; `step` is the global step by default."""

    def write(writer: Any, tag: str, scope: str) -> Any:
        at = _chosen_step(step)
        return writing.WriteAudioSummary(
            writer, at, tag, tf.identity(tensor), sample_rate, max_outputs=max_outputs, name=scope
        )

    return _recorded(name, tensor, write, family)


def generic(
    name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None
) -> Any:
    """Writes a tensor as it is; `step` is the global step by default.

    Args:
      metadata: a SummaryMetadata message, or its bytes, that says which plugin shows it.
    """

    def write(writer: Any, tag: str, scope: str) -> Any:
        described = "" if metadata is None else metadata
        if hasattr(described, "SerializeToString"):
            described = described.SerializeToString()
        if not isinstance(described, tf.Tensor):
            described = tf.constant(described)
        at = _chosen_step(step)
        return writing.WriteSummary(writer, at, tf.identity(tensor), tag, described, name=scope)

    return _recorded(name, tensor, write, family)


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes a graph, whether or not recording is on.

    Args:
      param: a tensor with a serialized GraphDef; in eager mode also a graph or a GraphDef.
    """
    if not isinstance(param, tf.Tensor) and not tf.executing_eagerly():
        raise TypeError(
            f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}"
        )
    if defaults.writer is None:
        return tf.no_op()
    with tf.device("cpu:0"):
        is_graph = isinstance(param, tf.Graph | tf.GraphDef)
        message = tf.constant(serialized_graph(param)) if is_graph else tf.identity(param)
        return writing.WriteGraphSummary(
            defaults.writer._resource, _chosen_step(step), message, name=name
        )


def import_event(tensor: Any, name: str | None = None) -> Any:
    """Writes a serialized Event message as it is, whether or not recording is on."""
    if defaults.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    return writing.ImportEvent(defaults.writer._resource, tensor, name=name)


def all_v2_summary_ops() -> list[Any]:
    """The summaries of the graph that are written when they are run."""
    return list(tf.get_collection(GraphKeys._SUMMARY_COLLECTION))


# TensorFlow 2's functions ------------------------------------------------------------------------


@contextlib.contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Sequence[Any] | None = None
) -> Iterator[tuple[str, str]]:
    """A name scope for a summary: gives the tag, which needs not be unique, and the scope."""
    name = name or default_name
    outer = tf.get_default_graph().get_name_scope()
    tag = f"{outer}/{name}" if outer else name
    legal_name = _INVALID_SCOPE_CHARACTERS.sub("", name) or None
    with tf.name_scope(legal_name, default_name, values) as scope:
        yield tag, scope


def write(
    tag: Any, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Any:
    """Writes a tensor; gives whether that happened.

    Args:
      step: the one of `set_step` by default.
      metadata: a SummaryMetadata message, or its bytes.
    """
    described = b"" if metadata is None else metadata
    if hasattr(described, "SerializeToString"):
        described = described.SerializeToString()

    def make(writer: Any, at: Any, scope: str) -> Any:
        value = tf.identity(tensor)
        return writing.WriteSummary(writer, at, value, tag, described, name=scope)

    return _written(make, step, name, "write_summary")


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes serialized Summary messages; gives whether that happened."""

    def make(writer: Any, at: Any, scope: str) -> Any:
        return writing.WriteRawProtoSummary(writer, at, tf.identity(tensor), name=scope)

    return _written(make, step, name, "write_raw_pb")


def _written(
    make: Callable[[Any, Any, str], Any], step: Any, name: str | None, default_name: str
) -> Any:
    with tf.name_scope(name, default_name) as scope:
        writer = defaults.writer
        if writer is None:
            return tf.constant(False)
        at = defaults.step if step is None else step
        if at is None:
            raise ValueError(
                "No step set via 'step' argument or tf.summary.experimental.set_step()"
            )

        def record() -> Any:
            with tf.device("cpu:0"):
                done = make(writer._resource, at, scope)
                with tf.control_dependencies([done]):
                    return tf.constant(True)

        with tf.device("cpu:0"):
            recording = _is_recording(by_default=True)
            written = smart_cond(recording, record, _nothing, name="summary_cond")
            tf.add_to_collection(GraphKeys._SUMMARY_COLLECTION, written)
            return written
