"""`tf.gfile`: files under the names of TensorFlow's first versions."""

from __future__ import annotations

from typing import Any

from penstock.platform.file_io import FileIO
from penstock.platform.file_io import copy as Copy
from penstock.platform.file_io import create_dir as MkDir
from penstock.platform.file_io import delete_file as Remove
from penstock.platform.file_io import delete_recursively as DeleteRecursively
from penstock.platform.file_io import file_exists as Exists
from penstock.platform.file_io import get_matching_files as Glob
from penstock.platform.file_io import is_directory as IsDirectory
from penstock.platform.file_io import list_directory as ListDirectory
from penstock.platform.file_io import recursive_create_dir as MakeDirs
from penstock.platform.file_io import rename as Rename
from penstock.platform.file_io import stat as Stat
from penstock.platform.file_io import walk as Walk

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]


class GFile(FileIO):
    """A file to read, write or append to; see `FileIO`."""

    def __init__(self, name: Any, mode: str = "r"):
        super().__init__(name, mode)


class FastGFile(GFile):
    """`GFile` under its older name."""


Open = GFile
