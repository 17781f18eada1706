"""Event files as they are written: one record per event, in TensorFlow's format."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import IO, Any

from penstock.platform.file_errors import file_errors
from penstock.platform.paths import local_path
from penstock.platform.record_files import frame
from penstock.proto import Event

_VERSION = "brain.Event:2"


class EventsWriter:
    """Writes events to a file named after the time and the machine; it is made when first needed.

    A file that was closed, or that somebody deleted, is followed by a new one. Several threads may
    write.
    """

    def __init__(self, file_prefix: Any):
        self._prefix = local_path(os.fsdecode(file_prefix))
        self._suffix = ""
        self._path = ""
        self._file: IO[bytes] | None = None
        self._lock = threading.RLock()

    def InitWithSuffix(self, suffix: Any) -> bool:
        """Makes the file, with a suffix behind its name."""
        with self._lock:
            self._suffix = os.fsdecode(suffix)
            self._open_if_needed()
            return True

    def FileName(self) -> bytes:
        """The path of the file."""
        with self._lock:
            self._open_if_needed()
            return os.fsencode(self._path)

    def _open_if_needed(self) -> IO[bytes]:
        if self._file is not None:
            if os.path.exists(self._path):
                return self._file
            self._file.close()
        now = time.time()
        self._path = (
            f"{self._prefix}.out.tfevents.{int(now):010d}.{socket.gethostname()}{self._suffix}"
        )
        with file_errors(self._path):
            # Two files within a second have one name: the second goes on where the first ended.
            self._file = open(self._path, "ab")  # noqa: SIM115 - open until Close
        self._write(self._file, Event(wall_time=now, file_version=_VERSION))
        with file_errors(self._path):
            self._file.flush()
        return self._file

    def _write(self, file: IO[bytes], event: Any) -> None:
        with file_errors(self._path):
            file.writelines(frame(event.SerializeToString()))

    def WriteEvent(self, event: Any) -> None:
        """Writes one event; `Flush` makes sure that it is on disk."""
        with self._lock:
            self._write(self._open_if_needed(), event)

    def Flush(self) -> bool:
        """Brings everything that was written to disk."""
        with self._lock:
            if self._file is not None:
                with file_errors(self._path):
                    self._file.flush()
                    os.fsync(self._file.fileno())
            return True

    def Close(self) -> bool:
        """Ends the file."""
        with self._lock:
            if self._file is not None:
                self.Flush()
                self._file.close()
                self._file = None
            return True

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.Close()
