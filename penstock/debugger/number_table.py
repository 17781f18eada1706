"""How many numbers of an array are negative, zero, positive or none, and their range: a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.debugger.rich_text import RichTextLines


def numeric_summary(tensor: Any) -> RichTextLines:
    """Two lines of counts, and for numbers two lines of statistics."""
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype.kind in "fciu":
        return _summary_of_numbers(tensor)
    if tensor.dtype == np.bool_:
        true = int(np.count_nonzero(tensor))
        return _table([("False", tensor.size - true), ("True", true)], tensor.size)
    return RichTextLines([f"No numeric summary available due to tensor dtype: {tensor.dtype}."])


def _summary_of_numbers(tensor: np.ndarray) -> RichTextLines:
    finite = np.isfinite(tensor)
    counts = [
        ("nan", np.isnan(tensor)),
        ("-inf", np.isneginf(tensor)),
        ("-", (tensor < 0) & finite),
        ("0", tensor == 0),
        ("+", (tensor > 0) & finite),
        ("+inf", np.isposinf(tensor)),
    ]
    table = _table([(name, int(np.sum(where))) for name, where in counts], tensor.size)
    valid = tensor[finite]
    if valid.size:
        statistics = [
            ("min", np.min(valid)),
            ("max", np.max(valid)),
            ("mean", np.mean(valid)),
            ("std", np.std(valid)),
        ]
        table.extend(_table(statistics))
    return table


def _table(entries: list[tuple[str, Any]], total: int | None = None) -> RichTextLines:
    """A line of names over a line of numbers; with a total, those that are 0 are left out."""
    if total is not None:
        entries = [(name, value) for name, value in entries if value]
    width = max((max(len(name), len(str(value))) + 1 for name, value in entries), default=0)
    names = "|" + "".join(name.rjust(width) for name, _ in entries) + " |"
    values = "|" + "".join(str(value).rjust(width) for _, value in entries) + " |"
    if total is not None:
        width = max(len(" total"), len(str(total)))
        names += "total".rjust(width) + " |"
        values += str(total).rjust(width) + " |"
    return RichTextLines([names, values])
