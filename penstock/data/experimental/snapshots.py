"""Snapshots: the elements of a pipeline in files, from which the next run reads them."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data.dataset import DatasetV2, UnaryDataset
from penstock.data.experimental.transformations import Transformation
from penstock.ir.convert import convert_to_tensor
from penstock.ops.datasets import pipeline_graphs

__all__ = ["COMPRESSION_GZIP", "COMPRESSION_NONE", "snapshot"]

COMPRESSION_GZIP = "GZIP"
COMPRESSION_NONE = None


class _SnapshotDataset(UnaryDataset):
    """A dataset that is written to files, or read from those of an earlier run."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        path: Any,
        compression: str | None = None,
        reader_path_prefix: str | None = None,
        writer_path_prefix: str | None = None,
        shard_size_bytes: int | None = None,
        pending_snapshot_expiry_seconds: int | None = None,
        num_reader_threads: int | None = None,
        reader_buffer_size: int | None = None,
        num_writer_threads: int | None = None,
        writer_buffer_size: int | None = None,
    ):
        def number(value: int | None) -> int:
            return -1 if value is None else value

        variant = pipeline_graphs.SnapshotDataset(
            input_dataset._variant_tensor,
            convert_to_tensor(path, dtypes.string, name="path"),
            compression=compression or "",
            reader_path_prefix=reader_path_prefix or "",
            writer_path_prefix=writer_path_prefix or "",
            shard_size_bytes=number(shard_size_bytes),
            pending_snapshot_expiry_seconds=number(pending_snapshot_expiry_seconds),
            num_reader_threads=number(num_reader_threads),
            reader_buffer_size=number(reader_buffer_size),
            num_writer_threads=number(num_writer_threads),
            writer_buffer_size=number(writer_buffer_size),
            **input_dataset._flat_structure,
        )
        super().__init__(input_dataset, variant)


def snapshot(
    path: Any,
    compression: str | None = None,
    reader_path_prefix: str | None = None,
    writer_path_prefix: str | None = None,
    shard_size_bytes: int | None = None,
    pending_snapshot_expiry_seconds: int | None = None,
    num_reader_threads: int | None = None,
    reader_buffer_size: int | None = None,
    num_writer_threads: int | None = None,
    writer_buffer_size: int | None = None,
) -> Transformation:
    """Writes the elements to files, or reads those that an equal pipeline has written.

    Args:
      path: the folder; pipelines that differ have folders of their own in it.
      compression: "GZIP" or None.
      reader_path_prefix: what is put before `path` to read.
      writer_path_prefix: what is put before `path` to write.
      shard_size_bytes: how large a file gets before another one is begun; 10 GiB.
      pending_snapshot_expiry_seconds: when a snapshot that was begun and not finished counts as
        abandoned; a day. Until then other runs neither read nor write one.
      num_reader_threads: accepted; files are read one after the other.
      reader_buffer_size: accepted.
      num_writer_threads: into how many files elements go in turns.
      writer_buffer_size: accepted.
    """
    return lambda dataset: _SnapshotDataset(
        dataset,
        path,
        compression,
        reader_path_prefix,
        writer_path_prefix,
        shard_size_bytes,
        pending_snapshot_expiry_seconds,
        num_reader_threads,
        reader_buffer_size,
        num_writer_threads,
        writer_buffer_size,
    )
