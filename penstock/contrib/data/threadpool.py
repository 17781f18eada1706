"""`tf.data.experimental`'s thread pools: how many threads a pipeline calls functions in."""

from __future__ import annotations

from penstock.data.dataset import DatasetV2, UnaryDataset
from penstock.ops.datasets import rearranged as nodes


class PrivateThreadPool:
    """A number of threads that pipelines share."""

    def __init__(
        self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1
    ):
        self._resource = nodes.ThreadPoolHandle(
            num_threads=num_threads,
            max_intra_op_parallelism=max_intra_op_parallelism,
            display_name=display_name,
        )


class _ThreadPoolDataset(UnaryDataset):
    """A dataset whose pipeline has the threads of a pool."""

    def __init__(self, input_dataset: DatasetV2, thread_pool: PrivateThreadPool):
        self._thread_pool = thread_pool
        variant = nodes.ThreadPoolDataset(
            input_dataset._variant_tensor, thread_pool._resource, **input_dataset._flat_structure
        )
        super().__init__(input_dataset, variant)


def override_threadpool(dataset: DatasetV2, thread_pool: PrivateThreadPool) -> DatasetV2:
    """A dataset whose pipeline calls functions in the threads of a pool."""
    return _ThreadPoolDataset(dataset, thread_pool)
