"""Names of TensorFlow's `python.feature_column.feature_column_v2` and its neighbours."""

from typing import Any

from penstock.feature_column.argument_checks import (
    assert_key_is_string,
    assert_string_or_int,
    check_default_value,
)
from penstock.feature_column.argument_checks import checked_shape as _check_shape
from penstock.feature_column.categorical import categorical_column_with_vocabulary_file_v2
from penstock.feature_column.columns import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    SequenceDenseColumn,
    StateManager,
    by_name,
    is_feature_column_v2,
    normalized,
)
from penstock.feature_column.columns import check_batch_sizes as _verify_static_batch_size_equality
from penstock.feature_column.embedding import (
    SharedEmbeddingColumnCreator,
    shared_embedding_columns_v2,
)
from penstock.feature_column.feature_layers import (
    DenseFeatures,
    SequenceFeatures,
    concatenate_context_input,
)
from penstock.feature_column.feature_layers import LayerState as _StateManagerImpl
from penstock.feature_column.feature_layers import equal_lengths as _assert_all_equal_and_return
from penstock.feature_column.input_layer import merged_specs
from penstock.feature_column.linear_model import LinearModel, _LinearModelLayer
from penstock.feature_column.of_categories import sequence_lengths
from penstock.feature_column.scoped_features import ScopedState as _StateManagerImplV2
from penstock.feature_column.serialization import (
    deserialize_feature_column,
    deserialize_feature_columns,
    serialize_feature_column,
    serialize_feature_columns,
)
from penstock.feature_column.transformation import FeatureTransformationCache
from penstock.feature_column.transformation import (
    to_sparse as _to_sparse_input_and_drop_ignore_values,
)
from penstock.feature_column.transformation import transform_features_v2 as _transform_features_v2

__all__ = [
    "CategoricalColumn",
    "DenseColumn",
    "DenseFeatures",
    "FeatureColumn",
    "FeatureTransformationCache",
    "LinearModel",
    "SequenceDenseColumn",
    "SequenceFeatures",
    "SharedEmbeddingColumnCreator",
    "StateManager",
    "_LinearModelLayer",
    "_StateManagerImpl",
    "_StateManagerImplV2",
    "_assert_all_equal_and_return",
    "_check_shape",
    "_normalize_feature_columns",
    "_to_sparse_input_and_drop_ignore_values",
    "_transform_features_v2",
    "_verify_static_batch_size_equality",
    "assert_key_is_string",
    "assert_string_or_int",
    "categorical_column_with_vocabulary_file_v2",
    "check_default_value",
    "concatenate_context_input",
    "deserialize_feature_column",
    "deserialize_feature_columns",
    "is_feature_column_v2",
    "make_parse_example_spec_v2",
    "sequence_length_from_sparse_tensor",
    "serialize_feature_column",
    "serialize_feature_columns",
    "shared_embedding_columns_v2",
]

sequence_length_from_sparse_tensor = sequence_lengths


def _normalize_feature_columns(feature_columns: Any) -> list[Any]:
    return by_name(normalized(feature_columns))


def make_parse_example_spec_v2(feature_columns: Any) -> dict[str, Any]:
    """`make_parse_example_spec` for columns of the newer protocol."""
    return merged_specs(feature_columns, FeatureColumn, "parse_example_spec")
