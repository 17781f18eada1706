"""`tf.ragged`: tensors whose rows differ in length."""

from penstock.ragged import dataset_elements as dataset_elements
from penstock.ragged import dispatchers as dispatchers
from penstock.ragged import operators as operators
from penstock.ragged.arrays import boolean_mask, stack_dynamic_partitions
from penstock.ragged.concatenation import stack
from penstock.ragged.factories import constant, constant_value, placeholder
from penstock.ragged.flat_values import map_flat_values
from penstock.ragged.reductions import range
from penstock.ragged.segment_ids import row_splits_to_segment_ids, segment_ids_to_row_splits
from penstock.ragged.tensor_value import RaggedTensorValue

__all__ = [
    "RaggedTensorValue",
    "boolean_mask",
    "constant",
    "constant_value",
    "map_flat_values",
    "placeholder",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
