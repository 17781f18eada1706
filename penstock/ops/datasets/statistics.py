"""Statistics of pipelines: datasets that record them, and the resource that adds them up."""

from __future__ import annotations

from penstock.ir.registry import STATEFUL, op
from penstock.ops.datasets.elements import ELEMENTS, dataset_handles, scalar

StatsAggregatorHandle = op(
    "StatsAggregatorHandle() -> handle: resource", STATEFUL, container="", shared_name=""
)
ExperimentalStatsAggregatorHandle = op(
    "ExperimentalStatsAggregatorHandle() -> handle: resource",
    STATEFUL,
    container="",
    shared_name="",
)
StatsAggregatorSummary = op(
    "StatsAggregatorSummary(iterator: resource) -> summary: string", STATEFUL
)
ExperimentalStatsAggregatorSummary = op(
    "ExperimentalStatsAggregatorSummary(iterator: resource) -> summary: string", STATEFUL
)
StatsAggregatorHandleV2 = op(
    "StatsAggregatorHandleV2() -> handle: resource", STATEFUL, container="", shared_name=""
)
StatsAggregatorSetSummaryWriter = op(
    "StatsAggregatorSetSummaryWriter(stats_aggregator: resource, summary: resource)", STATEFUL
)
SetStatsAggregatorDataset = op(
    "SetStatsAggregatorDataset(input_dataset: variant, stats_aggregator: resource, tag: string, "
    "counter_prefix: string) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
ExperimentalSetStatsAggregatorDataset = op(
    "ExperimentalSetStatsAggregatorDataset(input_dataset: variant, stats_aggregator: resource, "
    "tag: string, counter_prefix: string) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
LatencyStatsDataset = op(
    "LatencyStatsDataset(input_dataset: variant, tag: string) -> handle: variant", **ELEMENTS
)
ExperimentalLatencyStatsDataset = op(
    "ExperimentalLatencyStatsDataset(input_dataset: variant, tag: string) -> handle: variant",
    **ELEMENTS,
)
BytesProducedStatsDataset = op(
    "BytesProducedStatsDataset(input_dataset: variant, tag: string) -> handle: variant",
    **ELEMENTS,
)
ExperimentalBytesProducedStatsDataset = op(
    "ExperimentalBytesProducedStatsDataset(input_dataset: variant, tag: string) -> handle: variant",
    **ELEMENTS,
)

dataset_handles(
    SetStatsAggregatorDataset,
    ExperimentalSetStatsAggregatorDataset,
    LatencyStatsDataset,
    ExperimentalLatencyStatsDataset,
    BytesProducedStatsDataset,
    ExperimentalBytesProducedStatsDataset,
)
for _spec in (
    StatsAggregatorHandle,
    ExperimentalStatsAggregatorHandle,
    StatsAggregatorHandleV2,
    StatsAggregatorSummary,
    ExperimentalStatsAggregatorSummary,
):
    _spec.shape(scalar)
