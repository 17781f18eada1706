"""What TensorFlow computed for the cases of a family: `recorded/<family>.npz`.

A file holds two arrays of bytes, a JSON text and the content of all arrays that it refers to. No
object is pickled, and the same records give the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.case import Case, dtype_name

FOLDER = Path(__file__).parent / "recorded"

Shape = list[int | None] | None  # None: a size, or the rank, is unknown


@dataclass
class Built:
    """How a graph of the case came out: static shapes of the outputs, or the class of the error."""

    shapes: list[Shape] | None = None
    error: str | None = None


@dataclass
class Record:
    """What TensorFlow makes of a case."""

    digest: str
    modes: dict[str, Built] = field(default_factory=dict)
    outputs: list[np.ndarray | None] = field(default_factory=list)
    variables: list[np.ndarray | None] = field(default_factory=list)
    gradients: list[np.ndarray | None] | None = None  # None: TensorFlow has no gradient
    gradients_fed: bool = False  # whether it also has them with nothing known of the shapes


class StaleRecord(Exception):
    """A case has changed since it was recorded, or never was."""


def find(family: str, case: Case) -> Record:
    """The record of a case; StaleRecord where it must be made anew."""
    record = _read(family).get(case.id)
    if record is None or record.digest != case.digest():
        what = "has no record" if record is None else "has changed since it was recorded"
        raise StaleRecord(
            f"case {case.id} {what}; with a Python that has TensorFlow 2.21 run: "
            f"python tests/ops/record.py {family}"
        )
    return record


def ids(family: str) -> set[str]:
    """The ids of all recorded cases of a family."""
    return set(_read(family))


@cache
def _read(family: str) -> dict[str, Record]:
    path = FOLDER / f"{family}.npz"
    return read(path) if path.exists() else {}


def read(path: Path) -> dict[str, Record]:
    with np.load(path, allow_pickle=False) as file:
        entries, content = json.loads(file["json"].tobytes()), file["content"].tobytes()
    return {key: _decode(entry, content) for key, entry in entries.items()}


def write(path: Path, records: dict[str, Record]) -> None:
    content = bytearray()
    entries = {key: _encode(record, content) for key, record in sorted(records.items())}
    text = json.dumps(entries, sort_keys=True, separators=(",", ":")).encode()
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        path,
        allow_pickle=False,
        json=np.frombuffer(text, dtype=np.uint8),
        content=np.frombuffer(bytes(content), dtype=np.uint8),
    )


def _encode(record: Record, content: bytearray) -> dict[str, Any]:
    def arrays(values: list[np.ndarray | None] | None) -> Any:
        return None if values is None else [_encode_array(value, content) for value in values]

    return {
        "digest": record.digest,
        "modes": {key: [mode.shapes, mode.error] for key, mode in record.modes.items()},
        "outputs": arrays(record.outputs),
        "variables": arrays(record.variables),
        "gradients": arrays(record.gradients),
        "gradients_fed": record.gradients_fed,
    }


def _decode(entry: dict[str, Any], content: bytes) -> Record:
    def arrays(values: Any) -> Any:
        return None if values is None else [_decode_array(value, content) for value in values]

    return Record(
        entry["digest"],
        {key: Built(*mode) for key, mode in entry["modes"].items()},
        arrays(entry["outputs"]),
        arrays(entry["variables"]),
        arrays(entry["gradients"]),
        entry["gradients_fed"],
    )


def _encode_array(value: np.ndarray | None, content: bytearray) -> Any:
    """[type, shape, offset], and for strings their lengths."""
    if value is None:
        return None
    entry: list[Any] = [dtype_name(value), list(value.shape), len(content)]
    if entry[0] == "string":
        flat = [bytes(text) for text in value.reshape(-1)]
        entry.append([len(text) for text in flat])
        content += b"".join(flat)
    else:
        content += value.tobytes()
    return entry


def _decode_array(entry: Any, content: bytes) -> np.ndarray | None:
    if entry is None:
        return None
    name, shape, offset, *lengths = entry
    if name == "string":
        flat = np.empty(len(lengths[0]), dtype=object)
        for i, length in enumerate(lengths[0]):
            flat[i] = content[offset : offset + length]
            offset += length
        return flat.reshape(shape)
    dtype = _numpy_type(name)
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(content, dtype, count, offset).reshape(shape)


def _numpy_type(name: str) -> np.dtype[Any]:
    if name in ("qint8", "quint8", "qint16", "quint16", "qint32"):
        return np.dtype([(name, name[1:])])
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
