"""What h5py has changed in its version 3, as programs and libraries of TensorFlow 1.x expect it."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np


class _Text(str):
    """A text attribute: h5py gave bytes once, and programs decode them."""

    __slots__ = ()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return str(self)


def _decodable(value: Any) -> Any:
    """An attribute as it was: a text that can be decoded, or an array of bytes."""
    if type(value) is str:
        return _Text(value)
    if isinstance(value, np.ndarray) and value.dtype == object and value.size:
        texts = value.ravel().tolist()
        if all(type(text) is str for text in texts):
            return np.array([text.encode() for text in texts]).reshape(value.shape)
    return value


def _mode_of_old(name: Any) -> str:
    """A file was opened for reading and writing, and created where there was none."""
    if not isinstance(name, (str, bytes, os.PathLike)) or not os.path.exists(name):
        return "a"
    return "r+" if os.access(name, os.W_OK) else "r"


def _decodable_attributes(manager: Any) -> None:
    read = manager.__getitem__

    @functools.wraps(read)
    def __getitem__(self: Any, name: str) -> Any:
        return _decodable(read(self, name))

    manager.__getitem__ = __getitem__


def _files_of_any_mode(file: Any) -> None:
    create = file.__init__

    @functools.wraps(create)
    def __init__(self: Any, name: Any, mode: str | None = None, *args: Any, **kwargs: Any) -> None:
        create(self, name, _mode_of_old(name) if mode is None else mode, *args, **kwargs)

    file.__init__ = __init__


def restore(h5py: Any) -> None:
    """Gives the loaded package its old ways back."""
    if hasattr(h5py.Dataset, "value"):
        return  # this is a version of old
    _decodable_attributes(h5py.AttributeManager)
    _files_of_any_mode(h5py.File)
    h5py.File.fid = property(lambda file: file.id)
    h5py.Dataset.value = property(lambda dataset: dataset[()])
