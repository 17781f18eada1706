"""Op types of random forests: trees and statistics behind handles, growing them, asking them."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import READS, STATEFUL, WRITES, attr, not_differentiable, op
from penstock.shapes import Shape

_PARAMS: dict[str, Any] = {"params": attr("string")}
_DATA_SPEC: dict[str, Any] = {"input_spec": attr("string"), **_PARAMS}
_DATA = (
    "input_data: float32, sparse_input_indices: int64, sparse_input_values: float32, "
    "sparse_input_shape: int64"
)

DecisionTreeResourceHandleOp = op(
    "DecisionTreeResourceHandleOp() -> resource: resource", STATEFUL, container="", shared_name=""
)
FertileStatsResourceHandleOp = op(
    "FertileStatsResourceHandleOp() -> resource: resource", STATEFUL, container="", shared_name=""
)
TreeIsInitializedOp = op(
    "TreeIsInitializedOp(tree_handle: resource) -> is_initialized: bool", STATEFUL, READS
)
FertileStatsIsInitializedOp = op(
    "FertileStatsIsInitializedOp(stats_handle: resource) -> is_initialized: bool", STATEFUL, READS
)
CreateTreeVariable = op(
    "CreateTreeVariable(tree_handle: resource, tree_config: string)", STATEFUL, WRITES, **_PARAMS
)
CreateFertileStatsVariable = op(
    "CreateFertileStatsVariable(stats_handle: resource, stats_config: string)",
    STATEFUL,
    WRITES,
    **_PARAMS,
)
TreeSerialize = op("TreeSerialize(tree_handle: resource) -> tree_config: string", STATEFUL, READS)
TreeDeserialize = op(
    "TreeDeserialize(tree_handle: resource, tree_config: string)", STATEFUL, WRITES, **_PARAMS
)
FertileStatsSerialize = op(
    "FertileStatsSerialize(stats_handle: resource) -> stats_config: string",
    STATEFUL,
    READS,
    **_PARAMS,
)
FertileStatsDeserialize = op(
    "FertileStatsDeserialize(stats_handle: resource, stats_config: string)",
    STATEFUL,
    WRITES,
    **_PARAMS,
)
TreeSize = op("TreeSize(tree_handle: resource) -> tree_size: int32", STATEFUL, READS)
FeatureUsageCounts = op(
    "FeatureUsageCounts(tree_handle: resource) -> feature_counts: int32",
    STATEFUL,
    READS,
    **_PARAMS,
)
TraverseTreeV4 = op(
    f"TraverseTreeV4(tree_handle: resource, {_DATA}) -> leaf_ids: int32",
    STATEFUL,
    READS,
    **_DATA_SPEC,
)
TreePredictionsV4 = op(
    f"TreePredictionsV4(tree_handle: resource, {_DATA}) -> predictions: float32, "
    "tree_paths: string",
    STATEFUL,
    READS,
    **_DATA_SPEC,
)
UpdateModelV4 = op(
    "UpdateModelV4(tree_handle: resource, leaf_ids: int32, input_labels: float32, "
    "input_weights: float32)",
    STATEFUL,
    WRITES,
    **_PARAMS,
)
ProcessInputV4 = op(
    f"ProcessInputV4(tree_handle: resource, stats_handle: resource, {_DATA}, "
    "input_labels: float32, input_weights: float32, leaf_ids: int32) -> finished_nodes: int32",
    STATEFUL,
    WRITES,
    random_seed=attr("int"),
    **_DATA_SPEC,
)
GrowTreeV4 = op(
    "GrowTreeV4(tree_handle: resource, stats_handle: resource, finished_nodes: int32)",
    STATEFUL,
    WRITES,
    **_PARAMS,
)
FinalizeTree = op(
    "FinalizeTree(tree_handle: resource, stats_handle: resource)", STATEFUL, WRITES, **_PARAMS
)
ReinterpretStringToFloat = op(
    "ReinterpretStringToFloat(input_data: string) -> output_data: float32"
)

for _name in (
    "TreeSerialize TreeDeserialize TreeSize TreePredictionsV4 FeatureUsageCounts GrowTreeV4 "
    "FertileStatsSerialize FertileStatsDeserialize ProcessInputV4 FinalizeTree TraverseTreeV4 "
    "UpdateModelV4 ReinterpretStringToFloat"
).split():
    not_differentiable(_name)


@DecisionTreeResourceHandleOp.shape
@FertileStatsResourceHandleOp.shape
def _(op: Any) -> Shape:
    return ()


@TreeIsInitializedOp.shape
@FertileStatsIsInitializedOp.shape
@TreeSerialize.shape
@FertileStatsSerialize.shape
@TreeSize.shape
def _(op: Any, handle: Shape) -> Shape:
    return ()


@FeatureUsageCounts.shape
def _(op: Any, handle: Shape) -> Shape:
    return (None,)


@CreateTreeVariable.shape
@CreateFertileStatsVariable.shape
@TreeDeserialize.shape
@FertileStatsDeserialize.shape
@UpdateModelV4.shape
@GrowTreeV4.shape
@FinalizeTree.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return []


@TraverseTreeV4.shape
@ProcessInputV4.shape
def _(op: Any, *inputs: Shape) -> Shape:
    return (None,)


@TreePredictionsV4.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [(None, None), (None,)]


@ReinterpretStringToFloat.shape
def _(op: Any, input_data: Shape) -> Shape:
    return input_data
