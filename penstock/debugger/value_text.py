"""Values as text: a line of statistics, and the numbers themselves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_SLICE = re.compile(r"(.*?)(\[[-\d:,\s.]*\])?$", re.DOTALL)


def statistics(array: np.ndarray) -> dict[str, Any]:
    """Type, shape and, of numbers, their range and how many are zero, NaN or infinite."""
    found: dict[str, Any] = {"dtype": type_name(array), "shape": list(array.shape)}
    if not is_numeric(array) or not array.size:
        return found
    if array.dtype.kind == "c":
        array = np.abs(array)
    numbers = array.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    if finite.size:
        found |= {
            "min": float(finite.min()),
            "max": float(finite.max()),
            "mean": float(finite.mean()),
            "std": float(finite.std()),
        }
    found["zeros"] = int(np.count_nonzero(numbers == 0))
    if np.isnan(numbers).any():
        found["nan"] = int(np.isnan(numbers).sum())
    if np.isinf(numbers).any():
        found["inf"] = int(np.isinf(numbers).sum())
    return found


def is_numeric(array: np.ndarray) -> bool:
    """Whether an array holds numbers, the short floats of ml_dtypes too."""
    return array.dtype.kind in "biufc" or (array.dtype.kind == "V" and array.dtype.names is None)


def type_name(array: np.ndarray) -> str:
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def statistics_line(array: np.ndarray) -> str:
    """The statistics in one line."""
    found = statistics(array)
    shape = ",".join(map(str, found.pop("shape")))
    head = f"{found.pop('dtype')}[{shape}]"
    rest = (
        f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in found.items()
        if key != "zeros" or value
    )
    return " ".join([head, *rest])


def has_bad_numbers(array: np.ndarray, *, nan: bool = True, inf: bool = True) -> bool:
    """Whether floats hold a NaN or an infinite number, whichever is asked for."""
    if array.dtype.kind == "V" and array.dtype.names is None:
        array = array.astype(np.float32)
    if array.dtype.kind not in "fc":
        return False
    return bool((nan and np.isnan(array).any()) or (inf and np.isinf(array).any()))


def numbers(array: np.ndarray, limit: int = 1000) -> str:
    """The values, as NumPy prints them; of more than `limit` only the edges."""
    with np.printoptions(threshold=limit, linewidth=100, precision=6):
        return str(array)


def split_slice(text: str) -> tuple[str, str]:
    """`name:0[1, :]` as the name and the part in brackets."""
    match = _SLICE.match(text.strip())
    assert match is not None
    return match[1], match[2] or ""


def sliced(array: np.ndarray, part: str) -> np.ndarray:
    """A part of an array, as in `[0, 2:5, ...]`; ValueError where there is no such part."""
    if not part:
        return array
    index: list[Any] = []
    for item in part.strip("[]").split(","):
        item = item.strip()
        if item == "...":
            index.append(...)
        elif ":" in item:
            index.append(slice(*(int(each) if each.strip() else None for each in item.split(":"))))
        elif item:
            index.append(int(item))
    try:
        return np.asarray(array[tuple(index)])
    except (IndexError, ValueError) as error:
        raise ValueError(f"{part}: {error}") from None
