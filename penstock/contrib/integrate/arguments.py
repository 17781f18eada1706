"""Checks of what a solver is given."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import penstock as tf


def check_types(y0: Any, t: Any, dt: Any = None) -> None:
    """TypeError unless the state, the times and the steps are floating-point numbers."""
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    for name, value in (("t", t), ("dt", dt)):
        if value is not None and not value.dtype.is_floating:
            raise TypeError(f"`{name}` must have a floating point dtype")


def check_sizes(t: Any, dt: Any) -> None:
    """ValueError unless there is one step size less than there are times."""
    if t.shape.ndims > 1 or dt.shape.ndims > 1:
        raise ValueError("t must be a 1D tensor")
    if t.shape[0] != dt.shape[0] + 1:
        raise ValueError("t and dt have incompatible lengths, must be N and N-1")


def increasing(t: Any) -> AbstractContextManager[Any]:
    """Nodes made inside fail unless each time is later than the one before."""
    check = tf.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])
    return tf.control_dependencies([check])
