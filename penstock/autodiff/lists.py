"""What users give and return as one thing or as several."""

from __future__ import annotations

from typing import Any


def as_list(value: Any) -> list[Any]:
    """A list of the elements of a list or tuple, or of the one value."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
