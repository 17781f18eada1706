"""What is done with a whole dataset or an iterator: its only element, its size, files of it."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data import structure
from penstock.data.dataset import DatasetV2
from penstock.data.iterator_saveable import IteratorSaveable
from penstock.data.readers import optional
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import iterators as nodes
from penstock.train.saveables import SaveableObject

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def cardinality(dataset: DatasetV2) -> Tensor:
    """The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
    tensor: Tensor = nodes.DatasetCardinality(dataset._variant_tensor)
    return tensor


def get_single_element(dataset: DatasetV2) -> Any:
    """The only element of a dataset, as tensors."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    tensors = nodes.DatasetToSingleElement(dataset._variant_tensor, **dataset._flat_structure)
    return structure.from_compatible_tensor_list(dataset.element_spec, tensors)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file."""

    def __init__(self, filename: Any, compression_type: Any = None):
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression = optional("compression_type", compression_type, "", dtypes.string)

    def write(self, dataset: DatasetV2) -> Operation:
        """The operation that writes all elements."""
        if not isinstance(dataset, DatasetV2):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(
            TensorSpec([], dtypes.string)
        ):
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{dataset.output_shapes} and types {dataset.output_types}"
            )
        op: Operation = nodes.DatasetToTFRecord(
            dataset._variant_tensor, self._filename, self._compression
        )
        return op


def make_saveable_from_iterator(iterator: Any) -> SaveableObject:
    """What lets a `tf.train.Saver` save an iterator's place, in the collection SAVEABLE_OBJECTS."""
    return IteratorSaveable(iterator._iterator_resource, iterator._iterator_resource.name)
