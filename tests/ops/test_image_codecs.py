"""Pictures in files beyond what the op cases compare: round trips, damage, hostile bytes."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock as tf
from tests.ops.cases.image_codecs import BMPS, GIFS, JPEGS, PNGS, png_chunk


def _run(tensor: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


def _ramp() -> np.ndarray:
    rows, columns = np.mgrid[:200, :256]
    return np.stack([rows, columns, (rows + columns) // 2], -1).astype(np.uint8)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_is_lossless(dtype: str, channels: int) -> None:
    rng = np.random.RandomState(channels)
    pixels = rng.randint(0, np.iinfo(dtype).max + 1, (7, 9, channels)).astype(dtype)
    decoded = _run(tf.image.decode_png(tf.image.encode_png(pixels), dtype=dtype))
    assert np.array_equal(decoded, pixels)


# First row and column, and steps, of the seven passes of an interlaced file.
PASSES = [
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
]


@pytest.mark.parametrize("dtype", [">u1", ">u2"])
@pytest.mark.parametrize(("channels", "color"), [(1, 0), (2, 4), (3, 2), (4, 6)])
def test_interlaced_png(dtype: str, channels: int, color: int) -> None:
    rng = np.random.RandomState(channels)
    pixels = rng.randint(0, np.iinfo(dtype).max + 1, (11, 9, channels)).astype(dtype)
    rows = b"".join(
        b"\0" + row.tobytes()
        for top, left, down, across in PASSES
        for row in pixels[top::down, left::across]
    )
    header = struct.pack(">IIBBBBB", 9, 11, 8 * pixels.itemsize, color, 0, 0, 1)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*entry) for entry in chunks)
    decoded = _run(tf.image.decode_png(data, dtype=f"uint{8 * pixels.itemsize}"))
    assert np.array_equal(decoded, pixels)


def test_another_program_reads_our_png() -> None:
    data = _run(tf.image.encode_png(_ramp()))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(data))), _ramp())


def test_png_filters_make_ramps_small() -> None:
    assert len(_run(tf.image.encode_png(_ramp(), compression=7))) < 750


def test_a_batch_of_png_files() -> None:
    batch = np.stack([_ramp()[:4, :5], _ramp()[4:8, :5]])
    files = _run(tf.image.encode_png(batch))
    assert files.shape == (2,)
    assert np.array_equal(_run(tf.image.decode_png(files[1])), batch[1])


def test_jpeg_stays_close() -> None:
    decoded = _run(tf.image.decode_jpeg(tf.image.encode_jpeg(_ramp())))
    assert np.abs(decoded.astype(int) - _ramp()).mean() < 1


def test_the_default_transform_of_jpeg_is_the_fast_one() -> None:
    data = _run(tf.image.encode_jpeg(_ramp()))
    default, fast, accurate = (
        _run(tf.image.decode_jpeg(data, dct_method=method))
        for method in ("", "INTEGER_FAST", "INTEGER_ACCURATE")
    )
    assert np.array_equal(default, fast)
    assert not np.array_equal(default, accurate)


def test_a_window_of_jpeg_is_a_part_of_the_picture() -> None:
    data = _run(tf.image.encode_jpeg(_ramp()))
    window = _run(tf.image.decode_and_crop_jpeg(data, [13, 21, 30, 40]))
    assert np.array_equal(window, _run(tf.image.decode_jpeg(data))[13:43, 21:61])


def test_a_jpeg_file_that_is_cut_off() -> None:
    data = _run(tf.image.encode_jpeg(_ramp()))
    part = data[: len(data) // 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window"):
        _run(tf.image.decode_jpeg(part))
    recovered = _run(tf.image.decode_jpeg(part, try_recover_truncated=True))
    assert np.array_equal(recovered[:50], _run(tf.image.decode_jpeg(data))[:50])


def test_the_whole_frames_of_a_gif_file_that_is_cut_off() -> None:
    data = GIFS["two frames"]
    whole = _run(tf.image.decode_gif(data))
    assert np.array_equal(_run(tf.image.decode_gif(data[:-20])), whole[:1])


def test_is_jpeg() -> None:
    assert _run(tf.image.is_jpeg(JPEGS["rgb"]))
    assert not _run(tf.image.is_jpeg(PNGS["rgb 8"]))


@pytest.mark.parametrize(
    "data",
    [JPEGS["rgb"], JPEGS["progressive"], PNGS["palette alpha 8"], PNGS["rgb 16"], *GIFS.values()]
    + [BMPS["24"]],
)
def test_damaged_files_are_refused_or_decoded(data: bytes) -> None:
    rng = np.random.RandomState(len(data))
    contents = tf.placeholder(tf.string, [])
    image = tf.image.decode_image(contents)
    with tf.Session() as session:
        for _ in range(60):
            damaged = bytearray(data[: rng.randint(1, len(data) + 1)])
            for position in rng.randint(0, len(damaged), rng.randint(0, 4)):
                damaged[position] = rng.randint(256)
            with contextlib.suppress(tf.errors.InvalidArgumentError):
                assert session.run(image, {contents: bytes(damaged)}).ndim in (3, 4)


def test_adjusted_quality_leaves_traces() -> None:
    low, high = (_run(tf.image.adjust_jpeg_quality(_ramp(), quality)) for quality in (5, 95))
    errors = [np.abs(image.astype(int) - _ramp()).mean() for image in (low, high)]
    assert errors[0] > 2 * errors[1]
