"""Datasets that rearrange, select or buffer the elements of others."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ops.datasets.elements import ELEMENTS, dataset_handles, scalar
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

BatchDataset = op(
    "BatchDataset(input_dataset: variant, batch_size: int64) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
BatchDatasetV2 = op(
    "BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool) "
    "-> handle: variant",
    parallel_copy=False,
    **ELEMENTS,
    metadata="",
)
PaddedBatchDataset = op(
    "PaddedBatchDataset(input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
    "padding_values: *Toutput_types) -> handle: variant",
    output_shapes=attr("list(shape)", minimum=1),
    metadata="",
)
PaddedBatchDatasetV2 = op(
    "PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
    "padding_values: *Toutput_types, drop_remainder: bool) -> handle: variant",
    parallel_copy=False,
    output_shapes=attr("list(shape)", minimum=1),
    metadata="",
)
DenseToSparseBatchDataset = op(
    "DenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, row_shape: int64) "
    "-> handle: variant",
    **ELEMENTS,
)
ExperimentalDenseToSparseBatchDataset = op(
    "ExperimentalDenseToSparseBatchDataset(input_dataset: variant, batch_size: int64, "
    "row_shape: int64) -> handle: variant",
    **ELEMENTS,
)
UnbatchDataset = op(
    "UnbatchDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
ExperimentalUnbatchDataset = op(
    "ExperimentalUnbatchDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
)
WindowDataset = op(
    "WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, "
    "drop_remainder: bool) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
ShuffleDataset = op(
    "ShuffleDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64) "
    "-> handle: variant",
    reshuffle_each_iteration=True,
    **ELEMENTS,
    metadata="",
)
ShuffleAndRepeatDataset = op(
    "ShuffleAndRepeatDataset(input_dataset: variant, buffer_size: int64, seed: int64, "
    "seed2: int64, count: int64) -> handle: variant",
    **ELEMENTS,
    reshuffle_each_iteration=True,
    metadata="",
)
RepeatDataset = op(
    "RepeatDataset(input_dataset: variant, count: int64) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
TakeDataset = op(
    "TakeDataset(input_dataset: variant, count: int64) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
SkipDataset = op(
    "SkipDataset(input_dataset: variant, count: int64) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
ShardDataset = op(
    "ShardDataset(input_dataset: variant, num_shards: int64, index: int64) -> handle: variant",
    require_non_empty=False,
    **ELEMENTS,
    metadata="",
)
ShuffleDatasetV2 = op(
    "ShuffleDatasetV2(input_dataset: variant, buffer_size: int64, seed_generator: resource) "
    "-> handle: variant",
    STATEFUL,
    **ELEMENTS,
    metadata="",
)
AnonymousRandomSeedGenerator = op(
    "AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> handle: resource, deleter: variant",
    STATEFUL,
)
DeleteRandomSeedGenerator = op(
    "DeleteRandomSeedGenerator(handle: resource, deleter: variant)", STATEFUL
)
SamplingDataset = op(
    "SamplingDataset(input_dataset: variant, rate: float32, seed: int64, seed2: int64) "
    "-> handle: variant",
    **ELEMENTS,
)
CacheDatasetV2 = op(
    "CacheDatasetV2(input_dataset: variant, filename: string, cache: resource) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
    metadata="",
)
AnonymousMemoryCache = op("AnonymousMemoryCache() -> handle: resource, deleter: variant", STATEFUL)
DeleteMemoryCache = op("DeleteMemoryCache(handle: resource, deleter: variant)", STATEFUL)
CacheDataset = op(
    "CacheDataset(input_dataset: variant, filename: string) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
PrefetchDataset = op(
    "PrefetchDataset(input_dataset: variant, buffer_size: int64) -> handle: variant",
    **ELEMENTS,
    slack_period=0,
    legacy_autotune=True,
    buffer_size_min=0,
    metadata="",
)
ZipDataset = op(
    "ZipDataset(input_datasets: N*variant) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
ConcatenateDataset = op(
    "ConcatenateDataset(input_dataset: variant, another_dataset: variant) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
UniqueDataset = op(
    "UniqueDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
    metadata="",
)
ExperimentalUniqueDataset = op(
    "ExperimentalUniqueDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
)
IgnoreErrorsDataset = op(
    "IgnoreErrorsDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
    log_warning=False,
)
ExperimentalIgnoreErrorsDataset = op(
    "ExperimentalIgnoreErrorsDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
    log_warning=False,
)
DirectedInterleaveDataset = op(
    "DirectedInterleaveDataset(selector_input_dataset: variant, data_input_datasets: N*variant) "
    "-> handle: variant",
    **ELEMENTS,
    stop_on_empty_dataset=False,
)
ExperimentalDirectedInterleaveDataset = op(
    "ExperimentalDirectedInterleaveDataset(selector_input_dataset: variant, "
    "data_input_datasets: N*variant) -> handle: variant",
    **ELEMENTS,
)
SlidingWindowDataset = op(
    "SlidingWindowDataset(input_dataset: variant, window_size: int64, window_shift: int64, "
    "window_stride: int64) -> handle: variant",
    drop_remainder=True,
    **ELEMENTS,
)
ExperimentalSlidingWindowDataset = op(
    "ExperimentalSlidingWindowDataset(input_dataset: variant, window_size: int64, "
    "window_shift: int64, window_stride: int64) -> handle: variant",
    **ELEMENTS,
)
SleepDataset = op(
    "SleepDataset(input_dataset: variant, sleep_microseconds: int64) -> handle: variant",
    **ELEMENTS,
)
ExperimentalSleepDataset = op(
    "ExperimentalSleepDataset(input_dataset: variant, sleep_microseconds: int64) "
    "-> handle: variant",
    **ELEMENTS,
)
OptionsDataset = op(
    "OptionsDataset(input_dataset: variant) -> handle: variant",
    serialized_options=attr("string"),
    **ELEMENTS,
    metadata="",
)
OptimizeDataset = op(
    "OptimizeDataset(input_dataset: variant, optimizations: string) -> handle: variant",
    **ELEMENTS,
    optimization_configs=attr("list(string)", []),
)
ModelDataset = op(
    "ModelDataset(input_dataset: variant) -> handle: variant",
    algorithm=0,
    cpu_budget=0,
    ram_budget=0,
    **ELEMENTS,
)
MaxIntraOpParallelismDataset = op(
    "MaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64) "
    "-> handle: variant",
    **ELEMENTS,
)
ExperimentalMaxIntraOpParallelismDataset = op(
    "ExperimentalMaxIntraOpParallelismDataset(input_dataset: variant, "
    "max_intra_op_parallelism: int64) -> handle: variant",
    **ELEMENTS,
)
PrivateThreadPoolDataset = op(
    "PrivateThreadPoolDataset(input_dataset: variant, num_threads: int64) -> handle: variant",
    **ELEMENTS,
)
ExperimentalPrivateThreadPoolDataset = op(
    "ExperimentalPrivateThreadPoolDataset(input_dataset: variant, num_threads: int64) "
    "-> handle: variant",
    **ELEMENTS,
)
ThreadPoolHandle = op(
    "ThreadPoolHandle() -> handle: resource",
    STATEFUL,
    num_threads=attr("int"),
    max_intra_op_parallelism=1,
    display_name=attr("string"),
    container="",
    shared_name="",
)
ExperimentalThreadPoolHandle = op(
    "ExperimentalThreadPoolHandle() -> handle: resource",
    STATEFUL,
    num_threads=attr("int"),
    max_intra_op_parallelism=1,
    display_name=attr("string"),
    container="",
    shared_name="",
)
ThreadPoolDataset = op(
    "ThreadPoolDataset(input_dataset: variant, thread_pool: resource) -> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
ExperimentalThreadPoolDataset = op(
    "ExperimentalThreadPoolDataset(input_dataset: variant, thread_pool: resource) "
    "-> handle: variant",
    STATEFUL,
    **ELEMENTS,
)
AssertNextDataset = op(
    "AssertNextDataset(input_dataset: variant, transformations: string) -> handle: variant",
    **ELEMENTS,
)
ExperimentalAssertNextDataset = op(
    "ExperimentalAssertNextDataset(input_dataset: variant, transformations: string) "
    "-> handle: variant",
    **ELEMENTS,
)
NonSerializableDataset = op(
    "NonSerializableDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
)
ExperimentalNonSerializableDataset = op(
    "ExperimentalNonSerializableDataset(input_dataset: variant) -> handle: variant",
    **ELEMENTS,
)
AssertCardinalityDataset = op(
    "AssertCardinalityDataset(input_dataset: variant, cardinality: int64) -> handle: variant",
    **ELEMENTS,
)


dataset_handles(
    ThreadPoolDataset,
    ExperimentalThreadPoolDataset,
    BatchDataset,
    BatchDatasetV2,
    PaddedBatchDataset,
    PaddedBatchDatasetV2,
    DenseToSparseBatchDataset,
    ExperimentalDenseToSparseBatchDataset,
    UnbatchDataset,
    ExperimentalUnbatchDataset,
    WindowDataset,
    ShuffleDataset,
    ShuffleDatasetV2,
    ShuffleAndRepeatDataset,
    SamplingDataset,
    CacheDatasetV2,
    RepeatDataset,
    TakeDataset,
    SkipDataset,
    ShardDataset,
    CacheDataset,
    PrefetchDataset,
    ZipDataset,
    ConcatenateDataset,
    UniqueDataset,
    ExperimentalUniqueDataset,
    IgnoreErrorsDataset,
    ExperimentalIgnoreErrorsDataset,
    DirectedInterleaveDataset,
    ExperimentalDirectedInterleaveDataset,
    SlidingWindowDataset,
    ExperimentalSlidingWindowDataset,
    SleepDataset,
    ExperimentalSleepDataset,
    OptionsDataset,
    OptimizeDataset,
    ModelDataset,
    MaxIntraOpParallelismDataset,
    ExperimentalMaxIntraOpParallelismDataset,
    PrivateThreadPoolDataset,
    ExperimentalPrivateThreadPoolDataset,
    AssertNextDataset,
    ExperimentalAssertNextDataset,
    NonSerializableDataset,
    ExperimentalNonSerializableDataset,
    AssertCardinalityDataset,
)
ThreadPoolHandle.shape(scalar)
ExperimentalThreadPoolHandle.shape(scalar)
not_differentiable(
    AnonymousRandomSeedGenerator, DeleteRandomSeedGenerator, AnonymousMemoryCache, DeleteMemoryCache
)


@AnonymousRandomSeedGenerator.shape
@AnonymousMemoryCache.shape
def _(op: Any, *seeds: Shape) -> list[Shape]:
    for seed in seeds:
        with_rank(seed, 0)
    return [(), ()]
