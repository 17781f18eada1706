"""What can be done to files by name: the functions of `tf.io.gfile`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock import errors
from penstock.platform.file_errors import file_errors
from penstock.platform.glob_patterns import matching_files
from penstock.platform.paths import as_path, local_path, open_file

__all__ = [
    "FileStatistics",
    "copy",
    "exists",
    "glob",
    "isdir",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]


@dataclass(frozen=True)
class FileStatistics:
    """The size of a file in bytes, when it was changed, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is a file or directory of this name."""
    return os.path.exists(local_path(path))


def isdir(path: Any) -> bool:
    """Whether there is a directory of this name; False too where its scheme is unknown."""
    try:
        return os.path.isdir(local_path(path))
    except errors.UnimplementedError:
        return False


def stat(path: Any) -> FileStatistics:
    """Size, time of change and kind of a file."""
    with file_errors(as_path(path)):
        found = os.stat(local_path(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, isdir(path))


def remove(path: Any) -> None:
    """Deletes a file."""
    with file_errors(as_path(path)):
        os.unlink(local_path(path))


def mkdir(path: Any) -> None:
    """Creates a directory in one that exists; does nothing if it is there already."""
    local = local_path(path)
    if not local:
        return
    try:
        with file_errors(as_path(path)):
            os.mkdir(local, 0o755)
    except errors.AlreadyExistsError:
        return


def makedirs(path: Any) -> None:
    """Creates a directory and those above it, as far as they are missing."""
    local = local_path(path)
    above = local
    while above and not os.path.exists(above):
        above = os.path.dirname(above.rstrip("/"))
    if above and not os.path.isdir(above):
        raise errors.FailedPreconditionError(None, None, f"{above} is not a directory")
    if local:
        with file_errors(as_path(path)):
            os.makedirs(local, 0o755, exist_ok=True)


def rmtree(path: Any) -> None:
    """Deletes a directory with everything in it, or a file."""
    local = local_path(path)
    if not os.path.lexists(local):
        raise errors.NotFoundError(None, None, f"{as_path(path)} not found")
    with file_errors(as_path(path)):
        if os.path.isdir(local) and not os.path.islink(local):
            shutil.rmtree(local)
        else:
            os.unlink(local)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies the contents of a file; `overwrite` allows that `dst` exists."""
    _check_free(dst, overwrite)
    with open_file(src, "rb") as reader, open_file(dst, "wb") as writer, file_errors(as_path(dst)):
        shutil.copyfileobj(reader, writer, 1 << 20)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames or moves a file or directory; `overwrite` allows that `dst` exists."""
    _check_free(dst, overwrite)
    with file_errors(as_path(src)):
        os.rename(local_path(src), local_path(dst))


def _check_free(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {as_path(path)}")


def glob(pattern: Any) -> list[str]:
    """The files that match a pattern, or any of several."""
    if isinstance(pattern, Iterable) and not isinstance(pattern, (str, bytes)):
        return [name for each in pattern for name in glob(each)]
    return matching_files(local_path(pattern))


def listdir(path: Any) -> list[str]:
    """The names in a directory."""
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {as_path(path)}")
    with file_errors(as_path(path)):
        return os.listdir(local_path(path))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[errors.OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields (directory, its directories, its files) for a directory and all below it."""
    top = as_path(top)
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    directories = [name for name in names if isdir(os.path.join(top, name))]
    inside = set(directories)
    here = top, directories, [name for name in names if name not in inside]
    if topdown:
        yield here
    for name in directories:
        yield from walk(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield here
