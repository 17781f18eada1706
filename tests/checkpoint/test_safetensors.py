"""Safetensors files: written, read as checkpoints, and refused where they are damaged."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import penstock as tf
from penstock.checkpoint.safetensors import SafetensorsReader, load_file, save_file
from penstock.checkpoint.slices import TensorSlice

TYPES = (
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64"
).split()


def _file(path: Path, header: Any, data: bytes = b"") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_every_type_comes_back(tmp_path: Path) -> None:
    arrays = {dtype: (np.arange(6).reshape(2, 3) % 2).astype(dtype) for dtype in TYPES}
    arrays["bfloat16"] = np.float32([1.5, -2]).astype(ml_dtypes.bfloat16)
    arrays["scalar"], arrays["empty"] = np.float32(3), np.zeros((0, 4), np.int8)
    arrays["strided"] = np.arange(12.0).reshape(3, 4).T
    save_file(arrays, tmp_path / "all", metadata={"made": "here"})
    found = load_file(tmp_path / "all")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert SafetensorsReader(str(tmp_path / "all")).metadata == {"made": "here"}


def test_the_bytes(tmp_path: Path) -> None:
    save_file({"x": np.int16([1, 2])}, tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    assert size % 8 == 0
    assert json.loads(content[8 : 8 + size]) == {
        "x": {"dtype": "I16", "shape": [2], "data_offsets": [0, 4]}
    }
    assert content[8 + size :] == b"\1\0\2\0"


def test_a_saver_restores_from_one(tmp_path: Path) -> None:
    path = str(tmp_path / "model.safetensors")
    save_file({"v": np.float32([1, 2, 3]), "w": np.int64(7)}, path)
    assert tf.train.list_variables(path) == [("v", [3]), ("w", [])]
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([0.0, 0.0, 0.0], name="v")
        w = tf.Variable(np.int64(0), name="w", use_resource=True)
        tf.train.Saver().restore(session, path)
        assert session.run(v).tolist() == [1, 2, 3]
        assert session.run(w) == 7


def test_parts_and_names(tmp_path: Path) -> None:
    save_file({"weights": np.arange(4.0)}, tmp_path / "x")
    reader = SafetensorsReader(str(tmp_path / "x"))
    assert reader.read_slice("weights", TensorSlice(((1, 2),))).tolist() == [1.0, 2.0]
    assert not reader.is_sliced("weights")
    with pytest.raises(tf.errors.NotFoundError, match="Key weight not found.*weights"):
        reader.read("weight")


def test_what_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'x' is of type object"):
        save_file({"x": np.array([b"text"], object)}, tmp_path / "x")
    with pytest.raises(ValueError, match="__metadata__"):
        save_file({"__metadata__": np.zeros(1)}, tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "header",
    [
        b"{",
        b"[]",
        b"{" * 5000,
        b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}}',
        {"a": 3},
        {"a": {"dtype": "U8", "shape": [4]}},
        {"a": {"dtype": "F4", "shape": [4], "data_offsets": [0, 4]}},
        {"a": {"dtype": "U8", "shape": [-4], "data_offsets": [0, 4]}},
        {"a": {"dtype": "U8", "shape": [2.0, 2], "data_offsets": [0, 4]}},
        {"a": {"dtype": "U8", "shape": [5], "data_offsets": [0, 4]}},
        {"a": {"dtype": "U8", "shape": [2], "data_offsets": [2, 4]}},
        {"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}},
        {
            "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
            "b": {"dtype": "U8", "shape": [3], "data_offsets": [1, 4]},
        },
        {"a": {"dtype": "U8", "shape": [2**62, 4], "data_offsets": [0, 2**64]}},
    ],
)
def test_bad_headers(tmp_path: Path, header: Any) -> None:
    path = _file(tmp_path / "bad", header, b"1234")
    with pytest.raises(tf.errors.DataLossError, match="bad"):
        SafetensorsReader(str(path))


def test_every_cut_and_flip_is_noticed_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x"
    save_file({"a": np.int16([1, 2]), "b": np.float32(3)}, path)
    original = path.read_bytes()
    (header_size,) = struct.unpack("<Q", original[:8])
    for size in range(len(original)):
        path.write_bytes(original[:size])
        with pytest.raises(tf.errors.DataLossError):
            load_file(path)
    for position in range(8 + header_size):
        for mask in (1 << position % 8, 0xFF):
            flipped = bytearray(original)
            flipped[position] ^= mask
            path.write_bytes(flipped)
            try:
                found = load_file(path)
            except tf.errors.DataLossError:
                continue
            # There are no checksums: another name or type of the same size is a valid file.
            assert sum(array.nbytes for array in found.values()) == 8
