"""`StreamingFilesDataset`: the records of many files, on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.data.dataset import DatasetV2

_BUFFER = 8 << 20


def _TextLineDataset(filename: Any) -> Any:
    return tf.data.TextLineDataset(filename, buffer_size=_BUFFER)


def _TFRecordDataset(filename: Any) -> Any:
    return tf.data.TFRecordDataset(filename, buffer_size=_BUFFER)


_FILETYPE_MAP = {
    "tfrecord": _TFRecordDataset,
    "textline": _TextLineDataset,
    "text": _TextLineDataset,
}


def _reader(filetype: Any) -> Callable[[Any], Any]:
    if callable(filetype):
        reader: Callable[[Any], Any] = filetype
        return reader
    if not isinstance(filetype, str):
        raise ValueError("filetype should be a string or a callable")
    if filetype not in _FILETYPE_MAP:
        raise ValueError(f"Unexpected filetype: {filetype}")
    return _FILETYPE_MAP[filetype]


def StreamingFilesDataset(
    files: Any,
    filetype: Any = None,
    file_reader_job: str | None = None,
    worker_job: str | None = None,
    num_epochs: int | None = None,
    filename_shuffle_buffer_size: Any = None,
    num_parallel_reads: int | None = None,
    batch_transfer_size: Any = None,
    sloppy: bool | None = None,
) -> Any:
    """The records of files, shuffled and repeated. They are read where they are used.

    Args:
      files: a pattern of names, or a dataset of them.
      filetype: "tfrecord", "textline", or a function that gives a file's dataset.
      file_reader_job: has no effect: who uses the elements reads the files.
      worker_job: who uses the elements, "worker" by default.
      num_epochs: how often files are read; without end by default.
      filename_shuffle_buffer_size: how many names are shuffled, 4096 by default; 0 or False: none.
      num_parallel_reads: how many files are read at a time, 8 by default.
      batch_transfer_size: has no effect, since nothing is sent.
      sloppy: whether order may depend on time, as by default.
    """
    reader = _reader("tfrecord" if filetype is None else filetype)
    shuffled = 4096 if filename_shuffle_buffer_size is None else filename_shuffle_buffer_size
    sloppy = True if sloppy is None else sloppy
    with tf.device(f"/job:{worker_job or 'worker'}"):
        elements = _source(files, reader, shuffled, num_parallel_reads or 8, sloppy)
        return elements.repeat(num_epochs).prefetch(1)


def _source(files: Any, reader: Any, shuffled: Any, reads: int, sloppy: bool) -> Any:
    if isinstance(files, str):
        names: Any = tf.data.Dataset.list_files(files)
    elif isinstance(files, DatasetV2):
        names = files
    else:
        raise ValueError(f"files was not a string or a dataset: {files}")
    if shuffled:
        names = names.shuffle(buffer_size=shuffled)
    return names.apply(
        tf.data.experimental.parallel_interleave(reader, cycle_length=reads, sloppy=sloppy)
    )
