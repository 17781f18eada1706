"""The file operations that checkpoints are written by: all of them, in one place.

Tests put a disk in the place of `current` that fails, or that loses what was not synced.
"""

from __future__ import annotations

import errno
import os
from typing import Any, BinaryIO

# A directory can't be synced on some file systems; there the system orders its names itself.
_NO_SYNC_OF_DIRECTORIES = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EISDIR)

_WORTH_STARTING = 1 << 20


class Disk:
    """The disk of this machine; whatever fails raises OSError."""

    def create(self, path: str) -> BinaryIO:
        """A new file to write, without a buffer of its own."""
        return open(path, "wb", buffering=0)

    def write(self, file: BinaryIO, data: Any) -> None:
        """Writes all of `data`: bytes, or a contiguous array of them."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            rest = rest[file.write(rest) :]
        if size >= _WORTH_STARTING and hasattr(os, "posix_fadvise"):
            # Linux begins to write what it is told to drop: the sync at the end finds less to do.
            start = file.tell() - size
            os.posix_fadvise(file.fileno(), start, size, os.POSIX_FADV_DONTNEED)

    def sync(self, file: BinaryIO) -> None:
        """Makes the contents of a file last through a crash."""
        os.fsync(file.fileno())

    def rename(self, source: str, target: str) -> None:
        """Gives a file another name; a file that has it already is replaced at once."""
        os.replace(source, target)

    def link(self, source: str, target: str) -> None:
        """Gives a file a second name."""
        os.link(source, target)

    def remove(self, path: str) -> None:
        os.remove(path)

    def make_directory(self, path: str) -> None:
        os.mkdir(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def sync_directory(self, path: str) -> None:
        """Makes the names in a directory last through a crash, where the system can."""
        try:
            handle = os.open(path or ".", os.O_RDONLY)
        except PermissionError:
            return
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in _NO_SYNC_OF_DIRECTORIES:
                raise
        finally:
            os.close(handle)


current = Disk()
