"""No damage to a checkpoint goes unnoticed: cuts at every place, flipped bits in every byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from penstock import dtypes, errors
from penstock.checkpoint import ordered_code, snappy
from penstock.checkpoint.bundle_writer import BundleWriter
from penstock.checkpoint.reader import open_checkpoint
from penstock.checkpoint.slice_files import SliceFileWriter
from penstock.checkpoint.slices import TensorSlice, parse_shape_and_slice

VALUES = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "text": np.array([b"one", b"", b"three"], dtype=object),
    "n": np.array(7, dtype=np.int64),
}


def _dtype(array: np.ndarray) -> dtypes.DType:
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


def _written(prefix: Path) -> list[Path]:
    writer = BundleWriter(str(prefix))
    for name, array in VALUES.items():
        writer.add(name, array, _dtype(array))
    whole = np.arange(4.0)
    for start in (0, 2):
        part = TensorSlice(((start, 2),))
        writer.add_slice("cut", (4,), part, whole[part.ranges((4,))], dtypes.float64)
    writer.finish()
    return [Path(f"{prefix}.index"), Path(f"{prefix}.data-00000-of-00001")]


def _written_v1(path: Path) -> list[Path]:
    writer = SliceFileWriter(str(path))
    for name, array in VALUES.items():
        writer.add(name, array.shape, TensorSlice.whole(array.ndim), array, _dtype(array))
    writer.finish()
    return [path]


def _contents(prefix: Path) -> dict[str, list[object]]:
    reader = open_checkpoint(str(prefix))
    return {name: reader.read(name).tolist() for name in sorted(reader.names())}


def _contents_or_error(prefix: Path) -> dict[str, list[object]] | errors.OpError:
    try:
        return _contents(prefix)
    except errors.OpError as error:
        return error


def _damages(original: bytes) -> Iterator[tuple[str, bytes]]:
    for size in range(len(original)):
        yield f"cut to {size} bytes", original[:size]
    for position in range(len(original)):
        # One bit of each byte, and all of them: enough for a checksum, and quick.
        for mask in (1 << position % 8, 0xFF):
            flipped = bytearray(original)
            flipped[position] ^= mask
            yield f"bits {mask:08b} of byte {position} flipped", bytes(flipped)


@pytest.mark.parametrize("write", [_written, _written_v1], ids=["v2", "v1"])
def test_damage_is_noticed_or_harmless(write, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    files = write(tmp_path / "model")
    expected = _contents(tmp_path / "model")
    noticed = 0
    for file in files:
        original = file.read_bytes()
        for what, damaged in _damages(original):
            file.write_bytes(damaged)
            found = _contents_or_error(tmp_path / "model")
            if isinstance(found, errors.OpError):
                noticed += 1
                assert "model" in found.message, f"{what}: the error names no file"
            else:
                assert found == expected, f"{file.name}, {what}: read as {found}"
        file.write_bytes(original)
    assert noticed > 500


def test_an_error_names_file_tensor_and_place(tmp_path: Path) -> None:
    _, data = _written(tmp_path / "model")
    damaged = bytearray(data.read_bytes())
    damaged[25] ^= 1
    data.write_bytes(damaged)
    with pytest.raises(errors.DataLossError) as caught:
        _contents(tmp_path / "model")
    message = caught.value.message
    assert str(data) in message
    assert "tensor 'text'" in message
    assert "at byte 24" in message


def test_ordered_keys_sort_as_what_they_encode() -> None:
    numbers = [-(2**62), -1000, -65, -64, -1, 0, 1, 63, 64, 8191, 8192, 2**31, 2**62]
    keys = [ordered_code.signed_number(number) for number in numbers]
    assert keys == sorted(keys)
    names = [b"", b"\x00", b"\x00\xff", b"a", b"a\x00", b"ab", b"\xff"]
    keys = [ordered_code.string(name) for name in names]
    assert keys == sorted(keys)


def test_snappy() -> None:
    # A literal "abcd", a copy of 4 from 4 back, an overlapping copy of 6 from 1 back.
    packed = bytes([14, 3 << 2]) + b"abcd" + bytes([1, 4]) + bytes([(5 << 2) | 2, 1, 0])
    assert snappy.decompress(packed) == b"abcdabcddddddd"
    for bad in (packed[:-1], bytes([15]) + packed[1:], bytes([2, 1, 9])):
        with pytest.raises(ValueError):
            snappy.decompress(bad)


@pytest.mark.parametrize("text", ["", "3", "x 0,2", "3 0,4", "3 2", "3 -1,2", "3 4 0,2"])
def test_bad_slices_are_refused(text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError):
        parse_shape_and_slice(text)
