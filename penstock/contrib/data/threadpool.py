"""`tf.contrib.data.python.ops.threadpool`: pipelines here have threads of their own anyway."""

from __future__ import annotations

from typing import Any

from penstock.data.dataset import DatasetV2, UnaryDataset


class PrivateThreadPool:
    """How many threads a pipeline may have."""

    def __init__(
        self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1
    ):
        self.num_threads = num_threads
        self.display_name = display_name
        self.max_intra_op_parallelism = max_intra_op_parallelism


def override_threadpool(dataset: DatasetV2, thread_pool: Any) -> DatasetV2:
    """The same dataset: its transformations have the threads that they ask for."""
    return UnaryDataset(dataset, dataset._variant_tensor)
