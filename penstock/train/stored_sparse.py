"""Sparse tensors in queues: put aside in a map, with their handles in the queue instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.layers.smart_cond import smart_cond
from penstock.ops.constants import constant
from penstock.ops.control import with_dependencies
from penstock.ops.filling import ones
from penstock.ops.gather import gather
from penstock.ops.shaping import expand_dims, shape, squeeze
from penstock.ops.sparse_serialization import (
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)
from penstock.ops.sparse_structure import sparse_retain

_STORING = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


@dataclass(frozen=True)
class Stored:
    """How a component of a queue stands for a sparse tensor; for a dense one there is none."""

    map_op: Operation
    rank: int | None

    def agrees_with(self, other: Stored | None) -> bool:
        return (
            other is not None
            and self.map_op is other.map_op
            and (self.rank is None or other.rank is None or self.rank == other.rank)
        )


def store_sparse(
    tensors: Sequence[Any],
    enqueue_many: bool,
    keep_input: Tensor,
    shared: Sequence[Stored | None] | None = None,
) -> tuple[list[Any], list[Stored | None]]:
    """Replaces sparse tensors by handles; `shared` says whose maps to use."""
    stored: list[Any] = []
    infos: list[Stored | None] = []
    for tensor, other in zip(tensors, shared or [None] * len(tensors), strict=True):
        if not isinstance(tensor, SparseTensor):
            stored.append(tensor)
            infos.append(None)
            continue
        map_op = None if other is None else other.map_op
        name = None if map_op is None else map_op.name
        handle = _store(tensor, name, enqueue_many, keep_input)
        rank = tensor.dense_shape.shape.with_rank(1).as_list()[0]
        if rank is not None and enqueue_many:
            rank -= 1
        stored.append(handle)
        infos.append(Stored(map_op or _storing_op(handle), rank))
    return [
        value if info is None else expand_dims(value, [-1])
        for value, info in zip(stored, infos, strict=True)
    ], infos


def _storing_op(handle: Tensor) -> Operation:
    """The node that stores: the handle's own, or that of a branch which was joined into it."""
    return next((t.op for t in handle.op.inputs if t.op.type in _STORING), handle.op)


def _store(
    sparse: SparseTensor, map_name: str | None, enqueue_many: bool, keep_input: Tensor
) -> Tensor:
    if keep_input.shape.ndims == 1:
        kept = gather(keep_input, sparse.indices[:, 0])
        return add_many_sparse_to_tensors_map(sparse_retain(sparse, kept), shared_name=map_name)
    if not enqueue_many:
        return smart_cond(
            keep_input,
            lambda: add_sparse_to_tensors_map(sparse, shared_name=map_name),
            lambda: constant(-1, dtypes.int64),
        )
    handles: Tensor = smart_cond(
        keep_input,
        lambda: add_many_sparse_to_tensors_map(sparse, shared_name=map_name),
        lambda: -1 * ones(shape(sparse)[0:1], dtypes.int64),
    )
    handles.set_shape([None])
    return handles


def store_sparse_join(
    tensor_lists: Sequence[Sequence[Any]], enqueue_many: bool, keep_input: Tensor
) -> tuple[list[list[Any]], list[Stored | None]]:
    """`store_sparse` of several lists of tensors, which share the maps of the first."""
    first, infos = store_sparse(tensor_lists[0], enqueue_many, keep_input)
    stored = [first]
    for tensors in tensor_lists[1:]:
        values, others = store_sparse(tensors, enqueue_many, keep_input, infos)
        agree = len(others) == len(infos) and all(
            info is other is None or (info is not None and info.agrees_with(other))
            for info, other in zip(infos, others, strict=True)
        )
        if not agree:
            raise ValueError(f"Inconsistent SparseTensors list: {tensor_lists[0]} vs. {tensors}")
        stored.append(values)
    return stored, infos


def restore_sparse(dequeued: Any, infos: Sequence[Stored | None]) -> Any:
    """Takes the sparse tensors of dequeued handles out of their maps.

    All are taken whenever one of the results is asked for: none is left behind.
    """
    given = dequeued if isinstance(dequeued, (list, tuple)) else [dequeued]
    tensors = [
        value
        if info is None
        else take_many_sparse_from_tensors_map(
            info.map_op, squeeze(value, [1]), rank=None if info.rank is None else info.rank + 1
        )
        for value, info in zip(given, infos, strict=True)
    ]
    results = tensors
    if any(info is not None for info in infos):
        values = [t.values if isinstance(t, SparseTensor) else t for t in tensors]
        results = [_after(values, tensor) for tensor in tensors]
    return results if isinstance(dequeued, (list, tuple)) else tensors[0]


def _after(dependencies: list[Tensor], tensor: Any) -> Any:
    if not isinstance(tensor, SparseTensor):
        return with_dependencies(dependencies, tensor)
    return SparseTensor(
        indices=with_dependencies(dependencies, tensor.indices),
        values=with_dependencies(dependencies, tensor.values),
        dense_shape=with_dependencies(dependencies, tensor.dense_shape),
    )
