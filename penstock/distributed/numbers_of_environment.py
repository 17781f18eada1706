"""Numbers that a user sets by environment variables."""

from __future__ import annotations

import os


def number_of_environment(variable: str, default: float) -> float:
    """The number that a variable has; the default where it is not set or empty."""
    text = os.environ.get(variable) or str(default)
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise ValueError(f"The environment variable {variable} is {text!r}: it takes a number >= 0")
    return number
