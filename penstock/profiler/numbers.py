"""Numbers as reports show them."""

from __future__ import annotations


def formatted(number: int) -> str:
    """A count in thousands, millions or billions: 2074 is "2.07k"."""
    return _scaled(number, "", "k", "m", "b")


def formatted_bytes(number: int) -> str:
    """A size in bytes: 2074 is "2.07KB"."""
    return _scaled(number, "B", "KB", "MB", "GB")


def formatted_micros(number: int) -> str:
    """A time in microseconds: 2074 is "2.07ms"."""
    return _scaled(number, "us", "ms", "sec")


def _scaled(number: int, smallest: str, *units: str) -> str:
    """A number in the largest unit in which it is at least 1; each is a thousand of the last."""
    if number < 1_000:
        return f"{number}{smallest}"
    order = 1
    while order < len(units) and number >= 1_000 ** (order + 1):
        order += 1
    return f"{number / 1_000**order:.2f}{units[order - 1]}"
