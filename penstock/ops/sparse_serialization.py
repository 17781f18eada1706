"""Sparse tensors packed into strings or put aside in a map, and taken out again as batches."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank, with_size
from penstock.ops.sparse_tensors import as_sparse
from penstock.shapes import Shape

__all__ = ["deserialize_many_sparse", "serialize_many_sparse", "serialize_sparse"]

_PACKED = types(dtypes.string, dtypes.variant, default=dtypes.string)
_MAP: dict[str, Any] = {"container": "", "shared_name": ""}

SerializeSparse = op(
    "SerializeSparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) "
    "-> serialized_sparse: out_type",
    out_type=_PACKED,
)
SerializeManySparse = op(
    "SerializeManySparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) "
    "-> serialized_sparse: out_type",
    out_type=_PACKED,
)
DeserializeSparse = op(
    "DeserializeSparse(serialized_sparse: Tserialized) -> sparse_indices: int64, "
    "sparse_values: dtype, sparse_shape: int64",
    dtype=attr("type"),
    Tserialized=_PACKED,
)
DeserializeManySparse = op(
    "DeserializeManySparse(serialized_sparse: string) -> sparse_indices: int64, "
    "sparse_values: dtype, sparse_shape: int64",
    dtype=attr("type"),
)
AddSparseToTensorsMap = op(
    "AddSparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64) "
    "-> sparse_handle: int64",
    STATEFUL,
    **_MAP,
)
AddManySparseToTensorsMap = op(
    "AddManySparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64) "
    "-> sparse_handles: int64",
    STATEFUL,
    **_MAP,
)
TakeManySparseFromTensorsMap = op(
    "TakeManySparseFromTensorsMap(sparse_handles: int64) -> sparse_indices: int64, "
    "sparse_values: dtype, sparse_shape: int64",
    STATEFUL,
    dtype=attr("type"),
    **_MAP,
)
not_differentiable(
    SerializeSparse,
    SerializeManySparse,
    DeserializeSparse,
    DeserializeManySparse,
    AddSparseToTensorsMap,
    AddManySparseToTensorsMap,
    TakeManySparseFromTensorsMap,
)


def _check_ranks(indices: Shape, values: Shape, shape: Shape) -> None:
    with_rank(indices, 2)
    with_rank(values, 1)
    with_rank(shape, 1)


@SerializeSparse.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> Shape:
    _check_ranks(indices, values, shape)
    return (3,)


@SerializeManySparse.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> Shape:
    _check_ranks(indices, values, shape)
    return (None, 3)


@DeserializeSparse.shape
def _(op: Any, packed: Shape) -> list[Shape]:
    if packed is not None and packed:
        with_size(packed[-1], 3)
    return [(None, None), (None,), (None,)]


@DeserializeManySparse.shape
def _(op: Any, packed: Shape) -> list[Shape]:
    with_size(with_rank(packed, 2)[1], 3)
    return [(None, None), (None,), (None,)]


@AddSparseToTensorsMap.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> Shape:
    _check_ranks(indices, values, shape)
    return ()


@AddManySparseToTensorsMap.shape
def _(op: Any, indices: Shape, values: Shape, shape: Shape) -> Shape:
    _check_ranks(indices, values, shape)
    return (None,)


@TakeManySparseFromTensorsMap.shape
def _(op: Any, handles: Shape) -> list[Shape]:
    with_rank(handles, 1)
    return [(None, None), (None,), (None,)]


def serialize_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """A sparse tensor as a vector of 3 strings: its indices, values and shape."""
    sp = as_sparse(sp_input)
    return SerializeSparse(sp.indices, sp.values, sp.dense_shape, name=name, out_type=out_type)


def serialize_many_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """A matrix of strings, with a packed sparse tensor per entry of the first dimension."""
    sp = as_sparse(sp_input)
    return SerializeManySparse(sp.indices, sp.values, sp.dense_shape, name=name, out_type=out_type)


def deserialize_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensor in 3 strings, or a batch of them in a tensor of strings [..., 3]."""
    return _ranked(DeserializeSparse(serialized_sparse, dtype=dtype, name=name), rank)


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The batch of sparse tensors of one rank in a matrix of strings.

    `rank` is that of the result, if known: one more than that of each tensor.
    """
    return _ranked(DeserializeManySparse(serialized_sparse, dtype=dtype, name=name), rank)


def _ranked(parts: Any, rank: int | None) -> SparseTensor:
    indices, values, dense_shape = parts
    indices.set_shape([None, rank])
    dense_shape.set_shape([rank])
    return SparseTensor(indices, values, dense_shape)


# Maps -----------------------------------------------------------------------------------------


def add_sparse_to_tensors_map(
    sp_input: Any,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Puts a sparse tensor aside in a map and gives back its handle."""
    sp = as_sparse(sp_input)
    return AddSparseToTensorsMap(
        sp.indices,
        sp.values,
        sp.dense_shape,
        container=container,
        shared_name=shared_name,
        name=name,
    )


def add_many_sparse_to_tensors_map(
    sp_input: Any,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Puts each entry of a sparse tensor's first dimension aside and gives back the handles."""
    sp = as_sparse(sp_input)
    return AddManySparseToTensorsMap(
        sp.indices,
        sp.values,
        sp.dense_shape,
        container=container,
        shared_name=shared_name,
        name=name,
    )


def take_many_sparse_from_tensors_map(
    sparse_map_op: Any, sparse_handles: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Takes the tensors of these handles out of the map of `sparse_map_op`, as one batch."""
    if not isinstance(sparse_map_op, Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, "
            f"found `{sparse_map_op.type}`."
        )
    attrs = sparse_map_op.attrs
    with get_default_graph().colocate_with(sparse_map_op):
        parts = TakeManySparseFromTensorsMap(
            sparse_handles,
            dtype=attrs["T"],
            container=attrs["container"],
            shared_name=attrs["shared_name"] or sparse_map_op.name,
            name=name,
        )
    return _ranked(parts, rank)
