"""Values made of several tensors: slices of a large tensor, and sparse tensors."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from penstock import shapes
from penstock.dtypes import DType
from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class IndexedSlices(CompositeTensor):
    """Rows `values` at positions `indices` of a tensor that is zero elsewhere.

    The gradient of a gather: it moves and updates only the rows that a step touched.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None):
        # As they are given, as in TensorFlow: an op that takes a list as a tensor takes it here.
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        return self._dense_shape

    @property
    def shape(self) -> shapes.TensorShape:
        from penstock.ir.constants import constant_shape

        if self._dense_shape is None:
            return shapes.TensorShape(None)
        return shapes.TensorShape._of(constant_shape(self._dense_shape))

    get_shape = shape.fget  # type: ignore[attr-defined]

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._values.graph

    @property
    def _type_spec(self) -> Any:
        from penstock.ir.indexed_slices_spec import IndexedSlicesSpec

        dense = shapes.TensorShape([None]).concatenate(self._values.shape[1:])
        indices = self._indices.shape.merge_with(self._values.shape[:1])
        if self._dense_shape is None:
            return IndexedSlicesSpec(dense, self.dtype, self._indices.dtype, None, indices)
        dense = dense.merge_with(self.shape)
        dtype = self._dense_shape.dtype
        return IndexedSlicesSpec(dense, self.dtype, self._indices.dtype, dtype, indices)

    def _to_components(self) -> Any:
        return tuple(self._parts())

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        """A spec with the shape of the values, as loops say it."""
        from penstock.ir.indexed_slices_spec import IndexedSlicesSpec

        dense = shapes.TensorShape([None]).concatenate(shape[1:])
        dtype = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(dense, self.dtype, self._indices.dtype, dtype, shape[:1])

    def _with_parts(self, parts: Any) -> IndexedSlices:
        return IndexedSlices(*parts)

    def _parts(self) -> list[Tensor]:
        parts = [self._values, self._indices]
        return parts if self._dense_shape is None else [*parts, self._dense_shape]

    def consumers(self) -> list[Operation]:
        return [op for part in self._parts() for op in part.consumers()]

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def __repr__(self) -> str:
        return (
            f"IndexedSlices(indices={self._indices!r}, values={self._values!r}, "
            f"dense_shape={self._dense_shape!r})"
        )


def graph_of(value: Tensor | IndexedSlices) -> Any:
    """The graph that a gradient is in, whether all of it or some rows are given; also eagerly."""
    tensor = value.values if isinstance(value, IndexedSlices) else value
    return tensor._op.graph


class SparseTensor(CompositeTensor):
    """A tensor given by its non-zero entries: `indices` [N, rank], `values` [N], `dense_shape`."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        from penstock import dtypes
        from penstock.ir.constants import static_shape
        from penstock.ir.name_scope import name_scope

        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = to_tensor(indices, dtypes.int64, "indices")
            # A variable stands for its reference here, as it does in TensorFlow.
            self._values = to_tensor(values, None, "values")
            self._dense_shape = to_tensor(dense_shape, dtypes.int64, "dense_shape")
        _check_sparse_shapes(self._indices, self._values, self._dense_shape)
        self._dense_shape_default = static_shape(self._dense_shape)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def shape(self) -> shapes.TensorShape:
        return shapes.TensorShape._of(self._dense_shape_default)

    get_shape = shape.fget  # type: ignore[attr-defined]

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._indices.graph

    @property
    def _type_spec(self) -> Any:
        from penstock.ir.sparse_tensor_spec import SparseTensorSpec

        return SparseTensorSpec(self.shape, self.dtype)

    def _to_components(self) -> Any:
        return self._parts()

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        """A spec of as many dimensions as `shape`, that of `dense_shape`, says; loops say it so."""
        from penstock.ir.sparse_tensor_spec import SparseTensorSpec

        rank = shapes.dimension_value(shape.with_rank(1)[0])
        return SparseTensorSpec(shapes.unknown_shape(rank), self.dtype)

    def _with_parts(self, parts: Any) -> SparseTensor:
        return SparseTensor(*parts)

    def _parts(self) -> list[Tensor]:
        return [self._indices, self._values, self._dense_shape]

    def consumers(self) -> list[Operation]:
        return [op for part in self._parts() for op in part.consumers()]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Runs its parts and returns them as a SparseTensorValue."""
        from penstock.ir.defaults import session_for

        run = session_for(self.graph, session, "evaluate tensor").run
        return SparseTensorValue(*run(self._parts(), feed_dict))

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, "
            f"dense_shape={self._dense_shape})"
        )

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!r}, values={self._values!r}, "
            f"dense_shape={self._dense_shape!r})"
        )


def _check_sparse_shapes(indices: Tensor, values: Tensor, dense_shape: Tensor) -> None:
    """Merges what the three parts say about N and the rank; ValueError where they disagree."""
    rows = indices.shape.with_rank(2)
    count = values.shape.with_rank(1)
    rank = dense_shape.shape.with_rank(1)
    at = shapes.dimension_at_index
    at(rows, 0).merge_with(at(count, 0))
    at(rows, 1).merge_with(at(rank, 0))
