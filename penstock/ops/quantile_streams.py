"""Op types of quantile streams: boundaries of buckets for features that come in batches."""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import READS, STATEFUL, WRITES, attr, not_differentiable, op
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank
from penstock.shapes import Shape

_HANDLE = "quantile_stream_resource_handle: resource"
_COUNT = attr("int", minimum=0)

BoostedTreesQuantileStreamResourceHandleOp = op(
    "BoostedTreesQuantileStreamResourceHandleOp() -> resource: resource",
    STATEFUL,
    container="",
    shared_name="",
)
IsBoostedTreesQuantileStreamResourceInitialized = op(
    f"IsBoostedTreesQuantileStreamResourceInitialized({_HANDLE}) -> is_initialized: bool",
    STATEFUL,
    READS,
)
BoostedTreesCreateQuantileStreamResource = op(
    f"BoostedTreesCreateQuantileStreamResource({_HANDLE}, epsilon: float32, num_streams: int64)",
    STATEFUL,
    WRITES,
    max_elements=1099511627776,
)
BoostedTreesMakeQuantileSummaries = op(
    "BoostedTreesMakeQuantileSummaries(float_values: num_features*float32, "
    "example_weights: float32, epsilon: float32) -> summaries: num_features*float32",
    num_features=_COUNT,
)
BoostedTreesFlushQuantileSummaries = op(
    f"BoostedTreesFlushQuantileSummaries({_HANDLE}) -> summaries: num_features*float32",
    STATEFUL,
    WRITES,
    num_features=_COUNT,
)
BoostedTreesQuantileStreamResourceAddSummaries = op(
    f"BoostedTreesQuantileStreamResourceAddSummaries({_HANDLE}, summaries: num_features*float32)",
    STATEFUL,
    WRITES,
    num_features=_COUNT,
)
BoostedTreesQuantileStreamResourceDeserialize = op(
    f"BoostedTreesQuantileStreamResourceDeserialize({_HANDLE}, "
    "bucket_boundaries: num_streams*float32)",
    STATEFUL,
    WRITES,
)
BoostedTreesQuantileStreamResourceFlush = op(
    f"BoostedTreesQuantileStreamResourceFlush({_HANDLE}, num_buckets: int64)",
    STATEFUL,
    WRITES,
    generate_quantiles=False,
)
BoostedTreesQuantileStreamResourceGetBucketBoundaries = op(
    f"BoostedTreesQuantileStreamResourceGetBucketBoundaries({_HANDLE}) "
    "-> bucket_boundaries: num_features*float32",
    STATEFUL,
    READS,
    num_features=_COUNT,
)
BoostedTreesBucketize = op(
    "BoostedTreesBucketize(float_values: num_features*float32, "
    "bucket_boundaries: num_features*float32) -> buckets: num_features*int32",
    num_features=_COUNT,
)
not_differentiable(BoostedTreesMakeQuantileSummaries, BoostedTreesBucketize)


@BoostedTreesQuantileStreamResourceHandleOp.shape
@IsBoostedTreesQuantileStreamResourceInitialized.shape
def _(op: Operation, *handle: Shape) -> Shape:
    return ()


@BoostedTreesCreateQuantileStreamResource.shape
@BoostedTreesQuantileStreamResourceFlush.shape
def _(op: Operation, handle: Shape, *scalars: Shape) -> Shape:
    for scalar in scalars:
        with_rank(scalar, 0)
    return None


@BoostedTreesMakeQuantileSummaries.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    *features, weights, epsilon = inputs
    size = with_rank(weights, 1)[0]
    for feature in features:
        length = with_rank(feature, 1)[0]
        if size != 1:  # one weight may be for all
            merge_sizes(size, length)
    with_rank(epsilon, 0)
    return [(None, 4) for _ in features]


@BoostedTreesFlushQuantileSummaries.shape
def _(op: Operation, handle: Shape) -> list[Shape]:
    return [(None, 4)] * int(op.attrs["num_features"])


@BoostedTreesQuantileStreamResourceAddSummaries.shape
def _(op: Operation, handle: Shape, *summaries: Shape) -> Shape:
    for summary in summaries:
        merge_shapes(with_rank(summary, 2), (None, 4))
    return None


@BoostedTreesQuantileStreamResourceDeserialize.shape
def _(op: Operation, handle: Shape, *boundaries: Shape) -> Shape:
    for each in boundaries:
        with_rank(each, 1)
    return None


@BoostedTreesQuantileStreamResourceGetBucketBoundaries.shape
def _(op: Operation, handle: Shape) -> list[Shape]:
    return [(None,)] * int(op.attrs["num_features"])


@BoostedTreesBucketize.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    count = op.attrs["num_features"]
    for boundaries in inputs[count:]:
        with_rank(boundaries, 1)
    return [with_rank(values, 1) for values in inputs[:count]]
