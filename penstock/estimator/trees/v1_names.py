"""Names that tests and programs know parts of boosted trees by."""

from penstock.estimator.trees.caches import TableCache as _CacheTrainingStatesUsingHashTable
from penstock.estimator.trees.caches import VariablesCache as _CacheTrainingStatesUsingVariables
from penstock.estimator.trees.explanations import DEBUG_PROTO_KEY as _DEBUG_PROTO_KEY
from penstock.estimator.trees.explanations import (
    summed_by_name as _sum_by_feature_col_name_and_sort,
)
from penstock.estimator.trees.features import feature_names as _generate_feature_col_name_mapping
from penstock.estimator.trees.growers import TreeHParams as _TreeHParams
from penstock.estimator.trees.model import StopAtAttemptsHook as _StopAtAttemptsHook
from penstock.estimator.trees.model import trees_model_fn as _bt_model_fn

__all__ = [
    "_DEBUG_PROTO_KEY",
    "_CacheTrainingStatesUsingHashTable",
    "_CacheTrainingStatesUsingVariables",
    "_StopAtAttemptsHook",
    "_TreeHParams",
    "_bt_model_fn",
    "_generate_feature_col_name_mapping",
    "_sum_by_feature_col_name_and_sort",
]
