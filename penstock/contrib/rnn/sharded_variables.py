"""Matrices that old LSTM cells keep in several variables."""

from __future__ import annotations

from typing import Any

from penstock.ops.joining import concat
from penstock.ops.variable_scope import get_variable


def sharded_matrix(name: str, shape: list[int], dtype: Any, shards: int) -> Any:
    """A matrix whose rows are in the variables `name_0`, `name_1` …"""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    rows = [shape[0] // shards + (i < shape[0] % shards) for i in range(shards)]
    parts = [
        get_variable(f"{name}_{i}", [size, *shape[1:]], dtype=dtype) for i, size in enumerate(rows)
    ]
    return parts[0] if shards == 1 else concat(parts, 0, name=f"{name}/concat")
