"""Names of TensorFlow's `python.feature_column.feature_column`: columns of the older protocol.

There is one class for a column here, so these are other names of it.
"""

from penstock.feature_column.argument_checks import checked_shape as _check_shape
from penstock.feature_column.categorical import (
    HashedCategoricalColumn as _HashedCategoricalColumn,
)
from penstock.feature_column.categorical import (
    IdentityCategoricalColumn as _IdentityCategoricalColumn,
)
from penstock.feature_column.categorical import (
    VocabularyFileCategoricalColumn as _VocabularyFileCategoricalColumn,
)
from penstock.feature_column.categorical import (
    VocabularyListCategoricalColumn as _VocabularyListCategoricalColumn,
)
from penstock.feature_column.categorical import (
    WeightedCategoricalColumn as _WeightedCategoricalColumn,
)
from penstock.feature_column.categorical import (
    categorical_column_with_hash_bucket as _categorical_column_with_hash_bucket,
)
from penstock.feature_column.categorical import (
    categorical_column_with_identity as _categorical_column_with_identity,
)
from penstock.feature_column.categorical import (
    categorical_column_with_vocabulary_file as _categorical_column_with_vocabulary_file,
)
from penstock.feature_column.categorical import (
    categorical_column_with_vocabulary_list as _categorical_column_with_vocabulary_list,
)
from penstock.feature_column.categorical import (
    weighted_categorical_column as _weighted_categorical_column,
)
from penstock.feature_column.columns import (
    _CategoricalColumn,
    _DenseColumn,
    _FeatureColumn,
    _SequenceDenseColumn,
)
from penstock.feature_column.columns import check_batch_sizes as _verify_static_batch_size_equality
from penstock.feature_column.crossed import CrossedColumn as _CrossedColumn
from penstock.feature_column.crossed import crossed_column as _crossed_column
from penstock.feature_column.embedding import EmbeddingColumn as _EmbeddingColumn
from penstock.feature_column.embedding import _SharedEmbeddingColumn
from penstock.feature_column.embedding import embedding_column as _embedding_column
from penstock.feature_column.indicator import IndicatorColumn as _IndicatorColumn
from penstock.feature_column.indicator import indicator_column as _indicator_column
from penstock.feature_column.input_layer import InputLayer, _internal_input_layer
from penstock.feature_column.linear_model import _LinearModel
from penstock.feature_column.numeric import BucketizedColumn as _BucketizedColumn
from penstock.feature_column.numeric import NumericColumn as _NumericColumn
from penstock.feature_column.numeric import bucketized_column as _bucketized_column
from penstock.feature_column.numeric import numeric_column as _numeric_column
from penstock.feature_column.of_categories import (
    SequenceCategoricalColumn as _SequenceCategoricalColumn,
)
from penstock.feature_column.transformation import _LazyBuilder
from penstock.feature_column.transformation import (
    to_sparse as _to_sparse_input_and_drop_ignore_values,
)
from penstock.feature_column.transformation import transform_features as _transform_features

__all__ = [
    "InputLayer",
    "_BucketizedColumn",
    "_CategoricalColumn",
    "_CrossedColumn",
    "_DenseColumn",
    "_EmbeddingColumn",
    "_FeatureColumn",
    "_HashedCategoricalColumn",
    "_IdentityCategoricalColumn",
    "_IndicatorColumn",
    "_LazyBuilder",
    "_LinearModel",
    "_NumericColumn",
    "_SequenceCategoricalColumn",
    "_SequenceDenseColumn",
    "_SharedEmbeddingColumn",
    "_VocabularyFileCategoricalColumn",
    "_VocabularyListCategoricalColumn",
    "_WeightedCategoricalColumn",
    "_bucketized_column",
    "_categorical_column_with_hash_bucket",
    "_categorical_column_with_identity",
    "_categorical_column_with_vocabulary_file",
    "_categorical_column_with_vocabulary_list",
    "_check_shape",
    "_crossed_column",
    "_embedding_column",
    "_indicator_column",
    "_internal_input_layer",
    "_numeric_column",
    "_to_sparse_input_and_drop_ignore_values",
    "_transform_features",
    "_verify_static_batch_size_equality",
    "_weighted_categorical_column",
]
