"""What `tensorflow.python.ops.init_ops` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.ops.initializers import Identity as identity_initializer  # noqa: F401
from penstock.ops.initializers import _fans
from penstock.ops.initializers import floating as _assert_float_dtype  # noqa: F401


def _compute_fans(shape: Any) -> tuple[int, int]:
    """How many numbers go into a unit of a weight, and how many come out."""
    fan_in, fan_out = _fans([int(size) for size in shape])
    return int(fan_in), int(fan_out)
