"""`tf.contrib.summary`: summaries that are written by the operations of a graph.

    writer = tf.contrib.summary.create_file_writer(logdir)
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        tf.contrib.summary.scalar("loss", loss)
    ...
    tf.contrib.summary.initialize(session=session)
    session.run([train_op, tf.contrib.summary.all_summary_ops()])

Writing happens in this process, by functions of Python that the graph calls.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.layers.smart_cond import smart_cond
from penstock.ops.summaries import (
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    ScalarSummary,
    TensorSummaryV2,
    summary_scope,
)

#: What can't stand in the name of a summary's scope.
_INVALID_SCOPE_CHARACTERS = re.compile(r"[^-_/.A-Za-z0-9]")

_WRITER_INITS = "_SUMMARY_WRITER_INIT"
_WRITER = "_SUMMARY_WRITER"
_RECORDING = "ShouldWriteSummaries"
_SUMMARIES = "_SUMMARY_V2"


class SummaryWriter:
    """A writer of events to a file, which is opened by the operation `init()`.

    Args:
      logdir: folder of the file; None makes a writer that writes nothing.
    """

    def __init__(self, logdir: str | None, max_queue: int, flush_millis: int, suffix: str):
        self._logdir = logdir
        self._settings: dict[str, Any] = {
            "max_queue": max_queue,
            "flush_secs": flush_millis / 1000,
            "filename_suffix": suffix,
        }
        self._file: Any = None
        if logdir is not None:
            self._init_op = self._operation(self._open, "create_file_writer")
            tf.add_to_collection(_WRITER_INITS, self._init_op)

    def _operation(self, function: Callable[..., None], name: str, *inputs: Any) -> Any:
        return tf.py_func(function, inputs, [], stateful=True, name=name)

    def _open(self) -> None:
        if self._file is None:
            self._file = tf.summary.FileWriter(self._logdir, **self._settings)

    def _opened(self) -> Any:
        if self._file is None:
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"The summary writer of {self._logdir} is not initialized: run "
                "tf.contrib.summary.initialize() or its init() first",
            )
        return self._file

    def write(self, summary: Any, step: Any) -> Any:
        """An operation that writes a summary message at a step."""

        def add(message: bytes, at: np.ndarray[Any, Any]) -> None:
            self._opened().add_summary(message, int(at))

        return self._operation(add, "write_summary", summary, step)

    def write_graph(self, graph_def: bytes) -> Any:
        """An operation that writes a graph."""

        def add() -> None:
            message = tf.GraphDef.FromString(graph_def)
            self._opened().add_graph(message)

        return self._operation(add, "write_graph_summary")

    def init(self) -> Any:
        """An operation that opens the file."""
        return tf.no_op() if self._logdir is None else self._init_op

    def flush(self) -> Any:
        """An operation that writes what waits in memory."""
        if self._logdir is None:
            return tf.no_op()
        return self._operation(lambda: self._opened().flush(), "flush")

    def close(self) -> Any:
        """An operation that closes the file."""
        if self._logdir is None:
            return tf.no_op()
        return self._operation(lambda: self._opened().close(), "close")

    def set_as_default(self) -> None:
        """Makes this the writer of the graph from now on."""
        _set(_WRITER, self)

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Makes this the writer of the graph for a block; flushes at its end are up to the user."""
        with _setting(_WRITER, self):
            yield self


def _current(collection: str) -> Any:
    found = tf.get_collection(collection)
    return found[0] if found else None


def _set(collection: str, value: Any) -> None:
    tf.get_default_graph().get_collection_ref(collection)[:] = [] if value is None else [value]


@contextlib.contextmanager
def _setting(collection: str, value: Any) -> Iterator[None]:
    outer = _current(collection)
    _set(collection, value)
    try:
        yield
    finally:
        _set(collection, outer)


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of summaries to a file in a folder; None for a folder writes nothing."""
    return SummaryWriter(
        None if logdir is None else os.fspath(logdir),
        10 if max_queue is None else max_queue,
        2 * 60 * 1000 if flush_millis is None else flush_millis,
        ".v2" if filename_suffix is None else filename_suffix,
    )


create_summary_file_writer = create_file_writer


def should_record_summaries() -> Any:
    """Whether summaries are recorded here: a truth value or a tensor; False by default."""
    condition = _current(_RECORDING)
    return False if condition is None else condition


def always_record_summaries() -> Any:
    """A block in which summaries are recorded."""
    return _setting(_RECORDING, True)


def never_record_summaries() -> Any:
    """A block in which summaries are not recorded."""
    return _setting(_RECORDING, False)


@contextlib.contextmanager
def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Iterator[None]:
    """A block in which summaries are recorded at every so many-th step."""
    step = tf.train.get_or_create_global_step() if global_step is None else global_step
    with tf.device("cpu:0"):
        is_due = tf.equal(step % n, 0)
    with _setting(_RECORDING, is_due):
        yield


def _recorded(
    name: str, family: str | None, tensor: Any, step: Any, make_summary: Callable[[str], Any]
) -> Any:
    """An operation that writes a summary, if there is a writer and it is time to record.

    Args:
      make_summary: makes the summary of a tag.
    """
    writer = _current(_WRITER)
    if writer is None or writer._logdir is None:
        return tf.no_op()
    at = tf.train.get_or_create_global_step() if step is None else step

    with tf.device("cpu:0"), summary_scope(name, family, values=[tensor]) as (tag, _):

        def record() -> Any:
            with tf.control_dependencies([writer.write(make_summary(tag), at)]):
                return tf.constant(True)

        done = smart_cond(should_record_summaries(), record, lambda: tf.constant(False))
    tf.add_to_collection(_SUMMARIES, done.op)
    return done.op


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """An operation that writes a scalar; `step` is the global step by default."""
    return _recorded(name, family, tensor, step, lambda tag: ScalarSummary(tag, tensor))


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """An operation that writes a histogram; `step` is the global step by default."""
    return _recorded(name, family, tensor, step, lambda tag: HistogramSummary(tag, tensor))


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """An operation that writes images; `step` is the global step by default.

    Args:
      bad_color: color of pixels that are no finite numbers; red by default.
    """
    settings = {} if bad_color is None else {"bad_color": bad_color}
    return _recorded(
        name,
        family,
        tensor,
        step,
        lambda tag: ImageSummary(tag, tensor, max_images=max_images, **settings),
    )


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """An operation that writes sounds; `step` is the global step by default."""
    rate = tf.cast(sample_rate, tf.float32)
    return _recorded(
        name,
        family,
        tensor,
        step,
        lambda tag: AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs),
    )


def generic(
    name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None
) -> Any:
    """An operation that writes a tensor as it is; `step` is the global step by default."""
    described = metadata or tf.SummaryMetadata()
    return _recorded(
        name,
        family,
        tensor,
        step,
        lambda tag: TensorSummaryV2(tag, tensor, described.SerializeToString()),
    )


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """An operation that writes a graph, or a `GraphDef`."""
    if not isinstance(param, (tf.Graph, tf.GraphDef)):
        raise TypeError("graph() needs a tf.Graph or a GraphDef")
    writer = _current(_WRITER)
    if writer is None or writer._logdir is None:
        return tf.no_op()
    message = param.as_graph_def() if isinstance(param, tf.Graph) else param
    return writer.write_graph(message.SerializeToString())


def all_summary_ops() -> list[Any]:
    """The operations that write the graph's summaries."""
    return list(tf.get_collection(_SUMMARIES))


all_v2_summary_ops = all_summary_ops  # its name in tf.summary


def summary_writer_initializer_op() -> list[Any]:
    """The operations that open the graph's writers."""
    return list(tf.get_collection(_WRITER_INITS))


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the writers, and writes the graph if one is given."""
    if _current(_WRITER) is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = tf.get_default_session()
        if session is None:
            raise ValueError("Argument `session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        _current(_WRITER)._opened().add_graph(graph)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Any:
    """An operation that writes what a writer (the default one if None) holds in memory."""
    chosen = _current(_WRITER) if writer is None else writer
    return tf.no_op() if chosen is None else chosen.flush()


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder for the summaries of an evaluation."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


__getattr__ = lazy_paths.resolver(__name__)
