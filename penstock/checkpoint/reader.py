"""A checkpoint of either format: `tf.train.NewCheckpointReader`."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from penstock import errors
from penstock.checkpoint.bundle_reader import BundleReader
from penstock.checkpoint.missing import path_of_one_file
from penstock.checkpoint.progress import Report, silent
from penstock.checkpoint.publishing import index_path
from penstock.checkpoint.safetensors import SafetensorsReader, is_safetensors
from penstock.checkpoint.slice_files import SliceFileReader
from penstock.dtypes import DType
from penstock.platform.paths import local_path
from penstock.proto import DataType
from penstock.shapes import text as shape_text


def open_checkpoint(
    prefix: str, report: Report = silent
) -> BundleReader | SliceFileReader | SafetensorsReader:
    """The tensors of the checkpoint at a prefix (V2), or of the file or files of that name.

    Files are of the V1 format, or safetensors. `report` is told of bytes read from a V2 checkpoint.
    """
    prefix = local_path(prefix)
    if os.path.exists(index_path(prefix)):
        return BundleReader(prefix, report)
    if is_safetensors(prefix):
        return SafetensorsReader(prefix)
    try:
        return SliceFileReader(prefix)
    except errors.DataLossError as error:
        mistake = path_of_one_file(prefix)
        raise errors.DataLossError(
            None,
            None,
            f"Unable to open table file {prefix}: "
            + (
                mistake
                or f"{error.message}: perhaps your file is in a different file format and "
                "you need to use a different restore operator?"
            ),
        ) from None
    except errors.NotFoundError as error:
        mistake = path_of_one_file(prefix)
        if mistake is None:
            raise
        raise errors.NotFoundError(None, None, f"{error.message}: {mistake}") from None


def stored_size(prefix: str) -> int:
    """The bytes in the data files of a V2 checkpoint; 0 if there are none."""
    return sum(map(os.path.getsize, glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????")))


class CheckpointReader:
    """What is in a checkpoint.

    >>> reader = tf.train.NewCheckpointReader("model.ckpt-1000")
    >>> reader.get_tensor("weights")
    """

    def __init__(self, filepattern: str):
        self._reader = open_checkpoint(filepattern)

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether the checkpoint has a tensor of that name."""
        return _text(tensor_str) in self._reader

    def get_tensor(self, tensor_str: str) -> Any:
        """The value of a tensor; NotFoundError if there is none of that name."""
        array: np.ndarray = self._reader.read(_text(tensor_str))
        return array if array.ndim else array[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors by name."""
        reader = self._reader
        return {name: list(reader.shape(name)) for name in reader.names()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The types of all tensors by name."""
        return {name: self._reader.dtype(name) for name in self._reader.names()}

    def debug_string(self) -> bytes:
        """A line for each tensor: name, type and shape."""
        reader = self._reader
        lines = [
            f"{name} ({DataType.Name(reader.dtype(name).as_datatype_enum)}) "
            f"{shape_text(reader.shape(name)).replace(' ', '')}\n"
            for name in sorted(reader.names())
        ]
        return "".join(lines).encode()


def NewCheckpointReader(filepattern: str) -> CheckpointReader:
    """A reader of the checkpoint at a prefix, or of a V1 file."""
    return CheckpointReader(_text(filepattern))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else os.fspath(value)
