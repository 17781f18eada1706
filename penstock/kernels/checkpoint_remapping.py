"""Kernels that read a matrix of a checkpoint for another vocabulary."""

import os

import numpy as np

from penstock import errors
from penstock.checkpoint.reader import NewCheckpointReader
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array, to_array
from penstock.platform.paths import local_path


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _words(filename, limit=-1):
    """The lines of a vocabulary, the first `limit` of them unless that is -1."""
    path = local_path(os.fsdecode(filename[()]))
    try:
        with open(path, "rb") as file:
            lines = [line.rstrip(b"\r\n") for line in file]
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    return lines if limit < 0 else lines[:limit]


@kernel("GenerateVocabRemapping", devices=HOST)
def _(node):
    offset, count = node.attrs["new_vocab_offset"], node.attrs["num_new_vocab"]
    old_size = node.attrs["old_vocab_size"]

    def remapping(new_file, old_file):
        old_rows = {}
        for row, word in enumerate(_words(old_file, old_size)):
            old_rows.setdefault(word, row)
        new_words = _words(new_file)
        if offset + count > len(new_words):
            raise _invalid(
                f"the new vocabulary has {len(new_words)} words, but words {offset} to "
                f"{offset + count} are asked for"
            )
        rows = np.array(
            [old_rows.get(word, -1) for word in new_words[offset : offset + count]], np.int64
        )
        present = np.array((rows >= 0).sum(), np.int32)
        return from_array(rows), from_array(present)

    return remapping


def _sources(remapping, size, axis):
    """For each new row its old one or -1; no old row may be used twice."""
    used = remapping[remapping >= 0]
    if used.size and used.max() >= size:
        raise _invalid(f"old_{axis} remapping has {used.max()}, but the matrix has {size} {axis}s")
    if len(np.unique(used)) != len(used):
        raise errors.UnimplementedError(
            None, None, f"Old {axis} is used more than once in the {axis} remapping"
        )
    return remapping


@kernel("LoadAndRemapMatrix", devices=HOST)
def _(node):
    height, width = node.attrs["num_rows"], node.attrs["num_cols"]

    def load(path, name, row_remapping, column_remapping, initial):
        name = os.fsdecode(name[()])
        if path.size != 1:
            raise _invalid(f"The `ckpt_path` tensor must have exactly one element, not {path.size}")
        reader = NewCheckpointReader(local_path(os.fsdecode(path.item())))
        if not reader.has_tensor(name):
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        old = np.asarray(reader.get_tensor(name), np.float32)
        if old.ndim != 2:
            raise _invalid(f"Tensor '{name}' of the checkpoint is not a matrix: {old.shape}")
        rows = _sources(to_array(row_remapping), old.shape[0], "row")
        if len(rows) != height:
            raise _invalid(
                f"Size of row_remapping is {len(rows)} instead of being equal to num_rows={height}"
            )
        columns = to_array(column_remapping)
        if columns.size == 0:
            columns = np.arange(width)
        elif len(columns) != width:
            raise _invalid(
                f"Provided col_remapping, but its size is {len(columns)} instead of being equal "
                f"to num_cols={width}"
            )
        columns = _sources(columns, old.shape[1], "column")
        result = np.zeros((height, width), np.float32)
        known = (rows >= 0)[:, None] & (columns >= 0)[None, :]
        result[known] = old[np.ix_(rows[rows >= 0], columns[columns >= 0])].ravel()
        values = to_array(initial).ravel()
        missing = height * width - int(known.sum())
        if values.size != missing:
            raise _invalid(
                f"initializing_values contained {values.size} elements, but {missing} were needed"
            )
        result[~known] = values
        return from_array(result)

    return load
