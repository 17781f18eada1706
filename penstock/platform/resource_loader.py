"""`tf.resource_loader`: data files that lie beside a program or in the package."""

from __future__ import annotations

import inspect
import os
import sys
from types import FrameType

__all__ = [
    "get_data_files_path",
    "get_path_to_datafile",
    "get_root_dir_with_all_resources",
    "load_resource",
    "readahead_file_path",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load_resource(path: str) -> bytes:
    """The contents of a file of the package, named by its path in it."""
    with open(os.path.join(_PACKAGE, path), "rb") as file:
        return file.read()


def _directory_of(frame: FrameType) -> str:
    return os.path.dirname(inspect.getfile(frame))


def get_data_files_path() -> str:
    """The directory of the file that calls this."""
    return _directory_of(sys._getframe(1))


def get_root_dir_with_all_resources() -> str:
    """The directory right below `*.runfiles` if the calling file lies there, else its own."""
    here = directory = _directory_of(sys._getframe(1))
    while True:
        above = os.path.dirname(directory)
        if above == directory:
            return here
        if ".runfiles" in os.path.basename(above):
            return directory
        directory = above


def get_path_to_datafile(path: str) -> str:
    """The path of a file that is named relative to the file that calls this."""
    return os.path.join(_directory_of(sys._getframe(1)), path)


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself: the operating system reads ahead."""
    return path
