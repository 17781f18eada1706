"""Checkpoints, as `penstock inspect` shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from penstock.checkpoint.reader import open_checkpoint
from penstock.cli.file_kinds import Found, find
from penstock.cli.rows import Row, Wanted, count_text, size_text
from penstock.debugger.value_text import (
    numbers,
    sliced,
    split_slice,
    statistics,
    statistics_line,
)


def rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """A row for the checkpoint and one for each tensor, by name."""
    reader = open_checkpoint(found.path)
    if wanted.tensor:
        yield _value(reader, wanted.tensor)
        return
    names = sorted(reader.names())
    yield _head(found, reader, names)
    count = 0
    for name in names:
        if wanted.has(name):
            yield _tensor(reader, name, with_statistics=wanted.statistics)
            count += 1
        if wanted.is_enough(count):
            return


def state_rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """The state file of a folder of checkpoints, and the newest of them."""
    folder = os.path.dirname(found.path)
    newest = found.message.model_checkpoint_path
    others = list(found.message.all_model_checkpoint_paths)
    data = {"kind": "checkpoint state", "newest": newest, "all": others}
    if not wanted.tensor:
        yield Row(f"checkpoint state: newest {newest}, of {', '.join(others) or newest}", data)
    newest = newest if os.path.isabs(newest) else os.path.join(folder, newest)
    yield from rows(find(newest), wanted)


def _head(found: Found, reader: Any, names: list[str]) -> Row:
    numbers_in_all = sum(prod(reader.shape(name)) for name in names)
    size = sum(prod(reader.shape(name)) * reader.dtype(name).size for name in names)
    data = {
        "kind": found.form,
        "path": found.path,
        "tensors": len(names),
        "numbers": numbers_in_all,
        "bytes": size,
    }
    text = (
        f"{found.form} {found.path}: {count_text(len(names), 'tensor')}, "
        f"{count_text(numbers_in_all, 'number')}, {size_text(size)}"
    )
    return Row(text, data)


def _tensor(reader: Any, name: str, *, with_statistics: bool) -> Row:
    shape, dtype = reader.shape(name), reader.dtype(name).name
    data = {"name": name, "dtype": dtype, "shape": list(shape)}
    if reader.is_sliced(name):
        data["sliced"] = True
    if not with_statistics:
        return Row(f"{name}  {dtype}[{','.join(map(str, shape))}]", data)
    array = reader.read(name)
    return Row(f"{name}  {statistics_line(array)}", {"name": name, **statistics(array)})


def _value(reader: Any, text: str) -> Row:
    """One tensor with its numbers; the name may end in a part, such as [0,:5]."""
    name, part = (text, "") if text in reader else split_slice(text)
    array = reader.read(name)
    shown = sliced(array, part)
    data = {"name": name, **statistics(array), "values": plain(shown)}
    return Row(f"{name}  {statistics_line(array)}\n{numbers(shown)}", data)


def plain(array: np.ndarray) -> Any:
    """An array as lists that JSON has a form for."""
    if array.dtype.kind in "OSU":
        return np.vectorize(_as_text, otypes=[object])(array).tolist() if array.size else []
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).tolist()
    return array.tolist()


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
