"""Where datasets' files are, and what to do if they aren't."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def local_path(path: str, origin: str) -> str:
    """A file of `~/.keras/datasets`, or one given by its full path."""
    found = (
        path
        if os.path.isabs(path)
        else os.path.join(os.path.expanduser("~"), ".keras", "datasets", path)
    )
    if not os.path.exists(found):
        raise FileNotFoundError(
            f"{found} is not there, and Penstock does not download datasets: get {origin} and put "
            "it there"
        )
    return found


def arrays_of(path: str, origin: str) -> Any:
    """The arrays of an .npz file; lists of numbers are stored in it as Python objects."""
    return np.load(local_path(path, origin), allow_pickle=False)


def word_lists(path: str, origin: str, names: tuple[str, ...]) -> list[Any]:
    """Arrays of lists from an .npz file, which NumPy writes as pickled objects.

    The file is read by an unpickler that knows arrays and nothing else.
    """
    import io
    import zipfile

    from penstock.keras.datasets.plain_pickle import load_objects

    npy: Any = np.lib.format

    found = []
    with zipfile.ZipFile(local_path(path, origin)) as archive:
        for name in names:
            stream = io.BytesIO(archive.read(f"{name}.npy"))
            version = npy.read_magic(stream)
            read_header = (
                npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            )
            shape, _, dtype = read_header(stream)
            if dtype.hasobject:
                found.append(load_objects(stream))
            else:
                data = np.frombuffer(stream.read(), dtype=dtype)
                found.append(data.reshape(shape))
    return found
