"""Attrs that op types got after TensorFlow 1.15.

A node that has the default of such an attr is written without it, so that TensorFlow 1.x reads the
graph, too; whoever reads it fills the default in.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.registry import OpSpec

_OP_TYPES_BY_ATTR = {
    "Tcomplex": "IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "Tk": "TopKV2",
    "Treal": "IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D",
    "Tsegmentids": "SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments "
    "SparseSegmentSqrtN SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments SparseSegmentSum "
    "SparseSegmentSumWithNumSegments",
    "Tshape": "TensorListGetItem",
    "allow_missing_files": "MergeV2Checkpoints",
    "allow_stateful": "DatasetToGraph",
    "allowed_devices": "VarHandleOp",
    "auto_shard_policy": "AutoShardDataset ExperimentalAutoShardDataset",
    "axis": "Dequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeV2",
    "bad_indices_policy": "GatherNd ResourceScatterNdAdd ResourceScatterNdSub "
    "ResourceScatterNdUpdate ScatterNd ScatterNdAdd ScatterNdNonAliasingAdd ScatterNdSub "
    "ScatterNdUpdate TensorScatterAdd TensorScatterSub TensorScatterUpdate",
    "batch_padding_policy": "BatchFunction",
    "blank_index": "CTCGreedyDecoder",
    "buffer_size_min": "PrefetchDataset",
    "cardinality_options": "DatasetCardinality",
    "debug_name": "VarHandleOp",
    "drop_remainder": "SlidingWindowDataset",
    "dtype": "Dequantize",
    "enable_large_batch_splitting": "BatchFunction",
    "ensure_minimum_range": "QuantizeV2",
    "explicit_paddings": "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter "
    "DepthwiseConv2dNativeBackpropInput MaxPool MaxPoolGrad",
    "exponential_avg_factor": "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    "external_state_policy": "SerializeIterator",
    "fill_mode": "ImageProjectiveTransformV2",
    "force_synchronous": "ExperimentalMapDataset MapDataset",
    "grad_a": "MatMul",
    "grad_b": "MatMul",
    "grad_x": "BatchMatMul BatchMatMulV2",
    "grad_y": "BatchMatMul BatchMatMulV2",
    "index_type": "TopKV2",
    "is_files": "TensorSliceDataset",
    "log_warning": "ExperimentalIgnoreErrorsDataset IgnoreErrorsDataset",
    "logits_dimension": "BoostedTreesUpdateEnsembleV2",
    "low_priority_allowed_batch_sizes": "BatchFunction",
    "low_priority_batch_timeout_micros": "BatchFunction",
    "low_priority_max_batch_size": "BatchFunction",
    "low_priority_max_enqueued_batches": "BatchFunction",
    "metadata": "BatchDataset BatchDatasetV2 CacheDataset ConcatenateDataset "
    "DatasetToSingleElement FilterDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 "
    "FlatMapDataset GeneratorDataset GroupByWindowDataset InterleaveDataset MapAndBatchDataset "
    "MapDataset PaddedBatchDataset PaddedBatchDatasetV2 ParallelInterleaveDataset "
    "ParallelInterleaveDatasetV2 ParallelMapDataset PrefetchDataset RandomDataset RangeDataset "
    "ReduceDataset RepeatDataset ScanDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset "
    "SkipDataset TFRecordDataset TakeDataset TakeWhileDataset TensorDataset TensorSliceDataset "
    "TextLineDataset UnbatchDataset UniqueDataset WindowDataset ZipDataset",
    "mixed_priority_policy": "BatchFunction",
    "mode": "SnapshotDataset",
    "multiply_linear_by_lr": "ApplyFtrl ApplyFtrlV2 ResourceApplyFtrl ResourceApplyFtrlV2 "
    "ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2 SparseApplyFtrl SparseApplyFtrlV2",
    "narrow_range": "Dequantize QuantizeV2",
    "num_groups": "BoostedTreesUpdateEnsembleV2",
    "num_replicas": "AutoShardDataset",
    "offset": "InitializeTableFromTextFile InitializeTableFromTextFileV2",
    "perturb_singular": "TridiagonalSolve",
    "ragged_split_types": "ParseExampleDataset",
    "ragged_value_types": "ParseExampleDataset",
    "ragged_keys": "ParseExampleDataset",
    "ram_budget": "ModelDataset",
    "replicate_on_split": "RangeDataset TensorSliceDataset",
    "reshuffle_each_iteration": "ShuffleAndRepeatDataset",
    "resize_if_index_out_of_bounds": "TensorListSetItem",
    "seed": "SnapshotDataset",
    "seed2": "SnapshotDataset",
    "shape_type": "ConcatOffset",
    "shuffle_on_read": "SnapshotDataset",
    "snapshot_name": "SnapshotDataset",
    "sparse_gradient": "SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
    "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments",
    "stop_on_empty_dataset": "DirectedInterleaveDataset",
    "strip_device_assignment": "DatasetToGraph",
    "timeout_seconds": "CollectiveBcastRecv CollectiveBcastSend CollectiveGather CollectiveReduce",
    "use_default_device": "ScanDataset",
    "validate_shape": "AssignVariableOp",
}
LATER_ATTRS = frozenset(
    (op_type, key) for key, op_types in _OP_TYPES_BY_ATTR.items() for op_type in op_types.split()
)


def is_later_default(spec: OpSpec, key: str, value: Any) -> bool:
    """Whether TensorFlow 1.15's op has no such attr, and the node does not need it."""
    return (spec.name, key) in LATER_ATTRS and value == spec.attrs[key].default
