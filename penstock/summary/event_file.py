"""Event files: what TensorBoard reads, one record per event, in TensorFlow's format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock import errors
from penstock.platform.event_files import EventsWriter
from penstock.platform.record_files import RecordReader
from penstock.proto import Event

__all__ = ["EventsWriter", "summary_iterator"]


class _Events(Iterator[Any]):
    """The events of a file; when they have ended, and the file grows, they go on."""

    def __init__(self, path: Any):
        self._path = path
        self._reader: RecordReader | None = None

    def __next__(self) -> Any:
        if self._reader is None:
            self._reader = RecordReader(self._path)
        record = _next_record(self._reader)
        if record is None:
            raise StopIteration
        return Event.FromString(record)

    def __del__(self) -> None:
        if self._reader is not None:
            self._reader.close()


def _next_record(reader: RecordReader) -> bytes | None:
    try:
        return reader.read()
    except errors.DataLossError as error:
        # A file that is still being written ends anywhere.
        if error.message.startswith("truncated"):
            return None
        raise


def summary_iterator(path: Any) -> Iterator[Any]:
    """The events of an event file; a last one that is only partly there is left out.

    >>> for event in tf.train.summary_iterator("events.out.tfevents..."):
    ...     for value in event.summary.value:
    ...         print(event.step, value.tag, value.simple_value)
    """
    return _Events(path)
