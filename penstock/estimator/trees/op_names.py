"""The functions of `tensorflow.python.ops.boosted_trees_ops`."""

from __future__ import annotations

from typing import Any

from penstock.estimator.trees.resources import (
    PruningMode,
    QuantileAccumulator,
    QuantileAccumulatorSaveable,
    TreeEnsemble,
)
from penstock.internal_paths import generated_ops as _ops

__all__ = [
    "PruningMode",
    "QuantileAccumulator",
    "QuantileAccumulatorSaveable",
    "TreeEnsemble",
    "update_ensemble_v2",
]

boosted_trees_aggregate_stats = _ops.boosted_trees_aggregate_stats
boosted_trees_bucketize = _ops.boosted_trees_bucketize
boosted_trees_sparse_aggregate_stats = _ops.boosted_trees_sparse_aggregate_stats
calculate_best_feature_split = _ops.boosted_trees_calculate_best_feature_split
calculate_best_gains_per_feature = _ops.boosted_trees_calculate_best_gains_per_feature
center_bias = _ops.boosted_trees_center_bias
create_quantile_stream_resource = _ops.boosted_trees_create_quantile_stream_resource
example_debug_outputs = _ops.boosted_trees_example_debug_outputs
get_bucket_boundaries = _ops.boosted_trees_quantile_stream_resource_get_bucket_boundaries
is_quantile_resource_initialized = _ops.is_boosted_trees_quantile_stream_resource_initialized
make_quantile_summaries = _ops.boosted_trees_make_quantile_summaries
make_stats_summary = _ops.boosted_trees_make_stats_summary
predict = _ops.boosted_trees_predict
quantile_add_summaries = _ops.boosted_trees_quantile_stream_resource_add_summaries
quantile_flush = _ops.boosted_trees_quantile_stream_resource_flush
quantile_resource_deserialize = _ops.boosted_trees_quantile_stream_resource_deserialize
quantile_resource_handle_op = _ops.boosted_trees_quantile_stream_resource_handle_op
sparse_calculate_best_feature_split = _ops.boosted_trees_sparse_calculate_best_feature_split
training_predict = _ops.boosted_trees_training_predict
update_ensemble = _ops.boosted_trees_update_ensemble


def update_ensemble_v2(
    tree_ensemble_handle: Any,
    feature_ids: Any,
    dimension_ids: Any,
    node_ids: Any,
    gains: Any,
    thresholds: Any,
    left_node_contribs: Any,
    right_node_contribs: Any,
    split_types: Any,
    max_depth: Any,
    learning_rate: Any,
    pruning_mode: Any,
    logits_dimension: int = 1,
    name: str | None = None,
) -> Any:
    """An operation that grows the last tree by a layer; `feature_ids` is one vector."""
    return _ops.boosted_trees_update_ensemble_v2(
        tree_ensemble_handle,
        [feature_ids],
        dimension_ids,
        node_ids,
        gains,
        thresholds,
        left_node_contribs,
        right_node_contribs,
        split_types,
        max_depth,
        learning_rate,
        pruning_mode,
        logits_dimension=logits_dimension,
        name=name,
    )
