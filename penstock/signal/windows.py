"""Window functions: weights that fade a frame of a signal out towards its ends."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts, elementwise, special, trigonometry
from penstock.ops.activations import relu
from penstock.ops.binary import floormod
from penstock.ops.comparison import equal
from penstock.ops.conditionals import cond
from penstock.ops.constants import constant
from penstock.ops.scans import cumsum


def hann_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A raised cosine that touches zero at its ends.

    `periodic` says whether the window is one period of an endless one, or symmetric.
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5, name, "hann_window")


def hamming_window(
    window_length: Any,
    periodic: Any = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A raised cosine that stays above zero at its ends; see `hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46, name, "hamming_window")


def _raised_cosine(
    window_length: Any,
    periodic: Any,
    dtype: Any,
    offset: float,
    amplitude: float,
    name: str | None,
    default_name: str,
) -> Tensor:
    dtype = _floating(dtype)
    with name_scope(name, default_name, [window_length, periodic]):
        length: Any = convert_to_tensor(window_length, dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known = constant_value(length)
        if known == 1:
            return array.ones([1], dtype=dtype)
        periodic = casts.cast(
            convert_to_tensor(periodic, dtypes.bool, name="periodic"), dtypes.int32
        )
        periodic.shape.assert_has_rank(0)
        even: Any = 1 - floormod(length, 2)
        period = casts.cast(length + periodic * even - 1, dtype)
        count: Any = casts.cast(array.range(length), dtype)
        angle = constant(2 * math.pi, dtype=dtype) * count / period

        def window() -> Tensor:
            return casts.cast(offset - amplitude * trigonometry.cos(angle), dtype)

        if known is not None:
            return window()
        return cond(equal(length, 1), lambda: array.ones([length], dtype=dtype), window)


def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """A Kaiser window; the larger `beta`, the faster it fades out."""
    dtype = _floating(dtype)
    with name_scope(name, "kaiser_window"):
        length = _length(window_length)
        if constant_value(length) == 1:
            return array.ones([1], dtype=dtype)
        half: Any = (casts.cast(length, dtypes.float32) - 1.0) / 2.0
        places = casts.cast(array.range(-half, half + 0.1, dtype=dtypes.float32), dtype)
        beta = casts.cast(beta, dtype)
        half = casts.cast(half, dtype)
        height = beta * elementwise.sqrt(relu(1.0 - elementwise.square(places / half)))
        ratio: Any = special.bessel_i0e(height) / special.bessel_i0e(beta)
        return elementwise.exp(height - beta) * ratio


def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """A window whose square and that of its neighbour at half its length add up to one."""
    dtype = _floating(dtype)
    with name_scope(name, "kaiser_bessel_derived_window"):
        sums: Any = cumsum(kaiser_window(_length(window_length) // 2 + 1, beta, dtype))
        half: Any = elementwise.sqrt(sums[:-1] / sums[-1])
        return array.concat([half, half[::-1]], axis=0)


def vorbis_window(
    window_length: Any, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """The window of the Vorbis codec, which is power complementary too."""
    dtype = _floating(dtype)
    with name_scope(name, "vorbis_window"):
        length = _length(window_length)
        places: Any = casts.cast(array.range(length), dtype)
        angle = math.pi / casts.cast(length, dtype) * (places + 0.5)
        inner: Any = elementwise.square(trigonometry.sin(angle))
        return trigonometry.sin(math.pi / 2.0 * inner)


def _floating(dtype: Any) -> DType:
    found = dtypes.as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {found}")
    return found


def _length(window_length: Any) -> Any:
    length = convert_to_tensor(window_length, dtypes.int32)
    length.shape.assert_has_rank(0)
    return length
