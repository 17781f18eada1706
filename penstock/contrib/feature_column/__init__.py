"""`tf.contrib.feature_column`: columns of features whose order counts."""

from penstock.contrib.feature_column.sequence_input import sequence_input_layer
from penstock.feature_column.feature_layers import concatenate_context_input
from penstock.feature_column.sequence import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)

__all__ = [
    "concatenate_context_input",
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_input_layer",
    "sequence_numeric_column",
]
