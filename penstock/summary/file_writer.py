"""`tf.summary.FileWriter`: summaries, graphs and logs to event files."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.platform import file_io, logging
from penstock.proto import Event, GraphDef, MetaGraphDef, Summary, TaggedRunMetadata
from penstock.summary.event_file_writer import EventFileWriter
from penstock.summary.plugin_asset import get_all_plugin_assets

_PLUGINS_DIR = "plugins"


class SummaryToEventTransformer:
    """Makes events of summaries, graphs and logs, and hands them to an event writer.

    Args:
      event_writer: what takes events, by `add_event`.
      graph: a graph to write at once.
      graph_def: the old form of `graph`.
    """

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None):
        self.event_writer = event_writer
        self._session_run_tags: set[str] = set()
        self._seen_summary_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            from penstock.train.meta_graph import create_meta_graph_def

            self.add_graph(graph=graph, graph_def=graph_def)
            if isinstance(graph, Graph):
                graph = graph.as_graph_def(add_shapes=True)
            self.add_meta_graph(create_meta_graph_def(graph_def=graph_def or graph))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a Summary message, or the bytes that a summary op gave.

        Args:
          summary: the message or the bytes.
          global_step: the step that it belongs to.
        """
        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        event = Event(summary=summary)
        # What a tag means is written once; every later value only costs space.
        for value in event.summary.value:
            if value.HasField("metadata"):
                if value.tag in self._seen_summary_tags:
                    value.ClearField("metadata")
                self._seen_summary_tags.add(value.tag)
        self._add_event(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes a SessionLog message."""
        self._add_event(Event(session_log=session_log), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph, for TensorBoard's graph page."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            self._write_plugin_assets(given)
            given = given.as_graph_def(add_shapes=True)
        elif isinstance(given, GraphDef):
            logging.warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object "
                "instead, such as `sess.graph`."
            )
        else:
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
            )
        self._add_event(Event(graph_def=given.SerializeToString()), global_step)

    def _write_plugin_assets(self, graph: Graph) -> None:
        for asset in get_all_plugin_assets(graph):
            directory = os.path.join(
                self.event_writer.get_logdir(), _PLUGINS_DIR, asset.plugin_name
            )
            file_io.recursive_create_dir(directory)
            for name, content in asset.assets().items():
                file_io.write_string_to_file(os.path.join(directory, name), content)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Writes a MetaGraphDef message."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add_event(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Writes the RunMetadata message of a step; each tag can be used once."""
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


def _event_writer(session: Any, *options: Any) -> Any:
    if session is None:
        return EventFileWriter(*options)
    from penstock.summary.event_file_writer_v2 import EventFileWriterV2

    return EventFileWriterV2(session, *options)


class FileWriter(SummaryToEventTransformer):
    """Writes summaries for TensorBoard.

    >>> writer = tf.summary.FileWriter("logs", sess.graph)
    >>> writer.add_summary(sess.run(tf.summary.merge_all()), global_step=step)

    Args:
      logdir: the directory.
      graph: a graph to write at once.
      max_queue: how many events may wait to be written.
      flush_secs: how often what was written is brought to disk.
      graph_def: the old form of `graph`.
      filename_suffix: what to append to the file's name.
      session: writers with the same session and directory share one file.
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ):
        self._closed = False
        options = (logdir, max_queue, flush_secs, filename_suffix)
        super().__init__(_event_writer(session, *options), graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory."""
        logdir: str = self.event_writer.get_logdir()
        return logdir

    def _warn_if_event_writer_is_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )

    def _add_event(self, event: Any, step: Any) -> None:
        self._warn_if_event_writer_is_closed()
        super()._add_event(event, step)

    def add_event(self, event: Any) -> None:
        """Writes an Event message."""
        self._warn_if_event_writer_is_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Waits until everything is on disk."""
        self._warn_if_event_writer_is_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Writes everything and ends the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Lets a closed writer go on, in a new file."""
        self.event_writer.reopen()
        self._closed = False


class SummaryWriter(FileWriter):
    """The old name of `tf.summary.FileWriter`, with its arguments of then."""

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
    ):
        super().__init__(logdir, graph, max_queue, flush_secs, graph_def)


class FileWriterCache:
    """One writer per directory, for parts of a program that don't know each other."""

    _cache: dict[str, FileWriter] = {}  # noqa: RUF012 - shared on purpose
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes all writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a directory, made with the default graph if there is none yet."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]


SummaryWriterCache = FileWriterCache
