"""`FileIO`, TensorFlow's file object, and its functions on files under their older names."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Iterator
from typing import IO, Any

from penstock import errors
from penstock.platform import filesystem
from penstock.platform.compat import as_bytes, as_str_any
from penstock.platform.file_errors import file_errors
from penstock.platform.filesystem import FileStatistics
from penstock.platform.paths import as_path, local_path, open_file

_READING = ("r", "r+", "a+", "w+")
_WRITING = ("a", "w", "r+", "a+", "w+")
_BLOCK = 16 * 1024 * 1024


class FileIO:
    """A file to read, write or append to; `b` in its mode gives bytes instead of text.

    1. Nothing is opened before the first read or write: a file that is never written to is not
       made, and one that is missing is noticed when it is read.
    2. Reading and writing have a position each.
    3. It can be used again after `close`: reading then starts anew.
    """

    def __init__(self, name: Any, mode: str):
        self._name = name
        self._mode = mode
        self._binary_mode = "b" in mode
        plain = mode.replace("b", "")
        if plain not in _WRITING and plain not in _READING:
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._may_read = plain in _READING
        self._may_write = plain in _WRITING
        self._reader: IO[bytes] | None = None
        self._writer: IO[bytes] | None = None

    @property
    def name(self) -> Any:
        return self._name

    @property
    def mode(self) -> str:
        return self._mode

    def _for_reading(self) -> IO[bytes]:
        if self._reader is None:
            if not self._may_read:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            self._reader = open_file(self._name, "rb")
        return self._reader

    def _for_writing(self) -> IO[bytes]:
        if self._writer is None:
            if not self._may_write:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            self._writer = open_file(self._name, "ab" if "a" in self._mode else "wb")
        return self._writer

    def _value(self, data: bytes) -> Any:
        return data if self._binary_mode else as_str_any(data)

    def size(self) -> int:
        """The size of the file in bytes, as far as it has been written out."""
        return filesystem.stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Writes text (as UTF-8) or bytes after what was written before."""
        writer = self._for_writing()
        with file_errors(as_path(self._name)):
            writer.write(as_bytes(file_content))

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that are left."""
        reader = self._for_reading()
        if n < -1:
            raise errors.InvalidArgumentError(
                None, None, f"Can't read a negative number of bytes: {n}"
            )
        with file_errors(as_path(self._name)):
            return self._value(reader.read(n))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves the reading position; `whence` is 0 (start), 1 (here) or 2 (end of the file)."""
        reader = self._for_reading()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        target = offset if offset is not None else position
        assert target is not None
        if whence == 1:
            target += reader.tell()
        elif whence == 2:
            target += self.size()
        elif whence != 0:
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        if target < 0:
            raise errors.InvalidArgumentError(
                None, None, f"Seeking to a negative position: {target}"
            )
        if target > self.size():
            raise errors.OutOfRangeError(None, None, "reached end of file")
        reader.seek(target)

    def readline(self) -> Any:
        """The next line with its newline; empty at the end. Carriage returns are left out."""
        reader = self._for_reading()
        with file_errors(as_path(self._name)):
            return self._value(reader.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return list(self)

    def tell(self) -> int:
        """The reading position; for a file that is only written, the writing position."""
        return (self._for_reading() if self._may_read else self._for_writing()).tell()

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._writer is not None:
            with file_errors(as_path(self._name)):
                self._writer.flush()

    def close(self) -> None:
        """Writes out what is pending and gives the file back."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        if reader is not None:
            reader.close()
        if writer is not None:
            with file_errors(as_path(self._name)):
                writer.close()

    def seekable(self) -> bool:
        return True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __del__(self) -> None:
        # A dropped file is written out, too; what fails then has nobody to tell.
        if getattr(self, "_reader", None) or getattr(self, "_writer", None):
            self.close()


# Whole files ------------------------------------------------------------------------------------


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """The contents of a file, as text or bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Makes a file of text or bytes."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """As `write_string_to_file`, but nobody ever sees a file that is only partly there."""
    temporary = f"{as_path(filename)}.tmp{uuid.uuid4().hex}"
    write_string_to_file(temporary, contents)
    try:
        filesystem.rename(temporary, filename, overwrite)
    except errors.OpError:
        filesystem.remove(temporary)
        raise


def file_crc32(filename: Any, block_size: int = _BLOCK) -> str:
    """The CRC-32 of a file's contents, as hexadecimal text."""
    crc = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            crc = zlib.crc32(block, crc)
    return hex(crc)


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files have the same contents."""
    if filesystem.stat(filename_a).length != filesystem.stat(filename_b).length:
        return False
    with FileIO(filename_a, "rb") as a, FileIO(filename_b, "rb") as b:
        while block := a.read(_BLOCK):
            if block != b.read(_BLOCK):
                return False
    return True


# The functions of `tf.io.gfile` under their older names and with their older argument names ------

file_exists_v2 = filesystem.exists
delete_file_v2 = filesystem.remove
get_matching_files_v2 = filesystem.glob
create_dir_v2 = filesystem.mkdir
recursive_create_dir_v2 = filesystem.makedirs
copy_v2 = filesystem.copy
rename_v2 = filesystem.rename
delete_recursively_v2 = filesystem.rmtree
is_directory_v2 = filesystem.isdir
list_directory_v2 = filesystem.listdir
stat_v2 = filesystem.stat
walk_v2 = filesystem.walk


def file_exists(filename: Any) -> bool:
    """Whether there is a file or directory of this name."""
    return filesystem.exists(filename)


def delete_file(filename: Any) -> None:
    """Deletes a file."""
    filesystem.remove(filename)


def get_matching_files(filename: Any) -> list[str]:
    """The files that match a pattern, or any of several."""
    return filesystem.glob(filename)


def create_dir(dirname: Any) -> None:
    """Creates a directory in one that exists."""
    filesystem.mkdir(dirname)


def recursive_create_dir(dirname: Any) -> None:
    """Creates a directory and those above it, as far as they are missing."""
    filesystem.makedirs(dirname)


def copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies the contents of a file; `overwrite` allows that `newpath` exists."""
    filesystem.copy(oldpath, newpath, overwrite)


def rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Renames or moves a file or directory; `overwrite` allows that `newname` exists."""
    filesystem.rename(oldname, newname, overwrite)


def delete_recursively(dirname: Any) -> None:
    """Deletes a directory with everything in it."""
    filesystem.rmtree(dirname)


def is_directory(dirname: Any) -> bool:
    """Whether there is a directory of this name."""
    return filesystem.isdir(dirname)


def has_atomic_move(path: Any) -> bool:
    """Whether renaming a file of this file system happens at once or not at all."""
    local_path(path)
    return True


def list_directory(dirname: Any) -> list[str]:
    """The names in a directory."""
    return filesystem.listdir(dirname)


def stat(filename: Any) -> FileStatistics:
    """Size, time of change and kind of a file."""
    return filesystem.stat(filename)


def walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (directory, its directories, its files) for a directory and all below it."""
    return filesystem.walk(top, in_order)
