"""The feature columns of `tf.contrib.layers`, which are older than those of `tf.feature_column`.

A column says how a model takes in a feature; `protocol` tells what it has to be. Columns make
tensors of features (`transformation`), which networks put side by side (`input_layers`) and linear
models add up (`weighted_sums`).
"""

from penstock.contrib.layers.columns.bucketized import bucketized_column
from penstock.contrib.layers.columns.crossed import crossed_column
from penstock.contrib.layers.columns.embedding import (
    embedding_column,
    scattered_embedding_column,
    shared_embedding_columns,
)
from penstock.contrib.layers.columns.input_layers import (
    input_from_feature_columns,
    sequence_input_from_feature_columns,
)
from penstock.contrib.layers.columns.one_hot import one_hot_column
from penstock.contrib.layers.columns.parsing import (
    create_feature_spec_for_parsing,
    make_place_holder_tensors_for_base_features,
    parse_feature_columns_from_examples,
    parse_feature_columns_from_sequence_examples,
)
from penstock.contrib.layers.columns.real_valued import (
    real_valued_column,
)
from penstock.contrib.layers.columns.sparse import (
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from penstock.contrib.layers.columns.transformation import (
    check_feature_columns,
    infer_real_valued_columns,
    transform_features,
)
from penstock.contrib.layers.columns.weighted_sums import (
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)

__all__ = [
    "bucketized_column",
    "check_feature_columns",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "infer_real_valued_columns",
    "input_from_feature_columns",
    "joint_weighted_sum_from_feature_columns",
    "make_place_holder_tensors_for_base_features",
    "one_hot_column",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
    "real_valued_column",
    "scattered_embedding_column",
    "sequence_input_from_feature_columns",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "transform_features",
    "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
]
