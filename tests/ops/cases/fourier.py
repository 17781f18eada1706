"""Fourier transforms."""

import numpy as np

from tests.ops.case import Case, array, c64, c128, f32, f64

_SINGLE = {"Tcomplex": "complex64"}
_DOUBLE = {"Tcomplex": "complex128"}
_TO_SINGLE = {"Treal": "float32"}
_TO_DOUBLE = {"Treal": "float64"}


def _length(*sizes: int) -> np.ndarray:
    return array(sizes, "int32")


CASES = [
    *[
        case
        for rank, suffix in ((1, ""), (2, "2D"), (3, "3D"))
        for case in (
            Case(f"FFT{suffix}", (c128(2, *(3, 4, 5)[:rank]),)),
            Case(f"FFT{suffix}", (c64(*(6, 5, 4)[:rank]),), label="single", rtol=1e-4, atol=1e-5),
            Case(f"FFT{suffix}", (np.zeros((0, 2, 3, 4), "complex64"),), label="of none"),
            Case(f"IFFT{suffix}", (c128(2, *(3, 4, 5)[:rank]),)),
            Case(f"IFFT{suffix}", (c64(*(6, 5, 4)[:rank]),), label="single", rtol=1e-4, atol=1e-5),
            Case(f"FFT{suffix}", (array(1, "complex64"),), label="too few dimensions", fails=True),
            Case(f"IFFT{suffix}", (array(1, "complex64"),), label="too few dimensions", fails=True),
        )
    ],
    Case("RFFT", (f64(2, 6), _length(6)), _DOUBLE, grad=(0,)),
    Case("RFFT", (f32(2, 5), _length(5)), _SINGLE, label="odd", grad=(0,), atol=1e-5),
    Case("RFFT", (f64(6), _length(4)), _DOUBLE, label="cut", grad=False),
    Case("RFFT", (f64(1), _length(1)), _DOUBLE, label="one", grad=False),
    Case("RFFT", (np.zeros((0, 4), "float32"), _length(4)), _SINGLE, label="of none", grad=False),
    Case("RFFT", (f32(3), _length(5)), _SINGLE, label="too short", fails=True),
    Case("RFFT", (f32(3), _length(3, 3)), _SINGLE, label="many lengths", fails=True),
    Case("RFFT", (array(1, "float32"), _length(3)), _SINGLE, label="scalar", fails=True),
    Case("IRFFT", (c128(2, 4), _length(6)), _TO_DOUBLE, grad=(0,)),
    Case("IRFFT", (c64(2, 4), _length(7)), _TO_SINGLE, label="odd", grad=(0,), atol=1e-5),
    Case("IRFFT", (c128(5), _length(6)), _TO_DOUBLE, label="cut", grad=False),
    Case("IRFFT", (c64(3), _length(8)), _TO_SINGLE, label="too short", fails=True),
    Case("RFFT2D", (f64(2, 4, 6), _length(4, 6)), _DOUBLE, grad=(0,)),
    Case("RFFT2D", (f64(3, 5), _length(3, 5)), _DOUBLE, label="odd", grad=(0,)),
    Case("RFFT2D", (f32(4, 6), _length(3, 4)), _SINGLE, label="cut", grad=False, atol=1e-5),
    Case("IRFFT2D", (c128(2, 4, 4), _length(4, 6)), _TO_DOUBLE, grad=(0,)),
    Case("IRFFT2D", (c64(3, 4), _length(3, 7)), _TO_SINGLE, label="odd", grad=(0,), atol=1e-5),
    Case("IRFFT2D", (c64(3, 4), _length(4, 4)), _TO_SINGLE, label="too short", fails=True),
    Case("RFFT3D", (f64(2, 3, 4, 6), _length(3, 4, 6)), _DOUBLE, grad=False),
    Case("RFFT3D", (f32(3, 4, 5), _length(2, 4, 3)), _SINGLE, label="cut", grad=False, atol=1e-5),
    Case("IRFFT3D", (c128(3, 4, 4), _length(3, 4, 6)), _TO_DOUBLE, grad=False),
    Case(
        "IRFFT3D", (c64(3, 4, 4), _length(3, 4, 7)), _TO_SINGLE, label="odd", grad=False, atol=1e-5
    ),
]
