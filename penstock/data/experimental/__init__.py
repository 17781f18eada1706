"""`tf.data.experimental`: further sources, transformations and options of pipelines."""

from penstock.data.dataset import AUTOTUNE, DatasetSpec, from_variant, get_structure, to_variant
from penstock.data.experimental.files import (
    CsvDataset,
    SqlDataset,
    make_batched_features_dataset,
    make_csv_dataset,
    parse_example_dataset,
)
from penstock.data.experimental.grouping import (
    Reducer,
    bucket_by_sequence_length,
    group_by_reducer,
    group_by_window,
)
from penstock.data.experimental.optional import Optional, OptionalSpec, get_next_as_optional
from penstock.data.experimental.pipeline_hook import CheckpointInputPipelineHook
from penstock.data.experimental.sampling import (
    Counter,
    RandomDataset,
    choose_from_datasets,
    rejection_resample,
    sample_from_datasets,
)
from penstock.data.experimental.statistics import (
    StatsAggregator,
    bytes_produced_stats,
    latency_stats,
)
from penstock.data.experimental.transformations import (
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    ignore_errors,
    map_and_batch,
    map_and_batch_with_legacy_function,
    parallel_interleave,
    prefetch_to_device,
    scan,
    shuffle_and_repeat,
    take_while,
    unbatch,
    unique,
)
from penstock.data.experimental.whole import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    TFRecordWriter,
    cardinality,
    get_single_element,
    make_saveable_from_iterator,
)
from penstock.data.options import (
    DistributeOptions,
    MapVectorizationOptions,
    OptimizationOptions,
    StatsOptions,
    ThreadingOptions,
)
from penstock.ir.sparse_tensor_spec import SparseTensorSpec
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec
from penstock.ops.tensor_array_spec import TensorArraySpec

__all__ = [
    "AUTOTUNE",
    "INFINITE",
    "INFINITE_CARDINALITY",
    "UNKNOWN",
    "UNKNOWN_CARDINALITY",
    "CheckpointInputPipelineHook",
    "Counter",
    "CsvDataset",
    "DatasetSpec",
    "DatasetStructure",
    "DistributeOptions",
    "MapVectorizationOptions",
    "OptimizationOptions",
    "Optional",
    "OptionalSpec",
    "OptionalStructure",
    "RandomDataset",
    "Reducer",
    "SparseTensorSpec",
    "SparseTensorStructure",
    "SqlDataset",
    "StatsAggregator",
    "StatsOptions",
    "Structure",
    "TFRecordWriter",
    "TensorArrayStructure",
    "TensorSpec",
    "TensorStructure",
    "ThreadingOptions",
    "bucket_by_sequence_length",
    "bytes_produced_stats",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "from_variant",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "latency_stats",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "map_and_batch_with_legacy_function",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
]

DatasetStructure = DatasetSpec
OptionalStructure = OptionalSpec
Structure = TypeSpec
INFINITE = INFINITE_CARDINALITY
UNKNOWN = UNKNOWN_CARDINALITY


def TensorStructure(dtype: object, shape: object) -> TensorSpec:
    """The spec of a tensor, its type first."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: object, shape: object) -> SparseTensorSpec:
    """The spec of a sparse tensor, its type first."""
    return SparseTensorSpec(shape, dtype)


def TensorArrayStructure(
    dtype: object, element_shape: object, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """The spec of an array of tensors, its type first."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
