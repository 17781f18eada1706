"""A writer of events that is a session's: it writes where the session runs, by operations."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.platform import file_io
from penstock.summary.op_summaries import always_record_summaries, import_event
from penstock.summary.op_writers import create_file_writer


class EventFileWriterV2:
    """Writes Event messages to a file that all writers of a session and a directory share.

    Args:
      session: the session; operations are added to its graph.
      logdir: the directory, made if it isn't there.
      max_queue: how many events may wait in memory.
      flush_secs: for how many seconds they may.
      filename_suffix: what to append to the file's name.
    """

    def __init__(
        self,
        session: Any,
        logdir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = "",
    ):
        self._session = session
        self._logdir = str(logdir)
        self._closed = False
        if not file_io.is_directory(self._logdir):
            file_io.recursive_create_dir(self._logdir)
        with session.graph.as_default(), tf.name_scope("filewriter"):
            writer = create_file_writer(
                self._logdir, max_queue, int(flush_secs * 1000), filename_suffix
            )
            with always_record_summaries(), writer.as_default():
                unused = tf.constant("unused", tf.string)
                self._event = tf.placeholder_with_default(unused, shape=[])
                self._add_op = import_event(self._event)
            self._init_op = writer.init()
            self._flush_op = writer.flush()
            self._close_op = writer.close()
        session.run(self._init_op)

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def reopen(self) -> None:
        """Lets a closed writer go on, in a new file."""
        if self._closed:
            self._closed = False
            self._session.run(self._init_op)

    def add_event(self, event: Any) -> None:
        """Writes an event; nothing happens if the writer is closed."""
        if not self._closed:
            self._session.run(self._add_op, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Brings all events to disk."""
        self._session.run(self._flush_op)

    def close(self) -> None:
        """Writes all events and ends the file."""
        if not self._closed:
            self.flush()
            self._session.run(self._close_op)
            self._closed = True
