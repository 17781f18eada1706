"""`tf.feature_column`: how a model takes in features."""

from penstock.feature_column.categorical import (
    HashedCategoricalColumn,
    IdentityCategoricalColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    weighted_categorical_column,
)
from penstock.feature_column.crossed import CrossedColumn, crossed_column
from penstock.feature_column.embedding import (
    EmbeddingColumn,
    SharedEmbeddingColumn,
    embedding_column,
    shared_embedding_columns,
)
from penstock.feature_column.indicator import IndicatorColumn, indicator_column
from penstock.feature_column.input_layer import input_layer, make_parse_example_spec
from penstock.feature_column.linear_model import linear_model
from penstock.feature_column.numeric import (
    BucketizedColumn,
    NumericColumn,
    bucketized_column,
    numeric_column,
)
from penstock.feature_column.of_categories import SequenceCategoricalColumn
from penstock.feature_column.sequence import (
    SequenceNumericColumn,
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)

__all__ = [
    "BucketizedColumn",
    "CrossedColumn",
    "EmbeddingColumn",
    "HashedCategoricalColumn",
    "IdentityCategoricalColumn",
    "IndicatorColumn",
    "NumericColumn",
    "SequenceCategoricalColumn",
    "SequenceNumericColumn",
    "SharedEmbeddingColumn",
    "VocabularyFileCategoricalColumn",
    "VocabularyListCategoricalColumn",
    "WeightedCategoricalColumn",
    "bucketized_column",
    "categorical_column_with_hash_bucket",
    "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file",
    "categorical_column_with_vocabulary_list",
    "crossed_column",
    "embedding_column",
    "indicator_column",
    "input_layer",
    "linear_model",
    "make_parse_example_spec",
    "numeric_column",
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column",
    "shared_embedding_columns",
    "weighted_categorical_column",
]
