"""Datasets that call a function of the graph for their elements."""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ir.type_sets import FEATURE, INDEX
from penstock.ops.datasets.elements import ANY_TYPES, ELEMENTS, dataset_handles
from penstock.shapes import Shape

MapDataset = op(
    "MapDataset(input_dataset: variant, other_arguments: *Targuments) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    use_inter_op_parallelism=True,
    preserve_cardinality=False,
    force_synchronous=False,
    metadata="",
)
ExperimentalMapDataset = op(
    "ExperimentalMapDataset(input_dataset: variant, other_arguments: *Targuments) "
    "-> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    use_inter_op_parallelism=True,
    preserve_cardinality=False,
    force_synchronous=False,
)
ParallelMapDataset = op(
    "ParallelMapDataset(input_dataset: variant, other_arguments: *Targuments, "
    "num_parallel_calls: int32) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    use_inter_op_parallelism=True,
    sloppy=False,
    preserve_cardinality=False,
    metadata="",
)
ParallelMapDatasetV2 = op(
    "ParallelMapDatasetV2(input_dataset: variant, other_arguments: *Targuments, "
    "num_parallel_calls: int64) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    use_inter_op_parallelism=True,
    deterministic="default",
    preserve_cardinality=False,
    use_unbounded_threadpool=False,
    metadata="",
)
FlatMapDataset = op(
    "FlatMapDataset(input_dataset: variant, other_arguments: *Targuments) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
InterleaveDataset = op(
    "InterleaveDataset(input_dataset: variant, other_arguments: *Targuments, cycle_length: int64, "
    "block_length: int64) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
ParallelInterleaveDataset = op(
    "ParallelInterleaveDataset(input_dataset: variant, other_arguments: *Targuments, "
    "cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, "
    "prefetch_input_elements: int64) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
ParallelInterleaveDatasetV2 = op(
    "ParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: *Targuments, "
    "cycle_length: int64, block_length: int64, num_parallel_calls: int64) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    sloppy=False,
    metadata="",
)
ParallelInterleaveDatasetV3 = op(
    "ParallelInterleaveDatasetV3(input_dataset: variant, other_arguments: *Targuments, "
    "cycle_length: int64, block_length: int64, num_parallel_calls: int64) -> handle: variant",
    f=attr("func"),
    deterministic="default",
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
ParallelInterleaveDatasetV4 = op(
    "ParallelInterleaveDatasetV4(input_dataset: variant, other_arguments: *Targuments, "
    "cycle_length: int64, block_length: int64, buffer_output_elements: int64, "
    "prefetch_input_elements: int64, num_parallel_calls: int64) -> handle: variant",
    f=attr("func"),
    deterministic="default",
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
LegacyParallelInterleaveDatasetV2 = op(
    "LegacyParallelInterleaveDatasetV2(input_dataset: variant, other_arguments: *Targuments, "
    "cycle_length: int64, block_length: int64, buffer_output_elements: int64, "
    "prefetch_input_elements: int64) -> handle: variant",
    f=attr("func"),
    deterministic="default",
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
ExperimentalParallelInterleaveDataset = op(
    "ExperimentalParallelInterleaveDataset(input_dataset: variant, other_arguments: *Targuments, "
    "cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, "
    "prefetch_input_elements: int64) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
)
FilterDataset = op(
    "FilterDataset(input_dataset: variant, other_arguments: *Targuments) -> handle: variant",
    predicate=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
MapAndBatchDataset = op(
    "MapAndBatchDataset(input_dataset: variant, other_arguments: *Targuments, batch_size: int64, "
    "num_parallel_calls: int64, drop_remainder: bool) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    preserve_cardinality=False,
    metadata="",
)
ExperimentalMapAndBatchDataset = op(
    "ExperimentalMapAndBatchDataset(input_dataset: variant, other_arguments: *Targuments, "
    "batch_size: int64, num_parallel_calls: int64, drop_remainder: bool) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    preserve_cardinality=False,
)
GroupByWindowDataset = op(
    "GroupByWindowDataset(input_dataset: variant, "
    "key_func_other_arguments: *Tkey_func_other_arguments, "
    "reduce_func_other_arguments: *Treduce_func_other_arguments, "
    "window_size_func_other_arguments: *Twindow_size_func_other_arguments) -> handle: variant",
    key_func=attr("func"),
    reduce_func=attr("func"),
    window_size_func=attr("func"),
    Tkey_func_other_arguments=ANY_TYPES,
    Treduce_func_other_arguments=ANY_TYPES,
    Twindow_size_func_other_arguments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
ExperimentalGroupByWindowDataset = op(
    "ExperimentalGroupByWindowDataset(input_dataset: variant, "
    "key_func_other_arguments: *Tkey_func_other_arguments, "
    "reduce_func_other_arguments: *Treduce_func_other_arguments, "
    "window_size_func_other_arguments: *Twindow_size_func_other_arguments) -> handle: variant",
    key_func=attr("func"),
    reduce_func=attr("func"),
    window_size_func=attr("func"),
    Tkey_func_other_arguments=ANY_TYPES,
    Treduce_func_other_arguments=ANY_TYPES,
    Twindow_size_func_other_arguments=ANY_TYPES,
    **ELEMENTS,
)
GroupByReducerDataset = op(
    "GroupByReducerDataset(input_dataset: variant, "
    "key_func_other_arguments: *Tkey_func_other_arguments, "
    "init_func_other_arguments: *Tinit_func_other_arguments, "
    "reduce_func_other_arguments: *Treduce_func_other_arguments, "
    "finalize_func_other_arguments: *Tfinalize_func_other_arguments) -> handle: variant",
    STATEFUL,
    key_func=attr("func"),
    init_func=attr("func"),
    reduce_func=attr("func"),
    finalize_func=attr("func"),
    Tkey_func_other_arguments=ANY_TYPES,
    Tinit_func_other_arguments=ANY_TYPES,
    Treduce_func_other_arguments=ANY_TYPES,
    Tfinalize_func_other_arguments=ANY_TYPES,
    **ELEMENTS,
)
ExperimentalGroupByReducerDataset = op(
    "ExperimentalGroupByReducerDataset(input_dataset: variant, "
    "key_func_other_arguments: *Tkey_func_other_arguments, "
    "init_func_other_arguments: *Tinit_func_other_arguments, "
    "reduce_func_other_arguments: *Treduce_func_other_arguments, "
    "finalize_func_other_arguments: *Tfinalize_func_other_arguments) -> handle: variant",
    STATEFUL,
    key_func=attr("func"),
    init_func=attr("func"),
    reduce_func=attr("func"),
    finalize_func=attr("func"),
    Tkey_func_other_arguments=ANY_TYPES,
    Tinit_func_other_arguments=ANY_TYPES,
    Treduce_func_other_arguments=ANY_TYPES,
    Tfinalize_func_other_arguments=ANY_TYPES,
    **ELEMENTS,
)
ScanDataset = op(
    "ScanDataset(input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments) "
    "-> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    preserve_cardinality=False,
    use_default_device=True,
    metadata="",
)
ExperimentalScanDataset = op(
    "ExperimentalScanDataset(input_dataset: variant, initial_state: *Tstate, "
    "other_arguments: *Targuments) -> handle: variant",
    f=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    preserve_cardinality=False,
)
TakeWhileDataset = op(
    "TakeWhileDataset(input_dataset: variant, other_arguments: *Targuments) -> handle: variant",
    predicate=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
    metadata="",
)
ExperimentalTakeWhileDataset = op(
    "ExperimentalTakeWhileDataset(input_dataset: variant, other_arguments: *Targuments) "
    "-> handle: variant",
    predicate=attr("func"),
    Targuments=ANY_TYPES,
    **ELEMENTS,
)
ReduceDataset = op(
    "ReduceDataset(input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments) "
    "-> components: *output_types",
    STATEFUL,
    f=attr("func"),
    Targuments=ANY_TYPES,
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
    use_inter_op_parallelism=True,
    metadata="",
)


PARSED = {
    "sparse_keys": attr("list(string)", minimum=0),
    "dense_keys": attr("list(string)", minimum=0),
    "sparse_types": attr("list(type)", allowed=FEATURE, minimum=0),
    "Tdense": attr("list(type)", allowed=FEATURE, minimum=0),
    "dense_shapes": attr("list(shape)", minimum=0),
}
ParseExampleDataset = op(
    "ParseExampleDataset(input_dataset: variant, num_parallel_calls: int64, "
    "dense_defaults: *Tdense) -> handle: variant",
    **PARSED,
    **ELEMENTS,
    sloppy=False,
    ragged_keys=attr("list(string)", [], minimum=0),
    ragged_value_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    ragged_split_types=attr("list(type)", [], allowed=INDEX, minimum=0),
)
ExperimentalParseExampleDataset = op(
    "ExperimentalParseExampleDataset(input_dataset: variant, num_parallel_calls: int64, "
    "dense_defaults: *Tdense) -> handle: variant",
    **PARSED,
    **ELEMENTS,
    sloppy=False,
)

dataset_handles(
    ParseExampleDataset,
    ExperimentalParseExampleDataset,
    MapDataset,
    ExperimentalMapDataset,
    ParallelMapDataset,
    ParallelMapDatasetV2,
    FlatMapDataset,
    InterleaveDataset,
    ParallelInterleaveDataset,
    ParallelInterleaveDatasetV2,
    ParallelInterleaveDatasetV3,
    ParallelInterleaveDatasetV4,
    LegacyParallelInterleaveDatasetV2,
    ExperimentalParallelInterleaveDataset,
    FilterDataset,
    MapAndBatchDataset,
    ExperimentalMapAndBatchDataset,
    GroupByWindowDataset,
    ExperimentalGroupByWindowDataset,
    GroupByReducerDataset,
    ExperimentalGroupByReducerDataset,
    ScanDataset,
    ExperimentalScanDataset,
    TakeWhileDataset,
    ExperimentalTakeWhileDataset,
)
not_differentiable(ReduceDataset)


@ReduceDataset.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return list(op.attrs["output_shapes"])
