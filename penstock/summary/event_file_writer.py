"""A writer of events that does not make the training step wait for the disk."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Any

from penstock.platform import file_io
from penstock.summary.event_file import EventsWriter
from penstock.summary.event_queue import EventQueue, QueueClosedError


class _WriterThread(threading.Thread):
    """Writes the events of a queue to a file until the queue is closed, or writing fails."""

    def __init__(self, events: EventQueue, ev_writer: EventsWriter, flush_secs: float):
        super().__init__(name="penstock-events", daemon=True)
        self._events = events
        self._ev_writer = ev_writer
        self._flush_secs = flush_secs
        self._next_flush = 0.0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while (event := self._events.take()) is not None:
                self._write(event)
                self._events.handled()
        except Exception as error:
            # It is raised again where the program next turns to the writer.
            self.error = error
            self._events.abandon()

    def _write(self, event: Any) -> None:
        self._ev_writer.WriteEvent(event)
        now = time.time()
        if now > self._next_flush:
            self._ev_writer.Flush()
            self._next_flush = now + self._flush_secs


def _drain(events: EventQueue, thread: _WriterThread, file: EventsWriter) -> None:
    """Brings what is waiting to disk; a writer that is dropped without `close` ends so."""
    events.close()
    thread.join()
    file.Flush()


class EventFileWriter:
    """Writes Event messages to a file in a directory, from a thread of its own.

    Args:
      logdir: the directory, made if it isn't there.
      max_queue: how many events may wait; `add_event` waits when there are more.
      flush_secs: how often what was written is brought to disk.
      filename_suffix: what to append to the file's name.
    """

    def __init__(
        self,
        logdir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ):
        self._logdir = str(logdir)
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        if not file_io.is_directory(self._logdir):
            file_io.recursive_create_dir(self._logdir)
        self._ev_writer = self._open(filename_suffix)
        self._start()

    def _open(self, filename_suffix: str | None) -> EventsWriter:
        writer = EventsWriter(os.path.join(self._logdir, "events"))
        if filename_suffix:
            writer.InitWithSuffix(filename_suffix)
        return writer

    def _start(self) -> None:
        self._closed = False
        self._event_queue = EventQueue(self._max_queue)
        self._worker = _WriterThread(self._event_queue, self._ev_writer, self._flush_secs)
        self._worker.start()
        self._finalizer = weakref.finalize(
            self, _drain, self._event_queue, self._worker, self._ev_writer
        )

    def _raise_failure(self) -> None:
        if self._worker.error is not None:
            raise self._worker.error

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def reopen(self) -> None:
        """Lets a closed writer go on, in a new file."""
        if self._closed:
            self._start()

    def add_event(self, event: Any) -> None:
        """Hands an event to the thread; nothing happens if the writer is closed."""
        if self._closed:
            return
        try:
            self._event_queue.put(event)
        except QueueClosedError:
            self._worker.join()
            self._raise_failure()

    def flush(self) -> None:
        """Waits until all events are on disk."""
        if self._closed:
            return
        self._event_queue.join()
        self._raise_failure()
        self._ev_writer.Flush()

    def close(self) -> None:
        """Writes all events and ends the file."""
        if self._closed:
            return
        self._closed = True
        self._finalizer.detach()
        _drain(self._event_queue, self._worker, self._ev_writer)
        self._ev_writer.Close()
        self._raise_failure()
