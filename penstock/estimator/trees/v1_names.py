"""Names that tests and programs know parts of boosted trees by."""

from penstock.estimator.trees.caches import TableCache as _CacheTrainingStatesUsingHashTable
from penstock.estimator.trees.caches import VariablesCache as _CacheTrainingStatesUsingVariables
from penstock.estimator.trees.estimators import _BoostedTrees as _BoostedTreesBase
from penstock.estimator.trees.explanations import DEBUG_PROTO_KEY as _DEBUG_PROTO_KEY
from penstock.estimator.trees.explanations import (
    contributions as _parse_explanations_from_prediction,
)
from penstock.estimator.trees.explanations import (
    contributions_along as _compute_directional_feature_contributions,
)
from penstock.estimator.trees.explanations import (
    feature_importances as _compute_feature_importances,
)
from penstock.estimator.trees.explanations import identity as _identity
from penstock.estimator.trees.explanations import (
    importances_in_tree as _compute_feature_importances_per_tree,
)
from penstock.estimator.trees.explanations import path_of as _parse_debug_proto_string
from penstock.estimator.trees.explanations import sigmoid as _sigmoid
from penstock.estimator.trees.explanations import (
    summed_by_name as _sum_by_feature_col_name_and_sort,
)
from penstock.estimator.trees.features import boundaries_by_column as _get_float_boundaries_dict
from penstock.estimator.trees.features import feature_names as _generate_feature_col_name_mapping
from penstock.estimator.trees.features import grouped_by_buckets as _group_features_by_num_buckets
from penstock.estimator.trees.features import is_float_column as _is_float_column
from penstock.estimator.trees.growers import AccumulatorGrower as _AccumulatorEnsembleGrower
from penstock.estimator.trees.growers import EnsembleGrower as _EnsembleGrower
from penstock.estimator.trees.growers import InMemoryGrower as _InMemoryEnsembleGrower
from penstock.estimator.trees.growers import TreeHParams as _TreeHParams
from penstock.estimator.trees.heads import classification_head as _create_classification_head
from penstock.estimator.trees.heads import (
    classification_head_and_closed_form as _create_classification_head_and_closed_form,
)
from penstock.estimator.trees.heads import regression_head as _create_regression_head
from penstock.estimator.trees.model import StopAtAttemptsHook as _StopAtAttemptsHook
from penstock.estimator.trees.model import trees_model_fn as _bt_model_fn

__all__ = [
    "_DEBUG_PROTO_KEY",
    "_AccumulatorEnsembleGrower",
    "_BoostedTreesBase",
    "_CacheTrainingStatesUsingHashTable",
    "_CacheTrainingStatesUsingVariables",
    "_EnsembleGrower",
    "_InMemoryEnsembleGrower",
    "_StopAtAttemptsHook",
    "_TreeHParams",
    "_bt_model_fn",
    "_compute_directional_feature_contributions",
    "_compute_feature_importances",
    "_compute_feature_importances_per_tree",
    "_create_classification_head",
    "_create_classification_head_and_closed_form",
    "_create_regression_head",
    "_generate_feature_col_name_mapping",
    "_get_float_boundaries_dict",
    "_group_features_by_num_buckets",
    "_identity",
    "_is_float_column",
    "_parse_debug_proto_string",
    "_parse_explanations_from_prediction",
    "_sigmoid",
    "_sum_by_feature_col_name_and_sort",
]
