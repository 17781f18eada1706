"""Until which date graphs may use new ops: `tf.compat.forward_compatible` and its test switch."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["forward_compatibility_horizon", "forward_compatible"]

_RELEASE = datetime.date(2019, 8, 21)  # of TensorFlow 1.15
_EXTRA_DAYS = "TF_FORWARD_COMPATIBILITY_DELTA_DAYS"


def _horizon_of_release() -> datetime.date:
    return _RELEASE + datetime.timedelta(days=int(os.environ.get(_EXTRA_DAYS) or 0))


_horizon = _horizon_of_release()


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether readers of this program's graphs know what was added on the given day."""
    # Not a date: callers may name a day that the month does not have.
    return (_horizon.year, _horizon.month, _horizon.day) > (year, month, day)


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Moves the date that `forward_compatible` compares with, for the tests of new features."""
    global _horizon
    _horizon = datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = _horizon_of_release()
