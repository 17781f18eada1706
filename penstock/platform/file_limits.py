"""Which files the nodes of an imported graph may touch: all, or those below given folders.

A graph from a file names files of its own choice: a vocabulary, a checkpoint, an output. A program
that loads graphs of others limits them to the folders that it names. Paths that the program gives
itself at run time (a saver's, a SavedModel's folder while it is loaded) are always allowed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock import errors
from penstock.platform.paths import as_path, local_path

__all__ = ["allowing", "check", "get_graph_file_roots", "set_graph_file_roots"]

#: A list of folders, separated as in PATH, that limits imported graphs from the start.
VARIABLE = "PENSTOCK_GRAPH_FILE_ROOTS"


class _Allowed(threading.local):
    """What the program has named in calls that this thread is in."""

    def __init__(self) -> None:
        self.folders: tuple[str, ...] = ()


_allowed = _Allowed()


def _folder(path: Any) -> str:
    return os.path.realpath(local_path(path))


def _from_environment() -> tuple[str, ...] | None:
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    return tuple(_folder(path) for path in text.split(os.pathsep) if path)


_roots = _from_environment()


def set_graph_file_roots(folders: Iterable[Any] | None) -> None:
    """Limits the file operations of imported graphs to these folders; None lifts the limit.

    No folders (an empty list) turn the file operations of imported graphs off.
    """
    global _roots
    _roots = None if folders is None else tuple(_folder(path) for path in folders)


def get_graph_file_roots() -> list[str] | None:
    """The folders that imported graphs are limited to; None if they are not limited."""
    return None if _roots is None else list(_roots)


@contextmanager
def allowing(*folders: Any) -> Iterator[None]:
    """Lets imported graphs touch files below these folders, too, in this thread's `with` block."""
    before = _allowed.folders
    _allowed.folders = (*before, *map(_folder, folders))
    try:
        yield
    finally:
        _allowed.folders = before


def check(path: Any, what: str) -> None:
    """PermissionDeniedError if an imported node may not touch a file, or the files of a pattern."""
    if _roots is None:
        return
    target = _folder(path)
    folders = (*_roots, *_allowed.folders)
    if not any(target == each or target.startswith(os.path.join(each, "")) for each in folders):
        listed = ", ".join(map(repr, folders)) or "none"
        raise errors.PermissionDeniedError(
            None,
            None,
            f"{what} of an imported graph may not touch {as_path(path)!r}: it lies outside of the "
            f"allowed folders ({listed}); allow it with tf.config.set_graph_file_roots",
        )
