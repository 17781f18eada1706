"""Checkpoints that real TensorFlow wrote are read, and written again byte for byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock import dtypes, errors
from penstock.checkpoint.bundle_reader import BundleReader
from penstock.checkpoint.bundle_writer import BundleWriter
from penstock.checkpoint.reader import open_checkpoint
from penstock.checkpoint.slice_files import SliceFileReader, SliceFileWriter
from penstock.checkpoint.slices import TensorSlice
from tests.checkpoint import values

DATA = Path(__file__).with_name("data")
DATA_1_15 = Path(__file__).with_name("data_1_15")


def _dtype(array: np.ndarray) -> dtypes.DType:
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    same = one.shape == other.shape and one.dtype == other.dtype
    return same and one.tolist() == other.tolist()


@pytest.mark.parametrize("name", ["plain", "many"])
def test_reads_what_tensorflow_wrote(name: str) -> None:
    arrays = getattr(values, name)()
    reader = BundleReader(str(DATA / name))
    assert sorted(reader.names()) == sorted(arrays)
    for key, array in arrays.items():
        assert _equal(reader.read(key), array), key
        assert reader.shape(key) == array.shape
        assert reader.dtype(key) is _dtype(array)


def test_reads_quantized() -> None:
    reader = BundleReader(str(DATA / "quantized"))
    for dtype, carrier in values.QUANTIZED.items():
        read = reader.read(dtype)
        assert reader.dtype(dtype).name == dtype
        assert _equal(read.view(read.dtype[0]), values.number(carrier, (3, 2)))


def _assert_same_files(directory: Path, name: str) -> None:
    for suffix in (".index", ".data-00000-of-00001"):
        assert (directory / f"{name}{suffix}").read_bytes() == (
            DATA / f"{name}{suffix}"
        ).read_bytes(), suffix
    assert sorted(path.name for path in directory.iterdir()) == [
        f"{name}.data-00000-of-00001",
        f"{name}.index",
    ]


@pytest.mark.parametrize("name", ["plain", "many"])
def test_writes_tensorflows_bytes(name: str, tmp_path: Path) -> None:
    writer = BundleWriter(str(tmp_path / name))
    arrays = getattr(values, name)()
    for key in sorted(arrays):
        writer.add(key, arrays[key], _dtype(arrays[key]))
    writer.finish()
    _assert_same_files(tmp_path, name)


def test_writes_tensorflows_bytes_of_quantized(tmp_path: Path) -> None:
    writer = BundleWriter(str(tmp_path / "quantized"))
    for dtype, carrier in values.QUANTIZED.items():
        writer.add(dtype, values.number(carrier, (3, 2)), dtypes.as_dtype(dtype))
    writer.finish()
    _assert_same_files(tmp_path, "quantized")


def _parts(shape: tuple[int, ...], count: int) -> list[TensorSlice]:
    """How a fixed number of parts cuts the first axis: the first ones get what is left over."""
    sizes = [shape[0] // count + (i < shape[0] % count) for i in range(count)]
    starts = np.cumsum([0, *sizes[:-1]])
    rest = [(0, size) for size in shape[1:]]
    return [
        TensorSlice(((int(start), size), *rest)) for start, size in zip(starts, sizes, strict=True)
    ]


def test_reads_and_writes_partitioned(tmp_path: Path) -> None:
    reader = BundleReader(str(DATA / "partitioned"))
    writer = BundleWriter(str(tmp_path / "partitioned"))
    assert sorted(reader.names()) == sorted(values.PARTITIONED)
    for name, (shape, count) in sorted(values.PARTITIONED.items()):
        whole = values.number("float32", shape)
        assert _equal(reader.read(name), whole)
        assert reader.is_sliced(name) == (count > 1)
        for part in _parts(shape, count):
            writer.add_slice(name, shape, part, whole[part.ranges(shape)], dtypes.float32)
    across = TensorSlice(((1, 4), (1, 2)))
    assert _equal(reader.read_slice("rows", across), values.number("float32", (7, 3))[1:5, 1:3])
    writer.finish()
    _assert_same_files(tmp_path, "partitioned")


def test_v1_is_read_and_written(tmp_path: Path) -> None:
    arrays = values.plain()
    reader = SliceFileReader(str(DATA / "plain_v1"))
    names = sorted(reader.names())
    assert len(names) == 26
    writer = SliceFileWriter(str(tmp_path / "plain_v1"))
    for name in names:
        assert _equal(reader.read(name), arrays[name]), name
        whole = TensorSlice.whole(arrays[name].ndim)
        writer.add(name, arrays[name].shape, whole, arrays[name], _dtype(arrays[name]))
    writer.finish()
    assert (tmp_path / "plain_v1").read_bytes() == (DATA / "plain_v1").read_bytes()


def test_v1_partitioned() -> None:
    reader = SliceFileReader(str(DATA / "partitioned_v1"))
    for name, (shape, _) in values.PARTITIONED.items():
        assert _equal(reader.read(name), values.number("float32", shape))
    part = TensorSlice.parse("1,4:-")
    assert _equal(reader.read_slice("rows", part), values.number("float32", (7, 3))[1:5])


@pytest.mark.parametrize(("name", "count"), [("plain", 42), ("resource", 39), ("plain_v1", 39)])
def test_reads_what_tensorflow_1_15_wrote(name: str, count: int) -> None:
    arrays = values.plain()
    reader = open_checkpoint(str(DATA_1_15 / name))
    assert len(reader.names()) == count
    for key in reader.names():
        assert _equal(reader.read(key), arrays[key]), key
        assert reader.dtype(key) is _dtype(arrays[key])


@pytest.mark.parametrize("name", ["partitioned", "partitioned_v1"])
def test_reads_partitioned_of_1_15(name: str) -> None:
    reader = open_checkpoint(str(DATA_1_15 / name))
    for key, (shape, _) in values.PARTITIONED.items():
        assert _equal(reader.read(key), values.number("float32", shape))


@pytest.mark.parametrize("name", ["sharded", "sharded_v1-?????-of-00002"])
def test_reads_sharded_of_1_15(name: str) -> None:
    reader = open_checkpoint(str(DATA_1_15 / name))
    for shard in (0, 1):
        assert _equal(reader.read(f"on_{shard}"), values.number("float32", (3, 2)) + shard)
        assert reader.read(f"text_{shard}").tolist() == [[b"text"], [b""]]


def test_reads_objects_of_1_15() -> None:
    reader = open_checkpoint(str(DATA_1_15 / "objects"))
    weights = "weights/.ATTRIBUTES/VARIABLE_VALUE"
    assert _equal(reader.read(weights), values.number("float32", (3, 2)))
    assert reader.read("inner/scale/.ATTRIBUTES/VARIABLE_VALUE") == 1.5
    assert "_CHECKPOINTABLE_OBJECT_GRAPH" in reader


def test_v1_has_a_limit(tmp_path: Path) -> None:
    writer = SliceFileWriter(str(tmp_path / "x"))
    large = np.broadcast_to(np.array(False), (2, 1024, 1024, 1024))
    with pytest.raises(errors.InvalidArgumentError, match="Tensor slice is too large to serialize"):
        writer.add("v", large.shape, TensorSlice.whole(4), large, dtypes.bool)
