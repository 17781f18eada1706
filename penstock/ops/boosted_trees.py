"""Op types of boosted trees: an ensemble behind a handle, statistics of splits, growing, asking."""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import READS, STATEFUL, WRITES, attr, not_differentiable, op
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank, with_size
from penstock.shapes import Shape

_FEATURES: dict[str, Any] = {"num_features": attr("int", minimum=0)}
_SPLITS: dict[str, Any] = {
    "max_splits": attr("int", minimum=1),
    "num_buckets": attr("int", minimum=1),
}
_SPLIT_OUTPUTS = (
    "node_ids: int32, gains: float32, feature_dimensions: int32, thresholds: int32, "
    "left_node_contribs: float32, right_node_contribs: float32, "
    "split_with_default_directions: string"
)

# The ensemble ---------------------------------------------------------------------------------

BoostedTreesEnsembleResourceHandleOp = op(
    "BoostedTreesEnsembleResourceHandleOp() -> resource: resource",
    STATEFUL,
    container="",
    shared_name="",
)
IsBoostedTreesEnsembleInitialized = op(
    "IsBoostedTreesEnsembleInitialized(tree_ensemble_handle: resource) -> is_initialized: bool",
    STATEFUL,
    READS,
)
BoostedTreesCreateEnsemble = op(
    "BoostedTreesCreateEnsemble(tree_ensemble_handle: resource, stamp_token: int64, "
    "tree_ensemble_serialized: string)",
    STATEFUL,
    WRITES,
)
BoostedTreesDeserializeEnsemble = op(
    "BoostedTreesDeserializeEnsemble(tree_ensemble_handle: resource, stamp_token: int64, "
    "tree_ensemble_serialized: string)",
    STATEFUL,
    WRITES,
)
BoostedTreesSerializeEnsemble = op(
    "BoostedTreesSerializeEnsemble(tree_ensemble_handle: resource) -> stamp_token: int64, "
    "tree_ensemble_serialized: string",
    STATEFUL,
    READS,
)
BoostedTreesGetEnsembleStates = op(
    "BoostedTreesGetEnsembleStates(tree_ensemble_handle: resource) -> stamp_token: int64, "
    "num_trees: int32, num_finalized_trees: int32, num_attempted_layers: int32, "
    "last_layer_nodes_range: int32",
    STATEFUL,
    READS,
)


@BoostedTreesEnsembleResourceHandleOp.shape
@IsBoostedTreesEnsembleInitialized.shape
def _(op: Operation, *handle: Shape) -> Shape:
    return ()


@BoostedTreesCreateEnsemble.shape
@BoostedTreesDeserializeEnsemble.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    for scalar in inputs:
        with_rank(scalar, 0)
    return None


@BoostedTreesSerializeEnsemble.shape
def _(op: Operation, handle: Shape) -> list[Shape]:
    return [(), ()]


@BoostedTreesGetEnsembleStates.shape
def _(op: Operation, handle: Shape) -> list[Shape]:
    return [(), (), (), (), (2,)]


# Growing --------------------------------------------------------------------------------------

BoostedTreesUpdateEnsemble = op(
    "BoostedTreesUpdateEnsemble(tree_ensemble_handle: resource, feature_ids: int32, "
    "node_ids: num_features*int32, gains: num_features*float32, thresholds: num_features*int32, "
    "left_node_contribs: num_features*float32, right_node_contribs: num_features*float32, "
    "max_depth: int32, learning_rate: float32)",
    STATEFUL,
    WRITES,
    pruning_mode=attr("int", minimum=0),
    **_FEATURES,
)
BoostedTreesUpdateEnsembleV2 = op(
    "BoostedTreesUpdateEnsembleV2(tree_ensemble_handle: resource, feature_ids: num_groups*int32, "
    "dimension_ids: num_features*int32, node_ids: num_features*int32, "
    "gains: num_features*float32, thresholds: num_features*int32, "
    "left_node_contribs: num_features*float32, right_node_contribs: num_features*float32, "
    "split_types: num_features*string, max_depth: int32, learning_rate: float32, "
    "pruning_mode: int32)",
    STATEFUL,
    WRITES,
    **_FEATURES,
    logits_dimension=1,
    num_groups=attr("int", 1, minimum=1),
)
BoostedTreesCenterBias = op(
    "BoostedTreesCenterBias(tree_ensemble_handle: resource, mean_gradients: float32, "
    "mean_hessians: float32, l1: float32, l2: float32) -> continue_centering: bool",
    STATEFUL,
    WRITES,
)


@BoostedTreesUpdateEnsemble.shape
def _(op: Operation, handle: Shape, feature_ids: Shape, *candidates: Shape) -> Shape:
    count = op.attrs["num_features"]
    merge_shapes(feature_ids, (count,))
    _check_candidates(candidates[:-2], count, ranks=(1, 1, 1, 2, 2))
    return None


@BoostedTreesUpdateEnsembleV2.shape
def _(op: Operation, handle: Shape, *inputs: Shape) -> Shape:
    groups, count = op.attrs["num_groups"], op.attrs["num_features"]
    if groups == 1:
        merge_shapes(inputs[0], (count,))
    _check_candidates(inputs[groups:-3], count, ranks=(1, 1, 1, 1, 2, 2, 1))
    return None


def _check_candidates(shapes: tuple[Shape, ...], count: int, ranks: tuple[int, ...]) -> None:
    """Checks the lists, of `count` tensors each, that describe the candidates of a feature."""
    for feature in range(count):
        size: int | None = None
        for number, rank in enumerate(ranks):
            size = merge_sizes(size, with_rank(shapes[number * count + feature], rank)[0])


@BoostedTreesCenterBias.shape
def _(op: Operation, handle: Shape, gradients: Shape, hessians: Shape, *scalars: Shape) -> Shape:
    merge_shapes(with_rank(gradients, 2), with_rank(hessians, 2))
    for scalar in scalars:
        with_rank(scalar, 0)
    return ()


# Asking ---------------------------------------------------------------------------------------

BoostedTreesTrainingPredict = op(
    "BoostedTreesTrainingPredict(tree_ensemble_handle: resource, cached_tree_ids: int32, "
    "cached_node_ids: int32, bucketized_features: num_bucketized_features*int32) "
    "-> partial_logits: float32, tree_ids: int32, node_ids: int32",
    STATEFUL,
    READS,
    logits_dimension=attr("int"),
)
BoostedTreesPredict = op(
    "BoostedTreesPredict(tree_ensemble_handle: resource, "
    "bucketized_features: num_bucketized_features*int32) -> logits: float32",
    STATEFUL,
    READS,
    logits_dimension=attr("int"),
)
BoostedTreesExampleDebugOutputs = op(
    "BoostedTreesExampleDebugOutputs(tree_ensemble_handle: resource, "
    "bucketized_features: num_bucketized_features*int32) "
    "-> examples_debug_outputs_serialized: string",
    STATEFUL,
    READS,
    logits_dimension=attr("int"),
)


def _batch_size(vectors: tuple[Shape, ...]) -> int | None:
    size: int | None = None
    for vector in vectors:
        size = merge_sizes(size, with_rank(vector, 1)[0])
    return size


@BoostedTreesTrainingPredict.shape
def _(op: Operation, handle: Shape, *vectors: Shape) -> list[Shape]:
    size = _batch_size(vectors)
    return [(size, op.attrs["logits_dimension"]), (size,), (size,)]


@BoostedTreesPredict.shape
def _(op: Operation, handle: Shape, *features: Shape) -> Shape:
    return _batch_size(features), op.attrs["logits_dimension"]


@BoostedTreesExampleDebugOutputs.shape
def _(op: Operation, handle: Shape, *features: Shape) -> Shape:
    return (_batch_size(features),)


# Statistics -----------------------------------------------------------------------------------

BoostedTreesMakeStatsSummary = op(
    "BoostedTreesMakeStatsSummary(node_ids: int32, gradients: float32, hessians: float32, "
    "bucketized_features_list: num_features*int32) -> stats_summary: float32",
    **_SPLITS,
)
BoostedTreesAggregateStats = op(
    "BoostedTreesAggregateStats(node_ids: int32, gradients: float32, hessians: float32, "
    "feature: int32) -> stats_summary: float32",
    **_SPLITS,
)
BoostedTreesSparseAggregateStats = op(
    "BoostedTreesSparseAggregateStats(node_ids: int32, gradients: float32, hessians: float32, "
    "feature_indices: int32, feature_values: int32, feature_shape: int32) "
    "-> stats_summary_indices: int32, stats_summary_values: float32, stats_summary_shape: int32",
    **_SPLITS,
)
BoostedTreesCalculateBestGainsPerFeature = op(
    "BoostedTreesCalculateBestGainsPerFeature(node_id_range: int32, "
    "stats_summary_list: num_features*float32, l1: float32, l2: float32, "
    "tree_complexity: float32, min_node_weight: float32) -> node_ids_list: num_features*int32, "
    "gains_list: num_features*float32, thresholds_list: num_features*int32, "
    "left_node_contribs_list: num_features*float32, right_node_contribs_list: num_features*float32",
    max_splits=attr("int", minimum=1),
)
BoostedTreesCalculateBestFeatureSplit = op(
    "BoostedTreesCalculateBestFeatureSplit(node_id_range: int32, stats_summary: float32, "
    "l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32) "
    f"-> {_SPLIT_OUTPUTS}",
    logits_dimension=attr("int", minimum=1),
    split_type=attr("string", "inequality", allowed=("inequality", "equality")),
)
BoostedTreesSparseCalculateBestFeatureSplit = op(
    "BoostedTreesSparseCalculateBestFeatureSplit(node_id_range: int32, "
    "stats_summary_indices: int32, stats_summary_values: float32, stats_summary_shape: int32, "
    "l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32) "
    f"-> {_SPLIT_OUTPUTS}",
    logits_dimension=attr("int", minimum=1),
    split_type=attr("string", "inequality", allowed=("inequality",)),
)


def _stats_size(node_ids: Shape, gradients: Shape, hessians: Shape) -> int | None:
    """The number of sums of a bucket, which must be of one batch."""
    size = with_rank(node_ids, 1)[0]
    columns: list[int | None] = []
    for derivatives in (gradients, hessians):
        rows, column = with_rank(derivatives, 2)
        size = merge_sizes(size, rows)
        columns.append(column)
    first, second = columns
    return None if first is None or second is None else first + second


@BoostedTreesMakeStatsSummary.shape
def _(op: Operation, node_ids: Shape, gradients: Shape, hessians: Shape, *lists: Shape) -> Shape:
    _stats_size(node_ids, gradients, hessians)
    merge_sizes(with_rank(node_ids, 1)[0], _batch_size(lists))
    return op.attrs["num_features"], op.attrs["max_splits"], op.attrs["num_buckets"], 2


@BoostedTreesAggregateStats.shape
def _(op: Operation, node_ids: Shape, gradients: Shape, hessians: Shape, feature: Shape) -> Shape:
    stats = _stats_size(node_ids, gradients, hessians)
    rows, dimensions = with_rank(feature, 2)
    merge_sizes(with_rank(node_ids, 1)[0], rows)
    return op.attrs["max_splits"], dimensions, op.attrs["num_buckets"] + 1, stats


@BoostedTreesSparseAggregateStats.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    node_ids, gradients, hessians, indices, values, shape = inputs
    _stats_size(node_ids, gradients, hessians)
    with_rank(shape, 1)
    merge_sizes(with_rank(indices, 2)[0], with_rank(values, 1)[0])
    return [(None, 4), (None,), (4,)]


def _check_scalars(scalars: tuple[Shape, ...]) -> None:
    for scalar in scalars:
        with_rank(scalar, 0)


@BoostedTreesCalculateBestGainsPerFeature.shape
def _(op: Operation, node_id_range: Shape, *inputs: Shape) -> list[Shape]:
    count = op.attrs["num_features"]
    merge_shapes(node_id_range, (2,))
    for summary in inputs[:count]:
        with_size(with_rank(summary, 3)[2], 2)
    _check_scalars(inputs[count:])
    return [(None,)] * (3 * count) + [(None, 1)] * (2 * count)


@BoostedTreesCalculateBestFeatureSplit.shape
def _(op: Operation, node_id_range: Shape, summary: Shape, *scalars: Shape) -> list[Shape]:
    merge_shapes(node_id_range, (2,))
    with_rank(summary, 4)
    _check_scalars(scalars)
    return _split_shapes(op.attrs["logits_dimension"])


@BoostedTreesSparseCalculateBestFeatureSplit.shape
def _(op: Operation, node_id_range: Shape, *inputs: Shape) -> list[Shape]:
    indices, values, shape, *scalars = inputs
    merge_shapes(node_id_range, (2,))
    merge_sizes(with_rank(indices, 2)[0], with_rank(values, 1)[0])
    merge_shapes(shape, (4,))
    _check_scalars(tuple(scalars))
    return _split_shapes(1)


def _split_shapes(logits: int) -> list[Shape]:
    return [(None,), (None,), (None,), (None,), (None, logits), (None, logits), (None,)]


not_differentiable(
    BoostedTreesTrainingPredict,
    BoostedTreesPredict,
    BoostedTreesMakeStatsSummary,
    BoostedTreesAggregateStats,
    BoostedTreesSparseAggregateStats,
    BoostedTreesCalculateBestGainsPerFeature,
    BoostedTreesCalculateBestFeatureSplit,
    BoostedTreesSparseCalculateBestFeatureSplit,
    BoostedTreesCenterBias,
)
