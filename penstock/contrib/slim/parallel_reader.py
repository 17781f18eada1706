"""Several readers that fill one queue."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import gfile


class ParallelReader:
    """Reads records by several readers into a queue, from which they are taken.

    Args:
      reader_class: makes the readers, with `reader_kwargs`.
      common_queue: a queue of keys and values, both strings.
    """

    def __init__(
        self,
        reader_class: Any,
        common_queue: Any,
        num_readers: int = 4,
        reader_kwargs: dict[str, Any] | None = None,
    ):
        dtypes = common_queue.dtypes
        if len(dtypes) != 2 or any(not dtype.is_compatible_with(tf.string) for dtype in dtypes):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next key and value of the files named by a queue."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """The next keys and values, as many as there are up to a number."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue: Any) -> None:
        enqueue = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        tf.train.add_queue_runner(tf.train.QueueRunner(self._common_queue, enqueue))

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records all readers have read."""
        return tf.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files all readers have read to their end."""
        return tf.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: Any = None,
    scope: str | None = None,
) -> Any:
    """Keys and values of the records of files, read by several readers.

    Args:
      data_sources: names or patterns of files.
      num_epochs: how often the files are read; None for ever.
      min_after_dequeue: how many records stay in the queue, for good shuffling.
    """
    data_files = get_data_files(data_sources)
    with tf.name_scope(scope, "parallel_read"):
        filename_queue = tf.train.string_input_producer(
            data_files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        kinds = dtypes or [tf.string, tf.string]
        if shuffle:
            common_queue: Any = tf.RandomShuffleQueue(
                capacity=capacity,
                min_after_dequeue=min_after_dequeue,
                dtypes=kinds,
                seed=seed,
                name="common_queue",
            )
        else:
            common_queue = tf.FIFOQueue(capacity=capacity, dtypes=kinds, name="common_queue")
        share = tf.cast(common_queue.size(), tf.float32) * (1.0 / capacity)
        tf.summary.scalar(f"fraction_of_{capacity}_full", share)
        reader = ParallelReader(
            reader_class, common_queue, num_readers=num_readers, reader_kwargs=reader_kwargs
        )
        return reader.read(filename_queue)


def single_pass_read(
    data_sources: Any,
    reader_class: Any,
    reader_kwargs: dict[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Keys and values of the records of files, read once and in order by one reader."""
    data_files = get_data_files(data_sources)
    with tf.name_scope(scope, "single_pass_read"):
        filename_queue = tf.train.string_input_producer(
            data_files, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(filename_queue)


def get_data_files(data_sources: Any) -> list[str]:
    """The names of files in a list of names and patterns."""
    if isinstance(data_sources, (list, tuple)):
        found = [name for source in data_sources for name in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        found = gfile.Glob(data_sources)
    else:
        found = [data_sources]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found
