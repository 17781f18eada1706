"""`penstock diff`: where two checkpoints differ."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock import errors
from penstock.checkpoint.reader import open_checkpoint
from penstock.cli.file_kinds import Unreadable, find
from penstock.cli.rows import Row, count_text
from penstock.debugger.value_text import is_numeric


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("first", help="a checkpoint: its prefix, folder or file")
    parser.add_argument("second", help="the checkpoint to compare it with")
    parser.add_argument("--grep", metavar="REGEX", help="only tensors whose names match")
    parser.add_argument("--atol", type=float, default=0.0, help="allowed absolute difference")
    parser.add_argument("--rtol", type=float, default=0.0, help="allowed relative difference")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def diff(options: argparse.Namespace) -> int:
    """Prints the differences; the exit status: 0 if there are none, 1 if there are, 2 on errors."""
    try:
        pattern = re.compile(options.grep or "")
        readers = [open_checkpoint(_checkpoint(path)) for path in (options.first, options.second)]
        different = 0
        names = sorted({*readers[0].names(), *readers[1].names()})
        names = [name for name in names if pattern.search(name)]
        for row in _differences(readers, names, options.atol, options.rtol):
            different += 1
            print(json.dumps(row.data) if options.json else row.text)
    except (errors.OpError, Unreadable, OSError, ValueError) as error:
        sys.stdout.flush()
        print(f"penstock diff: {getattr(error, 'message', None) or error}", file=sys.stderr)
        return 2
    if not options.json:
        print(f"{count_text(len(names), 'tensor')} compared, {different} differ")
    return 1 if different else 0


def _checkpoint(path: str) -> str:
    """The checkpoint that a path means; of a SavedModel's folder, its variables."""
    found = find(path)
    if found.kind == "checkpoint state":
        newest = found.message.model_checkpoint_path
        return os.path.join(os.path.dirname(found.path), newest)
    if found.kind == "SavedModel":
        return f"{found.path}/variables/variables"
    if found.kind != "checkpoint":
        raise Unreadable(f"{path} is a {found.kind}, not a checkpoint")
    return found.path


def _differences(readers: list[Any], names: list[str], atol: float, rtol: float) -> Iterator[Row]:
    first, second = readers
    for name in names:
        if name not in second:
            yield Row(f"- {name}  {_typed(first, name)}", {"name": name, "only_in": "first"})
        elif name not in first:
            yield Row(f"+ {name}  {_typed(second, name)}", {"name": name, "only_in": "second"})
        elif _typed(first, name) != _typed(second, name):
            types = [_typed(reader, name) for reader in readers]
            text = f"! {name}  {types[0]} in the first, {types[1]} in the second"
            yield Row(text, {"name": name, "first": types[0], "second": types[1]})
        else:
            row = _difference(name, first.read(name), second.read(name), atol, rtol)
            if row is not None:
                yield row


def _typed(reader: Any, name: str) -> str:
    return f"{reader.dtype(name).name}[{','.join(map(str, reader.shape(name)))}]"


def _difference(
    name: str, first: np.ndarray, second: np.ndarray, atol: float, rtol: float
) -> Row | None:
    """How far two values of one type and shape are apart; None where that is allowed."""
    if not is_numeric(first):
        count = int(np.count_nonzero(first != second))
        words = {"name": name, "different": count}
        return Row(f"~ {name}  {count} of {first.size} differ", words) if count else None
    wide: Any = np.complex128 if first.dtype.kind == "c" else np.float64
    a, b = first.astype(wide), second.astype(wide)
    both_nan = np.isnan(a) & np.isnan(b)
    with np.errstate(all="ignore"):
        apart = np.where(both_nan | (a == b), 0.0, np.abs(a - b))
        apart = np.where(np.isnan(apart), np.inf, apart)
        relative = np.where(apart == 0, 0.0, apart / np.maximum(np.abs(a), np.abs(b)))
        relative = np.where(np.isnan(relative), np.inf, relative)
        differs = apart > atol + rtol * np.abs(b)
    if not differs.any():
        return None
    place = tuple(int(each) for each in np.unravel_index(np.argmax(apart), apart.shape))
    data = {
        "name": name,
        "different": int(differs.sum()),
        "of": int(first.size),
        "max_abs": float(apart.max()),
        "max_rel": float(relative.max()),
        "at": list(place),
    }
    text = (
        f"~ {name}  {data['different']} of {data['of']} differ, by {data['max_abs']:.6g} at most "
        f"(relative {data['max_rel']:.3g}), at {list(place)}: {first[place]!s} and "
        f"{second[place]!s}"
    )
    return Row(text, data)
