"""`Dataset.padded_batch`: the shapes and the values that elements are padded to."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.data import nest, structure
from penstock.data.dataset import DatasetV2, UnaryDataset
from penstock.data.rearranged import flag, int64
from penstock.ir.composite import SparseTensor
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.datasets import rearranged as nodes
from penstock.shapes import TensorShape


def _shape_tensor(padded_shape: Any, component_shape: TensorShape) -> Tensor:
    """A padded shape as a vector, -1 where it is the largest size of the batch."""
    tensor: Tensor
    try:
        known = TensorShape(padded_shape)
        sizes = [-1 if size is None else size for size in known.as_list()]
        tensor = convert_to_tensor(np.array(sizes, dtype=np.int64))
    except (TypeError, ValueError):
        tensor = convert_to_tensor(padded_shape, preferred_dtype=dtypes.int64)
        if tensor.shape.rank not in (None, 1):
            raise ValueError(
                f"Padded shape {padded_shape} must be a 1-D tensor of tf.int64 values, but its "
                f"shape was {tensor.shape}."
            ) from None
        if tensor.dtype != dtypes.int64:
            raise TypeError(
                f"Padded shape {padded_shape} must be a 1-D tensor of tf.int64 values, but its "
                f"element type was {tensor.dtype.name}."
            ) from None
        known = TensorShape(constant_shape(tensor))
    if not _fits(known, component_shape):
        raise ValueError(
            f"The padded shape {known} is not compatible with the corresponding input component "
            f"shape {component_shape}."
        )
    return tensor


def _fits(padded: TensorShape, component: TensorShape) -> bool:
    if padded.rank is None or component.rank is None:
        return True
    if padded.rank != component.rank:
        return False
    pairs = zip(padded.as_list(), component.as_list(), strict=True)
    return all(a is None or b is None or a >= b for a, b in pairs)


def _zero(dtype: Any) -> Any:
    if dtype.base_dtype == dtypes.string:
        return ""
    if dtype.base_dtype == dtypes.variant:
        raise TypeError("Unable to create padding for field of type 'variant'")
    return np.zeros_like(dtype.as_numpy_dtype())


def _value_tensor(value: Any, dtype: Any) -> Tensor:
    tensor: Tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with(TensorShape([])):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype.base_dtype != dtype:
        raise TypeError(f"Padding value tensor ({tensor}) does not match output type: {dtype!r}")
    return tensor


class PaddedBatchDataset(UnaryDataset):
    """Batches of elements that are padded to one shape."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any,
        drop_remainder: Any,
    ):
        if SparseTensor in nest.flatten(input_dataset.output_classes):
            raise TypeError("Batching of padded sparse tensors is not currently supported")
        size = int64(batch_size, "batch_size")
        sizes, types = input_dataset.output_shapes, input_dataset.output_types
        if padding_values is None:
            padding_values = nest.map_structure(_zero, types)
        if padded_shapes is None:
            padded_shapes = sizes
        flat = nest.flatten_up_to(sizes, padded_shapes)
        shape_tensors = [
            _shape_tensor(padded, component)
            for padded, component in zip(flat, nest.flatten(sizes), strict=True)
        ]
        values = nest.flatten(nest.map_structure_up_to(sizes, _value_tensor, padding_values, types))
        drop = flag(drop_remainder, "drop_remainder")
        drops, number = constant_value(drop), constant_value(size)
        rows = int(number) if drops is not None and drops and number is not None else None
        shapes = [TensorShape([rows]).concatenate(constant_shape(each)) for each in shape_tensors]
        spec = structure.convert_legacy_structure(
            types, nest.pack_sequence_as(sizes, shapes), input_dataset.output_classes
        )
        variant = nodes.PaddedBatchDatasetV2(
            input_dataset._variant_tensor, size, shape_tensors, values, drop, output_shapes=shapes
        )
        super().__init__(input_dataset, variant, spec)
