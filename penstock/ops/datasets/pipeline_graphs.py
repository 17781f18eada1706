"""Pipelines as graphs: written, read, shared out among workers, and kept in files."""

from __future__ import annotations

from penstock.ir.registry import attr, op
from penstock.ops.datasets.elements import ELEMENTS, dataset_handles, scalar

DatasetToGraph = op(
    "DatasetToGraph(input_dataset: variant) -> graph: string",
    stateful_whitelist=attr("list(string)", [], minimum=0),
    allow_stateful=False,
    strip_device_assignment=False,
)
DatasetFromGraph = op("DatasetFromGraph(graph_def: string) -> handle: variant")
AutoShardDataset = op(
    "AutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) -> handle: variant",
    auto_shard_policy=0,
    **ELEMENTS,
    num_replicas=0,
)
ExperimentalAutoShardDataset = op(
    "ExperimentalAutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) "
    "-> handle: variant",
    auto_shard_policy=0,
    **ELEMENTS,
)
SnapshotDataset = op(
    "SnapshotDataset(input_dataset: variant, path: string) -> handle: variant",
    **ELEMENTS,
    compression="",
    reader_path_prefix="",
    writer_path_prefix="",
    shard_size_bytes=10 << 30,
    pending_snapshot_expiry_seconds=86400,
    num_reader_threads=1,
    reader_buffer_size=1,
    num_writer_threads=1,
    writer_buffer_size=1,
    shuffle_on_read=False,
    seed=0,
    seed2=0,
    mode="auto",
    snapshot_name="",
)

dataset_handles(DatasetFromGraph, AutoShardDataset, ExperimentalAutoShardDataset, SnapshotDataset)
DatasetToGraph.shape(scalar)
