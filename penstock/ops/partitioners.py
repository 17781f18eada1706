"""How to cut a variable into parts: from its shape and type, the number of parts per axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.tensor import Tensor
from penstock.ops.variable_scope import default_store, variable_scope
from penstock.ops.variable_store import Request
from penstock.shapes import TensorShape

__all__ = [
    "create_partitioned_variables",
    "fixed_size_partitioner",
    "min_max_variable_partitioner",
    "variable_axis_size_partitioner",
]

Partitioner = Callable[..., list[int]]


def _bytes_per_element(dtype: DType, bytes_per_string_element: int) -> int:
    return bytes_per_string_element if dtype is dtypes.string else dtype.size


def _along(axis: int, count: int, shape: TensorShape) -> list[int]:
    partitions = [1] * len(shape)
    partitions[axis] = count
    return partitions


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cuts into `num_shards` parts along `axis`, or fewer where it is shorter than that."""

    def partitioner(shape: Any, **_: Any) -> list[int]:
        whole = TensorShape(shape)
        return _along(axis, min(num_shards, whole.as_list()[axis] or 1), whole)

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Cuts along `axis` into parts of at most `max_shard_bytes`, as far as `max_shards` allows."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive, got "
            f"{max_shard_bytes} and {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive, got {max_shards}")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        whole = TensorShape(shape)
        if not whole.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {whole}")
        if not whole.num_elements():
            return [1] * len(whole)
        length = whole.as_list()[axis] or 1
        element = _bytes_per_element(dtypes.as_dtype(dtype), bytes_per_string_element)
        slice_bytes = (whole.num_elements() or 0) // length * element
        slices_per_shard = max(1, math.floor(max_shard_bytes / slice_bytes))
        count = math.ceil(length / slices_per_shard)
        return _along(axis, min(max_shards, count) if max_shards else count, whole)

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Cuts along `axis` into parts of at least `min_slice_size` bytes, at most `max_partitions`."""

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        whole = TensorShape(shape)
        if axis >= len(whole):
            raise ValueError(
                f"Cannot partition variable along axis {axis} when shape is only {whole}"
            )
        element = _bytes_per_element(dtypes.as_dtype(dtype), bytes_per_string_element)
        total = (whole.num_elements() or 0) * element
        wanted = min(math.ceil(total / min_slice_size), max_partitions)
        return _along(axis, max(1, min(wanted, whole.as_list()[axis] or 1)), whole)

    return partitioner


def create_partitioned_variables(
    shape: Any,
    slicing: Any,
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The parts of a variable that is cut into `slicing[i]` parts along axis i."""
    sizes = shapes.raw(shape)
    if sizes is None or len(sizes) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if not sizes:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        request = Request(
            shape=None if isinstance(initializer, Tensor) else shape,
            dtype=dtype,
            initializer=initializer,
            reuse=scope.reuse,
            trainable=trainable,
            collections=collections,
            partitioner=lambda **_: list(slicing),
            use_resource=scope.use_resource,
        )
        return list(default_store().get_requested(scope.name, request))
