"""Readers of files that a queue names: `tf.TextLineReader` and the other kinds."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.defaults import executing_eagerly
from penstock.ir.operation import Operation
from penstock.ir.registry import (
    READS,
    STATEFUL,
    WAITS,
    WRITES,
    OpSpec,
    attr,
    not_differentiable,
    op,
)
from penstock.ir.tensor import Tensor
from penstock.ops.queue_ops import FakeQueue
from penstock.ops.shape_checks import with_rank
from penstock.platform.tf_record import TFRecordOptions
from penstock.shapes import Shape

__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "LMDBReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
]

_NAMED: dict[str, Any] = {"container": "", "shared_name": ""}
_LENGTHS: dict[str, Any] = {
    "header_bytes": 0,
    "record_bytes": attr("int"),
    "footer_bytes": 0,
    "hop_bytes": 0,
    **_NAMED,
}

_WholeFileReader = op("WholeFileReader() -> reader_handle: &string", STATEFUL, **_NAMED)
_WholeFileReaderV2 = op("WholeFileReaderV2() -> reader_handle: resource", STATEFUL, **_NAMED)
_TextLineReader = op(
    "TextLineReader() -> reader_handle: &string", STATEFUL, skip_header_lines=0, **_NAMED
)
_TextLineReaderV2 = op(
    "TextLineReaderV2() -> reader_handle: resource", STATEFUL, skip_header_lines=0, **_NAMED
)
_FixedLengthRecordReader = op(
    "FixedLengthRecordReader() -> reader_handle: &string", STATEFUL, **_LENGTHS
)
_FixedLengthRecordReaderV2 = op(
    "FixedLengthRecordReaderV2() -> reader_handle: resource", STATEFUL, **_LENGTHS, encoding=""
)
_TFRecordReader = op(
    "TFRecordReader() -> reader_handle: &string", STATEFUL, **_NAMED, compression_type=""
)
_TFRecordReaderV2 = op(
    "TFRecordReaderV2() -> reader_handle: resource", STATEFUL, **_NAMED, compression_type=""
)
_LMDBReader = op("LMDBReader() -> reader_handle: &string", STATEFUL, **_NAMED)
_IdentityReader = op("IdentityReader() -> reader_handle: &string", STATEFUL, **_NAMED)
_IdentityReaderV2 = op("IdentityReaderV2() -> reader_handle: resource", STATEFUL, **_NAMED)

ReaderRead = op(
    "ReaderRead(reader_handle: &string, queue_handle: &string) -> key: string, value: string",
    WRITES,
    WAITS,
)
ReaderReadV2 = op(
    "ReaderReadV2(reader_handle: resource, queue_handle: resource) -> key: string, value: string",
    STATEFUL,
    WRITES,
    WAITS,
)
ReaderReadUpTo = op(
    "ReaderReadUpTo(reader_handle: &string, queue_handle: &string, num_records: int64) "
    "-> keys: string, values: string",
    WRITES,
    WAITS,
)
ReaderReadUpToV2 = op(
    "ReaderReadUpToV2(reader_handle: resource, queue_handle: resource, num_records: int64) "
    "-> keys: string, values: string",
    STATEFUL,
    WRITES,
    WAITS,
)
ReaderNumRecordsProduced = op(
    "ReaderNumRecordsProduced(reader_handle: &string) -> records_produced: int64", READS
)
ReaderNumRecordsProducedV2 = op(
    "ReaderNumRecordsProducedV2(reader_handle: resource) -> records_produced: int64",
    STATEFUL,
    READS,
)
ReaderNumWorkUnitsCompleted = op(
    "ReaderNumWorkUnitsCompleted(reader_handle: &string) -> units_completed: int64", READS
)
ReaderNumWorkUnitsCompletedV2 = op(
    "ReaderNumWorkUnitsCompletedV2(reader_handle: resource) -> units_completed: int64",
    STATEFUL,
    READS,
)
ReaderReset = op("ReaderReset(reader_handle: &string)", WRITES)
ReaderResetV2 = op("ReaderResetV2(reader_handle: resource)", STATEFUL, WRITES)
ReaderSerializeState = op("ReaderSerializeState(reader_handle: &string) -> state: string", READS)
ReaderSerializeStateV2 = op(
    "ReaderSerializeStateV2(reader_handle: resource) -> state: string", STATEFUL, READS
)
ReaderRestoreState = op("ReaderRestoreState(reader_handle: &string, state: string)", WRITES)
ReaderRestoreStateV2 = op(
    "ReaderRestoreStateV2(reader_handle: resource, state: string)", STATEFUL, WRITES
)

_MAKING = (
    _WholeFileReader,
    _WholeFileReaderV2,
    _TextLineReader,
    _TextLineReaderV2,
    _FixedLengthRecordReader,
    _FixedLengthRecordReaderV2,
    _TFRecordReader,
    _TFRecordReaderV2,
    _LMDBReader,
    _IdentityReader,
    _IdentityReaderV2,
)
_ASKING = (
    ReaderNumRecordsProduced,
    ReaderNumRecordsProducedV2,
    ReaderNumWorkUnitsCompleted,
    ReaderNumWorkUnitsCompletedV2,
    ReaderSerializeState,
    ReaderSerializeStateV2,
)
not_differentiable(
    *_MAKING,
    *_ASKING,
    ReaderRead,
    ReaderReadV2,
    ReaderReadUpTo,
    ReaderReadUpToV2,
    ReaderReset,
    ReaderResetV2,
    ReaderRestoreState,
    ReaderRestoreStateV2,
)


def _makes_handle(spec: OpSpec) -> None:
    """A handle is a scalar; the old kind is a pair of strings."""
    shape: Shape = (2,) if spec.outputs[0].is_ref else ()
    spec.shape(lambda op: shape)


for _spec in _MAKING:
    _makes_handle(_spec)
for _spec in _ASKING:
    _spec.shape(lambda op, reader: ())


@ReaderRead.shape
@ReaderReadV2.shape
def _(op: Any, reader: Shape, queue: Shape) -> list[Shape]:
    return [(), ()]


@ReaderReadUpTo.shape
@ReaderReadUpToV2.shape
def _(op: Any, reader: Shape, queue: Shape, count: Shape) -> list[Shape]:
    with_rank(count, 0)
    return [(None,), (None,)]


@ReaderRestoreState.shape
@ReaderRestoreStateV2.shape
def _(op: Any, reader: Shape, state: Shape) -> list[Shape]:
    with_rank(state, 0)
    return []


class ReaderBase:
    """What all readers can do; make one of its kinds, such as `tf.TextLineReader`.

    A reader takes a work unit, mostly the name of a file, from a queue and reads its records.
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        if executing_eagerly():
            raise RuntimeError(
                "Readers are not supported when eager execution is enabled. Instead, please use "
                "tf.data to get data into your model."
            )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader's state can be saved."""
        return self._supports_serialize

    @property
    def _is_resource(self) -> bool:
        return self._reader_ref.dtype is dtypes.resource

    def _queue(self, queue: Any) -> Tensor:
        ref: Tensor = queue if isinstance(queue, Tensor) else queue.queue_ref
        return ref if self._is_resource else FakeQueue(ref)

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record (key, value); a new work unit is taken from `queue` where needed."""
        spec = ReaderReadV2 if self._is_resource else ReaderRead
        return spec(self._reader_ref, self._queue(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Up to `num_records` records (keys, values) of a work unit."""
        spec = ReaderReadUpToV2 if self._is_resource else ReaderReadUpTo
        return spec(self._reader_ref, self._queue(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records have been read so far."""
        spec = ReaderNumRecordsProducedV2 if self._is_resource else ReaderNumRecordsProduced
        return spec(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many work units have been read to their end."""
        spec = ReaderNumWorkUnitsCompletedV2 if self._is_resource else ReaderNumWorkUnitsCompleted
        return spec(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """The reader's state as a string."""
        spec = ReaderSerializeStateV2 if self._is_resource else ReaderSerializeState
        return spec(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """Sets the reader to a state that `serialize_state` gave."""
        spec = ReaderRestoreStateV2 if self._is_resource else ReaderRestoreState
        return spec(self._reader_ref, state, name=name)

    def reset(self, name: str | None = None) -> Operation:
        """Sets the reader to its initial state."""
        spec = ReaderResetV2 if self._is_resource else ReaderReset
        return spec(self._reader_ref, name=name)


class WholeFileReader(ReaderBase):
    """A reader whose records are whole files: (file name, contents)."""

    def __init__(self, name: str | None = None):
        super().__init__(_WholeFileReaderV2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """A reader of the lines of text files, without their ends.

    Args:
      skip_header_lines: how many lines at the begin of each file are left out.
      name: a name for the node.
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        ref = _TextLineReaderV2(skip_header_lines=skip_header_lines, name=name)
        super().__init__(ref, supports_serialize=True)


class FixedLengthRecordReader(ReaderBase):
    """A reader of binary files whose records have a fixed length.

    Args:
      record_bytes: the length of a record.
      header_bytes, footer_bytes: how much at the begin and the end of each file is no record.
      hop_bytes: how far one record's start is from the next; `record_bytes` if None.
      name: a name for the node.
      encoding: "ZLIB" for compressed files.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ):
        ref = _FixedLengthRecordReaderV2(
            record_bytes=record_bytes,
            header_bytes=header_bytes,
            footer_bytes=footer_bytes,
            hop_bytes=hop_bytes,
            encoding=encoding,
            name=name,
        )
        super().__init__(ref, supports_serialize=True)


class TFRecordReader(ReaderBase):
    """A reader of the records of TFRecord files.

    Args:
      name: a name for the node.
      options: `tf.python_io.TFRecordOptions`, for compressed files.
    """

    def __init__(self, name: str | None = None, options: Any = None):
        compression = TFRecordOptions.get_compression_type_string(options)
        ref = _TFRecordReaderV2(compression_type=compression, name=name)
        super().__init__(ref, supports_serialize=True)


class LMDBReader(ReaderBase):
    """A reader of the keys and values of LMDB databases: files, or folders with a `data.mdb`."""

    def __init__(self, name: str | None = None, options: Any = None):
        del options  # of TensorFlow's library, which this reader does without
        super().__init__(_LMDBReader(name=name))


class IdentityReader(ReaderBase):
    """A reader that gives each work unit itself, as key and as value."""

    def __init__(self, name: str | None = None):
        super().__init__(_IdentityReaderV2(name=name), supports_serialize=True)
