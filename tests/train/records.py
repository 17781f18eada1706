"""What TensorFlow built and computed for a set of programs: `recorded/<name>.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "recorded"


@cache
def read(name: str) -> dict[str, Any]:
    """The records of a file by program name; empty where it was never recorded."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(name: str, records: dict[str, Any]) -> None:
    """Stores records, one line per node and per value: a new recording shows as a small diff."""
    lines = [f"{_text(key)}: {_block(record, 1)}" for key, record in sorted(records.items())]
    FOLDER.mkdir(exist_ok=True)
    text = "{\n " + ",\n ".join(lines) + "\n}\n"
    (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


def _block(value: Any, depth: int) -> str:
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, dict):
        entries = [f"{_text(key)}: {_block(entry, depth + 1)}" for key, entry in value.items()]
        return "{" + indent + f",{indent}".join(entries) + indent[:-1] + "}"
    if isinstance(value, list) and value and isinstance(value[0], str):
        return "[" + indent + f",{indent}".join(_text(entry) for entry in value) + indent[:-1] + "]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def numbers(value: Any) -> Any:
    """An array as nested lists of the shortest numbers that give the same array again."""
    array = np.asarray(value)
    if array.ndim:
        return [numbers(entry) for entry in array]
    return int(array) if array.dtype.kind in "iu" else float(str(array[()]))


def nodes(operations: Iterable[Any]) -> list[str]:
    """Nodes, a line each: name, type, inputs, control inputs by name, colocation, device."""
    lines = []
    for op in operations:
        definition = op.node_def
        # TensorFlow writes out the number of a first output here and there.
        data = [name.removesuffix(":0") for name in definition.input if not name.startswith("^")]
        control = sorted(name for name in definition.input if name.startswith("^"))
        # In TensorFlow 2.21, which was recorded, `tf.add` makes no Add any more.
        kind = "AddV2" if op.type == "Add" else op.type
        line = f"{op.name} = {kind}({', '.join(data + control)})"
        groups = sorted(group.decode() for group in definition.attr["_class"].list.s)
        lines.append(" ".join([line, *groups, *([definition.device] if definition.device else [])]))
    return lines
