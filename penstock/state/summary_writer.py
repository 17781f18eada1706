"""The writer of events that operations of a graph share."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import Any

from penstock import errors
from penstock.platform import filesystem
from penstock.platform.event_files import EventsWriter
from penstock.proto import Event


@dataclass(frozen=True)
class WriterOptions:
    """Where a writer's file is, and how long events may wait in memory.

    Args:
      logdir: the folder, made if it isn't there.
      max_queue: how many events may wait.
      flush_millis: for how long they may, in milliseconds.
      filename_suffix: what to append to the file's name.
    """

    logdir: str
    max_queue: int
    flush_millis: int
    filename_suffix: str


class SummaryWriter:
    """A writer under a name of a device's resources; several nodes may stand for it.

    1. It is open between `open` and `close`; then it can be opened again, with a new file.
    2. Opening an open writer changes nothing, whatever the options.
    3. Events are written by the step that adds them, once more of them wait than may.
    """

    def __init__(self, container: str, name: str):
        self._place = f"{container}/{name}"
        self._lock = threading.Lock()
        self._file: EventsWriter | None = None
        self._waiting: list[Any] = []
        self.is_destroyed = False

    def open(self, options: WriterOptions) -> None:
        with self._lock:
            if self._file is not None:
                return
            filesystem.makedirs(options.logdir)
            file = EventsWriter(os.path.join(options.logdir, "events"))
            file.InitWithSuffix(options.filename_suffix)
            self._file = file
            self._options = options
            self._last_flush = time.monotonic()

    def add(self, event: Any) -> None:
        """Takes an event, to be written now or later."""
        with self._lock:
            self._opened()
            self._waiting.append(event)
            waited_millis = (time.monotonic() - self._last_flush) * 1000
            if (
                len(self._waiting) > self._options.max_queue
                or waited_millis > self._options.flush_millis
            ):
                self._flush()

    def add_summary(self, step: int, summary: Any) -> None:
        """Takes a summary as an event of this moment."""
        self.add(Event(wall_time=time.time(), step=step, summary=summary))

    def flush(self) -> None:
        """Brings everything to disk."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        file = self._opened()
        for event in self._waiting:
            file.WriteEvent(event)
        self._waiting.clear()
        file.Flush()
        self._last_flush = time.monotonic()

    def close(self) -> None:
        """Brings everything to disk and ends the file; nothing happens if there is none."""
        with self._lock:
            if self._file is not None:
                self._flush()
                self._file.Close()
                self._file = None

    def destroy(self) -> None:
        """Closes the writer for good: it can't be opened any more."""
        self.close()
        self.is_destroyed = True

    def check_open(self) -> None:
        """Raises NotFoundError unless the writer is open."""
        with self._lock:
            self._opened()

    def _opened(self) -> EventsWriter:
        if self.is_destroyed:
            raise errors.NotFoundError(None, None, f"Resource {self._place} does not exist.")
        if self._file is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Could not find resource: {self._place}: the summary writer is not open; run its "
                "init() or tf.contrib.summary.initialize() first",
            )
        return self._file

    def __del__(self) -> None:
        self.close()
