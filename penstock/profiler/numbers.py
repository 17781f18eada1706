"""Numbers as reports show them."""

from __future__ import annotations


def formatted(number: int) -> str:
    """A count in thousands, millions or billions: 2074 is "2.07k"."""
    if number < 1_000:
        return str(number)
    for unit, size in (("k", 10**3), ("m", 10**6)):
        if number < size * 1_000:
            return f"{number / size:.2f}{unit}"
    return f"{number / 10**9:.2f}b"
