"""Arguments of datasets as tensors: TensorFlow's `data.util.convert` and `data.util.sparse`."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data import nest
from penstock.data.readers import optional
from penstock.data.seeds import dataset_seeds
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.sparse_serialization import (
    deserialize_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from penstock.shapes import TensorShape

get_seed = dataset_seeds


def optional_param_to_tensor(
    argument_name: str,
    argument_value: Any,
    argument_default: Any = 0,
    argument_dtype: Any = dtypes.int64,
) -> Tensor:
    """An argument as a tensor, or its default."""
    return optional(argument_name, argument_value, argument_default, argument_dtype)


def partial_shape_to_tensor(shape_like: Any) -> Tensor:
    """A shape as a vector with -1 for unknown sizes."""
    tensor: Tensor
    try:
        sizes = [-1 if size is None else size for size in TensorShape(shape_like).as_list()]
    except (TypeError, ValueError):
        tensor = convert_to_tensor(shape_like, preferred_dtype=dtypes.int64)
        if tensor.shape.rank not in (None, 1):
            raise ValueError(
                f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the "
                f"shape was {tensor.shape}."
            ) from None
        if tensor.dtype != dtypes.int64:
            raise TypeError(
                f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but the "
                f"element type was {tensor.dtype.name}."
            ) from None
        return tensor
    tensor = convert_to_tensor(sizes, dtypes.int64)
    return tensor


def any_sparse(classes: Any) -> bool:
    """Whether one of the classes of an element's components is SparseTensor."""
    return any(each is SparseTensor for each in nest.flatten(classes))


def get_classes(tensors: Any) -> Any:
    """The classes of an element's components."""
    return nest.map_structure(
        lambda each: SparseTensor if isinstance(each, SparseTensor) else Tensor, tensors
    )


def as_dense_types(types: Any, classes: Any) -> Any:
    """The types of the tensors that an element's components travel as."""
    return nest.map_structure(
        lambda dtype, kind: dtypes.variant if kind is SparseTensor else dtype, types, classes
    )


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """The shapes of the tensors that an element's components travel as."""
    flat = zip(nest.flatten(shapes), nest.flatten(classes), strict=True)
    dense = [TensorShape(None) if kind is SparseTensor else shape for shape, kind in flat]
    return nest.pack_sequence_as(shapes, dense)


def serialize_sparse_tensors(tensors: Any) -> Any:
    """An element whose sparse tensors are packed into variants."""
    return nest.map_structure(
        lambda each: (
            serialize_sparse(each, out_type=dtypes.variant)
            if isinstance(each, SparseTensor)
            else each
        ),
        tensors,
    )


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """A batch whose sparse tensors are packed into variants, row by row."""
    return nest.map_structure(
        lambda each: (
            serialize_many_sparse(each, out_type=dtypes.variant)
            if isinstance(each, SparseTensor)
            else each
        ),
        tensors,
    )


def deserialize_sparse_tensors(tensors: Any, types: Any, shapes: Any, classes: Any) -> Any:
    """An element with its sparse tensors unpacked."""
    parts = zip(*map(nest.flatten, (tensors, types, shapes, classes)), strict=True)
    found = [
        deserialize_sparse(each, dtype=dtype, rank=shape.ndims) if kind is SparseTensor else each
        for each, dtype, shape, kind in parts
    ]
    return nest.pack_sequence_as(types, found)
