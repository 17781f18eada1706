"""Files that appear whole or not at all: written aside, synced, then renamed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from penstock.platform.file_errors import file_errors
from penstock.platform.paths import local_path


def open_to_read(path: str) -> BinaryIO:
    """Opens a file; an error of TensorFlow's class where that is not possible."""
    with file_errors(path):
        return open(local_path(path), "rb")


class NewFile:
    """A file under way to its name.

    1. Until `commit`, the file of that name is untouched.
    2. After `commit`, the name stands for the whole of the new contents, also after a crash.
    """

    def __init__(self, path: str):
        self.path = local_path(path)
        self._aside = f"{self.path}.tempstate{secrets.randbits(64)}"
        with file_errors(path):
            self.file: BinaryIO = open(self._aside, "wb")  # noqa: SIM115 - open until it ends

    def commit(self) -> None:
        """Gives the file its name."""
        with file_errors(self.path):
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            os.replace(self._aside, self.path)
            sync_directory(os.path.dirname(self.path))

    def discard(self) -> None:
        """Removes what was written."""
        self.file.close()
        with suppress(OSError):
            os.remove(self._aside)


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """A file to write that takes its name at the end of the block, unless that raises."""
    new = NewFile(path)
    try:
        with file_errors(path):
            yield new.file
        new.commit()
    except BaseException:
        new.discard()
        raise


def sync_directory(directory: str) -> None:
    """Makes the names in a directory last through a crash, where the system lets us."""
    with suppress(OSError):
        handle = os.open(directory or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
