"""File names as programs give them: text, bytes or path objects, perhaps with a URI scheme."""

from __future__ import annotations

import re
from typing import IO, Any

from penstock import errors
from penstock.platform.compat import as_str, path_to_str
from penstock.platform.file_errors import file_errors

_SCHEME = re.compile(r"([a-zA-Z][0-9a-zA-Z.]*)://")


def as_path(name: Any) -> str:
    """A file name as text, its scheme included."""
    return as_str(path_to_str(name))


def local_path(name: Any) -> str:
    """The path on this machine that a file name means; UnimplementedError for other schemes."""
    path = as_path(name)
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1] != "file":
        raise errors.UnimplementedError(
            None, None, f"File system scheme '{scheme[1]}' not implemented (file: '{path}')"
        )
    return path[scheme.end() :]


def open_file(name: Any, mode: str, buffering: int = -1) -> IO[bytes]:
    """Opens a file in a binary mode; what fails is one of TensorFlow's errors."""
    with file_errors(as_path(name)):
        return open(local_path(name), mode, buffering)
