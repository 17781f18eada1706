"""Reading on past damaged records, where a program asks for it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from penstock.platform import damaged_records
from penstock.platform.tf_record import TFRecordWriter, tf_record_iterator

RECORDS = [b"first", b"", b"the third record", b"last"]
STARTS = [0, *itertools.accumulate(16 + len(record) for record in RECORDS)]


def _write(path: Path, kind: str = "") -> bytes:
    with TFRecordWriter(str(path), kind) as writer:
        for record in RECORDS:
            writer.write(record)
    return path.read_bytes()


def _read(path: Path, kind: str = "") -> list[bytes]:
    return list(tf_record_iterator(str(path), kind, skip_damaged=True))


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the reader warned about."""
    warnings: list[str] = []
    monkeypatch.setattr(
        damaged_records.logging, "warning", lambda text, *args: warnings.append(text % args)
    )
    return warnings


def test_each_flipped_byte_costs_its_record_alone(tmp_path: Path, said: list[str]) -> None:
    data = _write(tmp_path / "whole")
    path = tmp_path / "flipped"
    for position, flip in itertools.product(range(len(data)), (0x01, 0x80, 0xFF)):
        damaged = bytearray(data)
        damaged[position] ^= flip
        path.write_bytes(damaged)
        said.clear()
        number = sum(position >= start for start in STARTS[1:])
        assert _read(path) == RECORDS[:number] + RECORDS[number + 1 :]
        (warning,) = said
        assert f"(file: {path})" in warning
        size = 16 + len(RECORDS[number])
        assert f"{size} bytes from {STARTS[number]} on are left out" in warning


def test_a_cut_file_gives_the_records_before_the_cut(tmp_path: Path, said: list[str]) -> None:
    data = _write(tmp_path / "whole")
    path = tmp_path / "cut"
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        said.clear()
        whole = sum(length >= start for start in STARTS[1:])
        assert _read(path) == RECORDS[:whole]
        assert len(said) == (length not in STARTS)


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_damaged_compression_ends_the_file(kind: str, tmp_path: Path) -> None:
    data = _write(tmp_path / "whole", kind)
    path = tmp_path / "flipped"
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        rest = iter(RECORDS)
        assert all(record in rest for record in _read(path, kind))  # in this order, none made up


def test_a_long_stretch_of_damage_is_searched_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    monkeypatch.setattr(damaged_records, "_BLOCK", 32)
    data = _write(tmp_path / "whole")
    path = tmp_path / "damaged"
    for size in range(60, 110):
        path.write_bytes(data + bytes(range(1, size)) + data)
        assert _read(path) == RECORDS * 2
    path.write_bytes(bytes(range(1, 200)))
    assert _read(path) == []
