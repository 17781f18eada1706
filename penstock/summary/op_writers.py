"""Writers of summaries that are operations: made, opened, flushed and closed by a graph's steps."""

from __future__ import annotations

import abc
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import penstock as tf
from penstock.eager.tensor import EagerTensor
from penstock.ir.naming import uid
from penstock.ops.summary_writers import (
    CloseSummaryWriter,
    CreateSummaryFileWriter,
    FlushSummaryWriter,
    WriteGraphSummary,
)
from penstock.ops.summary_writers import SummaryWriter as writer_handle
from penstock.platform import logging

_INIT_OPS = "_SUMMARY_WRITER_V2"
_DEFAULT_MAX_QUEUE = 10
_DEFAULT_FLUSH_MILLIS = 2 * 60 * 1000


class _Defaults(threading.local):
    """What a thread writes its summaries with, unless a call says otherwise."""

    writer: ResourceSummaryWriter | None = None
    #: A truth value, a tensor with one, or a function that gives one; None if nobody has said.
    recording: Any = None
    step: Any = None


defaults = _Defaults()


class SummaryWriter(abc.ABC):
    """What summaries are written with."""

    @abc.abstractmethod
    def set_as_default(self) -> None:
        """Makes this the thread's writer."""

    @abc.abstractmethod
    def as_default(self) -> Any:
        """A block in which this is the thread's writer."""

    def init(self) -> Any:
        """An operation that opens the writer."""
        raise NotImplementedError

    def flush(self) -> Any:
        """An operation that brings what waits in memory to disk."""
        raise NotImplementedError

    def close(self) -> Any:
        """An operation that flushes and ends the writer's file."""
        raise NotImplementedError


class ResourceSummaryWriter(SummaryWriter):
    """A writer that lives under a name among the resources of a session.

    Args:
      shared_name: the name; writers with one name are one.
      init_op_fn: makes the operation that opens the writer with a handle.
      name: name of the handle's operation.
      v2: whether `init` gives the same operation every time.
    """

    def __init__(
        self,
        shared_name: str,
        init_op_fn: Callable[[Any], Any],
        name: str | None = None,
        v2: bool = False,
    ):
        self._resource = writer_handle(shared_name=shared_name, name=name)
        self._init_op_fn = init_op_fn
        self._init_op = init_op_fn(self._resource)
        self._v2 = v2
        self._closed = False
        if tf.executing_eagerly():  # nobody else can open it again
            weakref.finalize(self, self._resource._value.destroy)
        else:
            tf.add_to_collection(_INIT_OPS, self._init_op)

    def set_as_default(self) -> None:
        self._check_is_open()
        defaults.writer = self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        self._check_is_open()
        outer = defaults.writer
        defaults.writer = self
        try:
            yield self
            self.flush()
        finally:
            defaults.writer = outer

    def init(self) -> Any:
        self._check_is_open()
        return self._init_op if self._v2 else self._init_op_fn(self._resource)

    def flush(self) -> Any:
        return None if self._is_closed_for_good() else flush(self)

    def close(self) -> Any:
        if self._is_closed_for_good():
            return None
        with tf.control_dependencies([self.flush()]), tf.device("cpu:0"):
            closing = CloseSummaryWriter(self._resource)
        self._closed = self._v2 and tf.executing_eagerly()
        return closing

    def _is_closed_for_good(self) -> bool:
        return self._closed and self._v2 and tf.executing_eagerly()

    def _check_is_open(self) -> None:
        if self._is_closed_for_good():
            raise RuntimeError("SummaryWriter is already closed")


class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing."""

    def set_as_default(self) -> None:
        pass

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        yield

    def init(self) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def create_noop_writer() -> NoopSummaryWriter:
    """A writer that writes nothing."""
    return NoopSummaryWriter()


def _opening(
    logdir: Any, max_queue: Any, flush_millis: Any, suffix: Any, *, own_file: bool = False
) -> Callable[[Any], Any]:
    """A function that makes the operation which opens a writer's file."""
    if max_queue is None:
        max_queue = tf.constant(_DEFAULT_MAX_QUEUE)
    if flush_millis is None:
        flush_millis = tf.constant(_DEFAULT_FLUSH_MILLIS)
    if suffix is None:
        suffix = tf.constant(".v2")
    if own_file:
        # Files of one second have one name up to here.
        suffix = tf.constant(f".{os.getpid()}.{uid()}") + suffix
    return lambda writer: CreateSummaryFileWriter(writer, logdir, max_queue, flush_millis, suffix)


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of summaries to an event file.

    Args:
      logdir: the folder; None gives a writer that writes nothing.
      max_queue: how many summaries may wait in memory, 10 by default.
      flush_millis: for how many milliseconds they may, two minutes by default.
      filename_suffix: what to append to the file's name, `.v2` by default.
      name: the name that writers share a file by, made of the folder's by default.
    """
    if logdir is None:
        return NoopSummaryWriter()
    folder = str(logdir)
    with tf.device("cpu:0"):
        opening = _opening(folder, max_queue, flush_millis, filename_suffix)
        return ResourceSummaryWriter("logdir:" + folder if name is None else name, opening)


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The old name of `create_file_writer`."""
    logging.warning(
        "Deprecation Warning: create_summary_file_writer was renamed to create_file_writer"
    )
    return create_file_writer(*args, **kwargs)


def create_file_writer_v2(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer with an event file of its own; the arguments are those of `create_file_writer`.

    Args:
      name: name of the operation that makes the writer.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    in_function = tf.get_default_graph().building_function
    with (
        tf.name_scope(name, "create_file_writer") as scope,
        tf.device("cpu:0"),
        tf.init_scope(),
    ):
        shared_name = scope.rstrip("/")
        if tf.executing_eagerly():
            shared_name = ""  # it is nobody else's
            _check_eager_arguments(
                in_function,
                logdir=logdir,
                max_queue=max_queue,
                flush_millis=flush_millis,
                filename_suffix=filename_suffix,
            )
        folder = tf.convert_to_tensor(logdir, dtype=tf.string)
        opening = _opening(folder, max_queue, flush_millis, filename_suffix, own_file=True)
        return ResourceSummaryWriter(shared_name, opening, name=name, v2=True)


def _check_eager_arguments(in_function: bool, **arguments: Any) -> None:
    """Refuses tensors of a graph for a writer that is made at once."""
    where = "a function that makes it when it is traced" if in_function else "eager execution"
    for name, value in arguments.items():
        if tf.is_tensor(value) and not isinstance(value, EagerTensor):
            raise ValueError(
                f'Invalid graph Tensor argument "{name}={value}" to create_file_writer() in {where}'
            )


def flush(writer: Any = None, name: str | None = None) -> Any:
    """An operation that brings what waits in memory to disk.

    Args:
      writer: the writer, or its handle; the thread's by default.
      name: name of the operation.
    """
    chosen = defaults.writer if writer is None else writer
    if chosen is None:
        return tf.no_op()
    handle = chosen._resource if isinstance(chosen, ResourceSummaryWriter) else chosen
    with tf.device("cpu:0"):
        return FlushSummaryWriter(handle, name=name)


def summary_writer_initializer_op() -> list[Any]:
    """The operations that open the graph's writers."""
    return list(tf.get_collection(_INIT_OPS))


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the graph's writers in a session, the default one if None, and may write a graph.

    Args:
      graph: a `tf.Graph` or `GraphDef` to write.
    """
    if defaults.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = tf.get_default_session()
        if session is None:
            raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        given = tf.placeholder(tf.string)
        with tf.device("cpu:0"):
            step = tf.constant(0, tf.int64)
            write = WriteGraphSummary(defaults.writer._resource, step, tf.identity(given))
        session.run(write, feed_dict={given: serialized_graph(graph)})


def serialized_graph(graph: Any) -> bytes:
    """A `tf.Graph`, with its shapes, or a `GraphDef` as bytes."""
    message = graph.as_graph_def(add_shapes=True) if isinstance(graph, tf.Graph) else graph
    return message.SerializeToString()


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder for the summaries of an evaluation."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")
