"""A provider that reads a `Dataset`."""

from __future__ import annotations

from typing import Any

from penstock.contrib.slim import parallel_reader
from penstock.contrib.slim.data_provider import DataProvider


class DatasetDataProvider(DataProvider):
    """Reads the files of a data set by several readers and decodes the records.

    Args:
      common_queue_capacity: how many records wait at most to be decoded.
      common_queue_min: how many records stay in the queue, for good shuffling.
      record_key: name of the item that is the key of the record.
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: Any = None,
        scope: str | None = None,
    ):
        key, data = parallel_reader.parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item: "
                f"{record_key}"
            )
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
