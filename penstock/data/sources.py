"""Datasets that read no other dataset: tensors, ranges, names of files."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data import structure
from penstock.data.dataset import Dataset, DatasetSource, flat_structure
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import sources as nodes
from penstock.ops.files import matching_files
from penstock.shapes import Dimension, dimension_value


class TensorDataset(DatasetSource):
    """One element."""

    def __init__(self, element: Any):
        element = structure.normalize_element(element)
        spec = structure.type_spec_from_value(element)
        tensors = structure.to_tensor_list(spec, element)
        shapes = structure.get_flat_tensor_shapes(spec)
        super().__init__(spec, nodes.TensorDataset(tensors, output_shapes=shapes))


class TensorSliceDataset(DatasetSource):
    """The rows of tensors."""

    def __init__(self, element: Any):
        element = structure.normalize_element(element)
        batched = structure.type_spec_from_value(element)
        tensors = structure.to_batched_tensor_list(batched, element)
        spec = structure.unbatched(batched)
        rows = Dimension(None)
        for tensor in tensors:
            if tensor.shape.rank is not None:
                size = tensor.shape[0]
                rows.assert_is_compatible_with(size)
                rows = rows.merge_with(size)
        shapes = structure.get_flat_tensor_shapes(spec)
        super().__init__(spec, nodes.TensorSliceDataset(tensors, output_shapes=shapes))


class SparseTensorSliceDataset(DatasetSource):
    """The rows of a sparse tensor, as three tensors."""

    def __init__(self, sparse_tensor: Any):
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(
                f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}."
            )
        sparse = sparse_tensor
        rank = dimension_value(sparse.dense_shape.shape.merge_with([sparse.indices.shape[1]])[0])
        rest = None if rank is None else rank - 1
        spec = (
            TensorSpec([None, rest], dtypes.int64),
            TensorSpec([None], sparse.dtype),
            TensorSpec([rest], dtypes.int64),
        )
        variant = nodes.SparseTensorSliceDataset(sparse.indices, sparse.values, sparse.dense_shape)
        super().__init__(spec, variant)


class RangeDataset(DatasetSource):
    """Numbers from a start to a stop."""

    def __init__(self, *args: Any):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
        numbers = [
            convert_to_tensor(value, dtypes.int64, name=name)
            for name, value in (("start", start), ("stop", stop), ("step", step))
        ]
        spec = TensorSpec([], dtypes.int64)
        super().__init__(spec, nodes.RangeDataset(*numbers, **flat_structure(spec)))


def files_matching(file_pattern: Any, shuffle: Any, seed: Any) -> Dataset:
    """The names of the files that match; an error where there is none."""
    import penstock as tf

    with name_scope("list_files"):
        pattern = convert_to_tensor(file_pattern, dtypes.string, name="file_pattern")
        names = matching_files(pattern)
        found = tf.greater(tf.shape(names)[0], 0, name="match_not_empty")
        text = tf.reduce_join(pattern, separator=", ")
        message = tf.add("No files matched pattern: ", text, name="message")
        check = tf.Assert(found, [message], summarize=1, name="assert_not_empty")
        with tf.control_dependencies([check]):
            names = tf.identity(names)
        dataset: Dataset = TensorSliceDataset(names)
        if shuffle is None or shuffle:
            count = tf.maximum(tf.shape(names, out_type=tf.int64)[0], 1)
            dataset = dataset.shuffle(count, seed=seed)
        return dataset
