"""Readers: records with their keys out of work units, mostly files, that a queue names."""

from __future__ import annotations

import json
import threading
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import IO

from penstock import errors, proto
from penstock.platform.file_errors import file_errors
from penstock.platform.lmdb_files import LmdbReader
from penstock.platform.paths import as_path, open_file
from penstock.platform.record_files import FRAME_SIZE, WINDOW_BITS, RecordReader
from penstock.state.read_ahead import Block

Record = tuple[bytes, bytes]  # key and value
Columns = tuple[list[bytes], list[bytes]]  # the keys and the values of records

_SIZE_OF_TEXT_BUFFER = 1 << 18


def _as_columns(record: Record) -> Columns:
    key, value = record
    return [key], [value]


class Reader:
    """Reads the records of one work unit after the other.

    1. `_lock` is held from the begin of a read to its end: two steps never share a record. `_place`
       is not held while a read waits for work, so that the state can be saved then.
    2. A work unit is finished when its records have come to their end; only then is the next one
       taken from the queue. A unit that `is_one_record` is finished with it.
    3. A unit that can't be opened is left out by the next read. One whose records can't be read
       stays, and so does the error.
    """

    type_name: str
    is_one_record = False

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._place = threading.Lock()
        self._records: Iterator[Record] | None = None
        self._work = b""
        self._position = 0  # records of the work unit that have been read
        self._started = self._finished = 0
        self.num_records_produced = 0

    @abstractmethod
    def _open(self, work: bytes) -> Iterator[Record]:
        """The records of a work unit, and what must be done at their end."""

    @property
    def num_work_units_completed(self) -> int:
        return self._finished

    def read(self, next_work: Callable[[], bytes]) -> Record:
        """The next record; `next_work` takes a work unit from the queue."""
        with self._lock:
            while True:
                records = self._current(next_work)
                with self._place:
                    record = next(records, None)
                    if record is not None:
                        self._count(1)
                    if record is None or self.is_one_record:
                        self._finish()
                if record is not None:
                    return record

    def read_up_to(self, count: int, next_work: Callable[[], bytes]) -> Columns:
        """Up to `count` records of one work unit."""
        found: Columns = [], []
        with self._lock:
            while len(found[0]) < count:
                records = self._current(next_work)
                with self._place:
                    self._extend(found, records, count)
                    if len(found[0]) == count and not self.is_one_record:
                        return found
                    self._finish()
                if found[0]:
                    break
        return found

    def _extend(self, found: Columns, records: Iterator[Record], count: int) -> None:
        """Reads on until `count` records are found or the work unit is at its end."""
        keys, values = found
        several = getattr(records, "several", None) or (lambda most: _as_columns(next(records)))
        with suppress(StopIteration):
            while len(keys) < count:
                some_keys, some_values = several(count - len(keys))
                keys += some_keys
                values += some_values
                self._count(len(some_keys))

    def _count(self, records: int) -> None:
        self.num_records_produced += records
        self._position += records

    def _current(self, next_work: Callable[[], bytes]) -> Iterator[Record]:
        if self._records is None:
            if self._started == self._finished:
                self._work = next_work()
            records = self._open(self._work)
            for _ in range(self._position):  # of a state that was restored
                next(records, None)
            with self._place:
                if self._started == self._finished:
                    self._started += 1
                self._records = records
        return self._records

    def _finish(self) -> None:
        self._finished = self._started
        self._position = 0
        self._work = b""
        self._forget()

    def _forget(self) -> None:
        """Ends the iteration over a work unit, and so gives its file back."""
        records, self._records = self._records, None
        close = getattr(records, "close", None)
        if close is not None:
            close()

    def reset(self) -> None:
        """Forgets the work unit at hand and all counts."""
        with self._lock, self._place:
            self._finish()
            self._started = self._finished = self.num_records_produced = 0

    def close(self) -> None:
        """Gives the file back; a read that is still under way does that when it ends."""
        if self._lock.acquire(blocking=False):
            try:
                self._forget()
            finally:
                self._lock.release()

    def serialize_state(self) -> bytes:
        """Where the reader is, for `restore_state`."""
        with self._place:
            state = {
                "counts": [self._started, self._finished, self.num_records_produced],
                "work": self._work.decode("latin-1"),
                "position": self._position,
            }
        return json.dumps(state).encode()

    def restore_state(self, state: bytes) -> None:
        """Goes where `serialize_state` was called."""
        try:
            found = json.loads(state)
            counts, position = [int(n) for n in found["counts"]], int(found["position"])
            work = found["work"].encode("latin-1")
            started, finished, produced = counts
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._unparsed(state) from None
        self._restore(started, finished, produced, work, position)

    def _restore(
        self, started: int, finished: int, produced: int, work: bytes, position: int = 0
    ) -> None:
        where = f"{self.type_name} '{self.name}'"
        if min(started, finished, produced, position) < 0:
            raise _invalid(
                f"Unexpected negative value when restoring in {where}: "
                f"{[started, finished, produced, position]}"
            )
        if finished > started:
            raise _invalid(
                f"Inconsistent work started vs. finished when restoring in {where}: {started} vs. "
                f"{finished}"
            )
        with self._lock, self._place:
            self._finish()
            self._started, self._finished, self.num_records_produced = started, finished, produced
            self._work, self._position = work, position

    def _unparsed(self, state: bytes) -> errors.InvalidArgumentError:
        shown = state.decode(errors="backslashreplace")
        return _invalid(f"Could not parse state for {self.type_name} '{self.name}': {shown}")

    def mismatch(self, other: Reader) -> str | None:
        """Why a node that would make `other` can't share this reader."""
        if type(self) is type(other):
            return None
        return (
            f"Shared reader '{self.name}' is a {self.type_name}, not the {other.type_name} that "
            "was asked for"
        )


class _UnitReader(Reader):
    """A reader of one record per work unit, whose state has TensorFlow's form."""

    is_one_record = True

    def serialize_state(self) -> bytes:
        with self._place:
            state = proto.ReaderBaseState(
                work_started=self._started,
                work_finished=self._finished,
                num_records_produced=self.num_records_produced,
                current_work=self._work,
            )
        return bytes(state.SerializeToString())

    def restore_state(self, state: bytes) -> None:
        message = proto.ReaderBaseState()
        try:
            message.ParseFromString(state)
        except Exception:
            raise self._unparsed(state) from None
        self._restore(
            message.work_started,
            message.work_finished,
            message.num_records_produced,
            message.current_work,
        )


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


class IdentityReader(_UnitReader):
    """The work unit itself, as key and as value."""

    type_name = "IdentityReader"

    def _open(self, work: bytes) -> Iterator[Record]:
        return iter([(work, work)])


class WholeFileReader(_UnitReader):
    """The name of a file and all of its contents."""

    type_name = "WholeFileReader"

    def _open(self, work: bytes) -> Iterator[Record]:
        return _WholeFile(work)


class _WholeFile(Iterator[Record]):
    """The only record of a file, which is opened when it is read."""

    def __init__(self, work: bytes):
        self._work = work
        self._is_read = False

    def __next__(self) -> Record:
        if self._is_read:
            raise StopIteration
        with open_file(self._work, "rb") as file, file_errors(as_path(self._work)):
            record = self._work, file.read()
        self._is_read = True
        return record


class TextLineReader(Reader):
    """The lines of a file, without their ends; the key is `file:line number`."""

    type_name = "TextLineReader"

    def __init__(self, name: str, skip_header_lines: int = 0):
        if skip_header_lines < 0:
            raise _invalid(f"skip_header_lines must be >= 0 not {skip_header_lines}")
        super().__init__(name)
        self._skip = skip_header_lines

    def _open(self, work: bytes) -> Iterator[Record]:
        return self._lines(work, open_file(work, "rb", _SIZE_OF_TEXT_BUFFER))

    def _lines(self, work: bytes, file: IO[bytes]) -> Iterator[Record]:
        with file:
            for number, line in enumerate(file, 1):
                text = line.rstrip(b"\n").replace(b"\r", b"")
                if number > self._skip and (text or line.endswith(b"\n")):
                    yield b"%s:%d" % (work, number), text


class FixedLengthRecordReader(Reader):
    """Records of equal length between a header and a footer; the key is `file:number`."""

    type_name = "FixedLengthRecordReader"

    def __init__(
        self,
        name: str,
        record_bytes: int,
        header_bytes: int = 0,
        footer_bytes: int = 0,
        hop_bytes: int = 0,
        encoding: str = "",
    ):
        sizes = {"header_bytes": header_bytes, "footer_bytes": footer_bytes, "hop_bytes": hop_bytes}
        for what, size in sizes.items():
            if size < 0:
                raise _invalid(f"{what} must be >= 0 not {size}")
        if record_bytes <= 0:
            raise _invalid(f"record_bytes must be >= 0 not {record_bytes}")
        if encoding and encoding not in WINDOW_BITS:
            raise _invalid(f"encoding must be one of '', 'ZLIB', 'GZIP', not {encoding!r}")
        super().__init__(name)
        self._record, self._header, self._footer = record_bytes, header_bytes, footer_bytes
        self._hop = hop_bytes or record_bytes
        self._encoding = encoding

    def _open(self, work: bytes) -> Iterator[Record]:
        file = open_file(work, "rb", _SIZE_OF_TEXT_BUFFER)
        if not self._encoding:
            return self._records_of(work, file)
        with file:
            return self._slices(work, self._inflated(file.read(), work))

    def _inflated(self, data: bytes, work: bytes) -> bytes:
        try:
            return zlib.decompress(data, WINDOW_BITS[self._encoding])
        except zlib.error as error:
            raise errors.DataLossError(None, None, f"{error} (file: {as_path(work)})") from None

    def _records_of(self, work: bytes, file: IO[bytes]) -> Iterator[Record]:
        with file:
            end = file.seek(0, 2) - self._footer
            for number, start in enumerate(self._starts(end)):
                file.seek(start)
                yield b"%s:%d" % (work, number), file.read(self._record)

    def _slices(self, work: bytes, data: bytes) -> Iterator[Record]:
        for number, start in enumerate(self._starts(len(data) - self._footer)):
            yield b"%s:%d" % (work, number), data[start : start + self._record]

    def _starts(self, end: int) -> range:
        """Where the records start that end at `end` at the latest."""
        return range(self._header, end - self._record + 1, self._hop)


class LMDBReader(Reader):
    """The keys and values of an LMDB database."""

    type_name = "LMDBReader"

    def _open(self, work: bytes) -> Iterator[Record]:
        return iter(LmdbReader(work))


class TFRecordReader(Reader):
    """The records of a TFRecord file; the key is `file:offset`."""

    type_name = "TFRecordReader"

    def __init__(self, name: str, compression_type: str = ""):
        super().__init__(name)
        self._compression = compression_type

    def _open(self, work: bytes) -> Iterator[Record]:
        return _TFRecords(work, self._compression)


class _TFRecords(Iterator[Record]):
    """The records of a file, read ahead; at one that is damaged it stays."""

    _MOST_AHEAD = 256

    def __init__(self, work: bytes, compression: str):
        self._work = work
        self._reader = RecordReader(work, compression)
        self._block = self._block_before = Block(())
        self._place = 0  # in the block, of the next record
        self._offset = 0  # in the file

    def __next__(self) -> Record:
        if self._place == len(self._block.records):
            self._read_ahead()
        record, offset = self._block.records[self._place], self._offset
        self._place += 1
        self._offset += len(record) + FRAME_SIZE
        return b"%s:%d" % (self._work, offset), record

    def several(self, most: int) -> Columns:
        """Up to `most` further records, at least one; StopIteration if there is none."""
        if self._place == len(self._block.records):
            self._read_ahead()
        records = list(self._block.records[self._place : self._place + most])
        sizes = [len(record) + FRAME_SIZE for record in records]
        *offsets, self._offset = accumulate(sizes, initial=self._offset)
        self._place += len(records)
        work = self._work
        return [b"%s:%d" % (work, offset) for offset in offsets], records

    def _read_ahead(self) -> None:
        records = self._reader.read_several(self._MOST_AHEAD)
        if not records:
            raise StopIteration
        if len(records) < self._MOST_AHEAD:  # blocks of one size fit batches of most sizes
            with suppress(errors.OpError):  # the next call meets it again
                records += self._reader.read_several(self._MOST_AHEAD - len(records))
        # Steps that are under way still use the records of the block before.
        self._block_before, self._block = self._block, Block(records)
        self._place = 0

    def close(self) -> None:
        self._reader.close()
