"""Histograms, pictures and sounds as summaries hold them."""

import functools
import io
import struct
import sys

import numpy as np

from penstock import proto

# Histograms -----------------------------------------------------------------------------------


@functools.cache
def bucket_limits():
    """The upper ends of TensorFlow's buckets: they grow by a tenth, from 1e-12 to 1e20."""
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    limits.append(sys.float_info.max)
    return np.array([-limit for limit in reversed(limits)] + [0.0] + limits)


def histogram_of(numbers):
    """A vector of finite numbers as a HistogramProto; a run of empty buckets is one."""
    limits = bucket_limits()
    counts = np.bincount(_buckets(numbers), minlength=len(limits))
    with np.errstate(over="ignore"):
        message = proto.HistogramProto(
            min=numbers.min() if numbers.size else limits[-1],
            max=numbers.max() if numbers.size else -sys.float_info.max,
            num=numbers.size,
            sum=_added_up(numbers),
            sum_squares=_added_up(numbers * numbers),
        )
    _add_buckets(message, counts)
    return message


def _buckets(numbers):
    limits = bucket_limits()
    return np.minimum(np.searchsorted(limits, numbers, side="right"), len(limits) - 1)


def _add_buckets(message, counts):
    # An empty bucket whose neighbour above is empty too is left out.
    is_kept = (counts > 0) | (np.append(counts[1:], 1) > 0)
    message.bucket_limit.extend(bucket_limits()[is_kept].tolist())
    message.bucket.extend(counts[is_kept].tolist())


class RunningHistogram:
    """A histogram of numbers that come one after the other."""

    def __init__(self):
        self._counts = np.zeros(len(bucket_limits()), dtype=np.int64)
        self._lowest, self._highest = sys.float_info.max, -sys.float_info.max
        self._count, self._sum, self._sum_of_squares = 0, 0.0, 0.0

    def add(self, number):
        number = float(number)
        self._counts[_buckets(number)] += 1
        self._lowest, self._highest = min(self._lowest, number), max(self._highest, number)
        self._count += 1
        self._sum += number
        self._sum_of_squares += number * number

    def message(self):
        """All numbers so far as a HistogramProto."""
        message = proto.HistogramProto(
            min=self._lowest,
            max=self._highest,
            num=self._count,
            sum=self._sum,
            sum_squares=self._sum_of_squares,
        )
        _add_buckets(message, self._counts)
        return message


def _added_up(numbers):
    """The sum in order, one number after the other, to the last bit as TensorFlow has it."""
    return np.cumsum(numbers)[-1] if numbers.size else 0.0


# Pictures -------------------------------------------------------------------------------------


def as_pixels(image, bad_color):
    """A picture of floats scaled to bytes; pixels that are not finite get the bad colour."""
    numbers = image.dtype.type
    is_finite = np.isfinite(image).all(axis=-1)
    finite = image[is_finite].astype(np.float32)
    low = finite.min() if finite.size else np.float32(np.inf)
    high = finite.max() if finite.size else np.float32(-np.inf)
    if low < 0:
        largest = max(abs(low), abs(high))
        scale, offset = np.float32(127) / largest if largest >= 1e-6 else 0, 128
    else:
        scale, offset = np.float32(255) / high if high >= 1e-6 else 0, 0
    scaled = np.where(is_finite[..., None], image, numbers(0)) * numbers(scale) + numbers(offset)
    return np.where(is_finite[..., None], scaled.astype(np.uint8), bad_color)


def encode_png(pixels):
    """A picture of bytes, `[height, width, channels]`, as a PNG file."""
    from PIL import Image

    if 0 in pixels.shape:
        return b""
    flat = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(flat)).save(file, format="PNG")
    return file.getvalue()


# Sounds ---------------------------------------------------------------------------------------

_WAV_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")


def encode_wav(samples, frames_a_second):
    """Samples from -1 to 1, `[frames, channels]`, as a WAV file of 16-bit numbers."""
    scaled = samples.astype(np.float32) * np.float32(1 << 15)
    # Halves go away from zero.
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    data = np.clip(rounded, -(1 << 15), (1 << 15) - 1).astype("<i2").tobytes()
    channels = samples.shape[1]
    frame_size = 2 * channels
    header = _WAV_HEADER.pack(
        b"RIFF",
        _WAV_HEADER.size - 8 + len(data),
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        frames_a_second,
        frames_a_second * frame_size,
        frame_size,
        16,
        b"data",
        len(data),
    )
    return header + data
