"""A progress bar for checkpoints that take a while, where someone looks at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SMALLEST_SHOWN = 256 << 20
Report = Callable[[int], object]


def silent(count: int) -> None:
    """Reports nothing."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Report]:
    """A function to call with the number of bytes that are done, each time some are.

    There is a bar if there are many bytes, and standard error is a terminal.
    """
    if total < SMALLEST_SHOWN or sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit="B", unit_scale=True, leave=False) as bar:
        yield bar.update
