"""Rows of an answer: text for people, data for programs; and which of them are wanted."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One line of an answer, and the same as a JSON object."""

    text: str
    data: dict[str, Any]


class Wanted(NamedTuple):
    """What the user asked for."""

    pattern: re.Pattern[str] | None = None
    tensor: str | None = None
    statistics: bool = False
    limit: int = 0

    def has(self, *texts: str) -> bool:
        """Whether the pattern is found in one of the texts; always without a pattern."""
        return self.pattern is None or any(self.pattern.search(text) for text in texts)

    def is_enough(self, count: int) -> bool:
        """Whether as many rows as were asked for are there."""
        return 0 < self.limit <= count


def size_text(size: float) -> str:
    """`1.5 MB`: a size with a unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def count_text(count: int, thing: str) -> str:
    """`1 node`, `1,200 nodes`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
