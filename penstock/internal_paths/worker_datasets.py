"""`tensorflow.python.distribute.input_ops`: the share of a worker of a dataset, and its copies."""

from __future__ import annotations

from penstock.data.dataset import DatasetV2
from penstock.data.experimental.workers import _AutoShardDataset
from penstock.distribute.copied_datasets import copied_dataset as _clone_dataset

__all__ = ["_clone_dataset", "auto_shard_dataset"]


def auto_shard_dataset(dataset: DatasetV2, num_shards: int, index: int) -> DatasetV2:
    """The share of a worker: of the files that a dataset reads, or else of its elements."""
    if not dataset.options().experimental_distribute.auto_shard:
        return dataset
    return _AutoShardDataset(dataset, num_shards, index)
