"""The variables of the recorded checkpoints: real TensorFlow saved them, Penstock reads them.

Nothing here needs TensorFlow or Penstock, so that both can run it.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

NUMBERS = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 "
    "complex128 bfloat16"
).split()
QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16"}
QUANTIZED["qint32"] = "int32"
SHAPES: dict[str, tuple[int, ...]] = {"scalar": (), "matrix": (3, 2), "empty": (0, 4)}


def numpy_type(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def number(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Different numbers, in range of every type."""
    count = int(np.prod(shape))
    values = (np.arange(count, dtype=np.float64) * 7 + 3) % 100
    if dtype.startswith("complex"):
        return (values - 1j * values).reshape(shape).astype(numpy_type(dtype))
    return values.reshape(shape).astype(numpy_type(dtype))


def plain() -> dict[str, np.ndarray]:
    """A variable of each type and shape, and strings."""
    found = {
        f"{dtype}/{label}": number(dtype, shape)
        for dtype in NUMBERS
        for label, shape in SHAPES.items()
    }
    found["string/scalar"] = np.array(b"a text", dtype=object)
    found["string/matrix"] = np.array(
        [[b"", b"one", b"\x00\xff"], ["Grüße".encode(), b"x" * 200, b"z"]], dtype=object
    )
    found["string/empty"] = np.zeros((0,), dtype=object)
    return found


#: Whole values of variables that are kept in parts, and into how many.
PARTITIONED = {"rows": ((7, 3), 3), "even": ((4, 2), 2), "one": ((3,), 1)}


def many() -> dict[str, np.ndarray]:
    """Enough variables for several restart points of the index."""
    return {f"layer_{i}/weights": np.float32(i) * np.ones((2,), np.float32) for i in range(40)}
