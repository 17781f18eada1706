"""TFRecord files: TensorFlow's own, ours byte for byte, damaged ones, growing ones."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import errors
from penstock.platform import crc32c
from penstock.platform.tf_record import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
    tf_record_random_reader,
)
from tests.platform.record_tfrecords import FILES, RECORDED, RECORDS

COMPRESSIONS = ("", "GZIP", "ZLIB")


def write(path: Path, records: list[bytes], options: object = None) -> bytes:
    with TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return path.read_bytes()


def read(path: Path, options: object = None) -> list[bytes]:
    return list(tf_record_iterator(str(path), options))


@pytest.mark.parametrize("name", FILES)
def test_reads_what_tensorflow_wrote(name: str) -> None:
    assert read(RECORDED / f"{name}.tfrecord", TFRecordOptions(**FILES[name])) == RECORDS


@pytest.mark.parametrize("name", FILES)
def test_writes_what_tensorflow_wrote(name: str, tmp_path: Path) -> None:
    written = write(tmp_path / "records", RECORDS, TFRecordOptions(**FILES[name]))
    recorded = (RECORDED / f"{name}.tfrecord").read_bytes()
    if name == "gzip":
        # The header names the system that wrote it.
        written, recorded = (data[:9] + b"\0" + data[10:] for data in (written, recorded))
    compression = FILES[name].get("compression_type")
    if compression and written != recorded:
        # Another zlib may choose other codes for the same contents.
        wbits = 31 if compression == "GZIP" else 15
        written, recorded = (zlib.decompress(data, wbits) for data in (written, recorded))
    assert written == recorded


@given(records=st.lists(st.binary(max_size=300), max_size=8), kind=st.sampled_from(COMPRESSIONS))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], kind: str
) -> None:
    path = tmp_path_factory.mktemp("round") / "records"
    write(path, records, kind)
    assert read(path, kind) == records


def _read_until_damage(path: Path, kind: str) -> Iterator[bytes]:
    """The records before the first damage; stops where the reader reports it."""
    with contextlib.suppress(errors.DataLossError):
        yield from tf_record_iterator(str(path), kind)


SMALL = [b"first", b"", b"the last record"]


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_every_truncation_is_noticed_or_ends_between_records(kind: str, tmp_path: Path) -> None:
    data = write(tmp_path / "whole", SMALL, kind)
    path = tmp_path / "cut"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        found = list(_read_until_damage(path, kind))
        assert found == SMALL[: len(found)], length


def test_a_cut_plain_file_is_noticed_everywhere_but_between_records(tmp_path: Path) -> None:
    data = write(tmp_path / "whole", SMALL)
    ends = {0}
    for record in SMALL:
        ends.add(max(ends) + 16 + len(record))
    path = tmp_path / "cut"
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        if length in ends:
            assert read(path) == SMALL[: sorted(ends).index(length)]
        else:
            with pytest.raises(
                errors.DataLossError, match=r"truncated record at \d+ \(file: .*cut"
            ):
                read(path)


def test_every_flipped_bit_of_a_plain_file_is_noticed(tmp_path: Path) -> None:
    data = write(tmp_path / "whole", SMALL)
    path = tmp_path / "flipped"
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(errors.DataLossError, match="record at"):
                read(path)


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_a_flipped_byte_of_a_compressed_file_never_gives_a_wrong_record(
    kind: str, tmp_path: Path
) -> None:
    data = write(tmp_path / "whole", SMALL, kind)
    path = tmp_path / "flipped"
    noticed = 0
    for position in range(len(data)):
        for flip in (0x01, 0x10, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            found = list(_read_until_damage(path, kind))
            assert found == SMALL[: len(found)], (position, flip)
            noticed += found != SMALL
    # What is harmless are the parts of a gzip header that say nothing about the contents.
    assert noticed > 2.5 * len(data) if kind == "ZLIB" else noticed > 2 * len(data)


def test_damage_is_named_by_file_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    data = bytearray(write(path, [b"good", b"damaged"]))
    data[20 + 12] ^= 1  # the first byte of the second record's data
    path.write_bytes(data)
    records = tf_record_iterator(str(path))
    assert next(records) == b"good"
    with pytest.raises(errors.DataLossError) as raised:
        next(records)
    assert raised.value.message == f"corrupted record at 32 (file: {path})"


def test_a_huge_length_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    length = (2**60).to_bytes(8, "little")
    path.write_bytes(length + crc32c.masked_value(length).to_bytes(4, "little") + b"some data")
    with pytest.raises(errors.DataLossError, match="truncated record at 0"):
        read(path)


def test_iterator_goes_on_when_the_file_has_grown(tmp_path: Path) -> None:
    path = tmp_path / "growing"
    with TFRecordWriter(str(path)) as writer:
        writer.write(b"one")
        writer.flush()
        records = tf_record_iterator(str(path))
        assert next(records) == b"one"
        with pytest.raises(StopIteration):
            next(records)
        writer.write(b"two")
        writer.flush()
        assert next(records) == b"two"


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_iterator_goes_on_when_a_record_is_completed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "growing"
    data = write(tmp_path / "whole", [b"good", b"truncated"], kind)
    cut = len(data) - 12 if kind else len(data) - 1
    path.write_bytes(data[:cut])
    records = tf_record_iterator(str(path), kind)
    found = list(_read_until_damage(path, kind))
    assert [next(records) for _ in found] == found != [b"good", b"truncated"]
    with path.open("ab") as file:
        file.write(data[cut:])
    assert [*found, *records] == [b"good", b"truncated"]


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_flushed_records_can_be_read_before_the_file_is_closed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "open"
    with TFRecordWriter(str(path), kind) as writer:
        writer.write(b"early")
        writer.flush()
        assert read(path, kind) == [b"early"]


def test_compressed_files_are_those_of_zlib_and_gzip(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", RECORDS)
    assert zlib.decompress(write(tmp_path / "z", RECORDS, "ZLIB")) == plain
    assert gzip.decompress(write(tmp_path / "gz", RECORDS, "GZIP")) == plain
    two_members = tmp_path / "two"
    two_members.write_bytes(gzip.compress(plain) + gzip.compress(plain))
    assert read(two_members, "GZIP") == RECORDS * 2


def test_closed_writers(tmp_path: Path) -> None:
    writer = TFRecordWriter(str(tmp_path / "closed"))
    writer.close()
    writer.close()
    with pytest.raises(errors.FailedPreconditionError, match="closed"):
        writer.write(b"late")
    with pytest.raises(errors.FailedPreconditionError, match="closed"):
        writer.flush()


def test_missing_files(tmp_path: Path) -> None:
    missing = str(tmp_path / "no" / "file")
    with pytest.raises(errors.NotFoundError, match="No such file"):
        TFRecordWriter(missing)
    with pytest.raises(errors.NotFoundError, match="No such file"):
        next(tf_record_iterator(missing))


def test_random_reader(tmp_path: Path) -> None:
    path = tmp_path / "records"
    write(path, SMALL)
    reader = tf_record_random_reader(str(path))
    offsets = [0]
    for record in SMALL:
        found, offset = reader.read(offsets[-1])
        assert found == record
        offsets.append(offset)
    assert reader.read(offsets[1])[0] == SMALL[1]
    with pytest.raises(IndexError, match=r"Out of range.*offset"):
        reader.read(offsets[-1])
    with pytest.raises(errors.DataLossError, match="corrupted record"):
        reader.read(1)
    reader.close()
    with pytest.raises(errors.FailedPreconditionError, match="closed"):
        reader.read(0)


def test_compression_types() -> None:
    name = TFRecordOptions.get_compression_type_string
    assert name(None) == name("") == name(TFRecordCompressionType.NONE) == ""
    assert name("GZIP") == name(TFRecordCompressionType.GZIP) == "GZIP"
    assert name(TFRecordOptions(TFRecordOptions("ZLIB"))) == "ZLIB"
    for wrong in ("BZ2", 5):
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            TFRecordOptions(wrong)


def test_zlib_refuses_wrong_settings(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="window_bits"):
        TFRecordWriter(str(tmp_path / "x"), TFRecordOptions("ZLIB", window_bits=99))


def test_masked_checksums_are_those_of_the_format() -> None:
    assert crc32c.value(b"123456789") == 0xE3069283
    assert crc32c.unmask(crc32c.masked_value(b"penstock")) == crc32c.value(b"penstock")
