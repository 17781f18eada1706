"""Files that appear whole or not at all: written aside, synced, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from penstock.checkpoint import disk
from penstock.platform.file_errors import file_errors
from penstock.platform.paths import local_path

_BUFFER_SIZE = 1 << 20


def open_to_read(path: str, *, buffering: int = -1) -> BinaryIO:
    """Opens a file; an error of TensorFlow's class where that is not possible."""
    with file_errors(path):
        return open(local_path(path), "rb", buffering)


class NewFile:
    """A file under way to its name.

    1. Until `commit`, the file of that name is untouched.
    2. After `commit`, the name stands for the whole of the new contents, also after a crash.
    3. What is written in small pieces reaches the disk in large ones; large pieces are not copied.
    """

    def __init__(self, path: str):
        self.path = local_path(path)
        self._aside = f"{self.path}.tempstate{secrets.randbits(64)}"
        self._buffer = bytearray()
        with file_errors(path):
            self._file = disk.current.create(self._aside)

    def write(self, data: Any) -> None:
        """Appends bytes, or a contiguous array of them."""
        if len(self._buffer) + len(data) > _BUFFER_SIZE:
            self._flush()
        if len(data) > _BUFFER_SIZE:
            with file_errors(self.path):
                disk.current.write(self._file, data)
        else:
            self._buffer += memoryview(data)

    def _flush(self) -> None:
        if self._buffer:
            with file_errors(self.path):
                disk.current.write(self._file, self._buffer)
            self._buffer = bytearray()

    def finish(self) -> str:
        """Ends the writing, makes the contents last, and returns the name that they have so far."""
        self._flush()
        with file_errors(self.path):
            disk.current.sync(self._file)
        self._file.close()
        return self._aside

    def commit(self) -> None:
        """Gives the file its name."""
        aside = self.finish()
        with file_errors(self.path):
            disk.current.rename(aside, self.path)
            disk.current.sync_directory(os.path.dirname(self.path))

    def discard(self) -> None:
        """Removes what was written, unless it has got its name."""
        self._file.close()
        remove_if_possible(self._aside)


@contextmanager
def new_file(path: str) -> Iterator[NewFile]:
    """A file to write that takes its name at the end of the block, unless that raises."""
    new = NewFile(path)
    try:
        yield new
        new.commit()
    except BaseException:
        new.discard()
        raise


def remove_if_possible(path: str) -> None:
    """Removes a file that nobody needs any more; one that can't be removed does no harm."""
    with suppress(OSError):
        disk.current.remove(path)


def make_directory(directory: str) -> None:
    """Makes a directory that is not there, in one that is."""
    if directory and not os.path.isdir(directory):
        # A missing parent is reported by the file that can't be made in it.
        missing = (FileExistsError, FileNotFoundError, NotADirectoryError, PermissionError)
        with file_errors(directory), suppress(*missing):
            disk.current.make_directory(directory)
            disk.current.sync_directory(os.path.dirname(directory))
