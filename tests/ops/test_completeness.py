"""No op without a case, a CPU kernel and a shape rule."""

from __future__ import annotations

from pathlib import Path

from penstock.ir import registry
from penstock.ir.registry import OpSpec
from penstock.kernels import registry as kernels
from penstock.ops import boosted_trees, other_machines, quantile_streams
from penstock.ops.datasets import branches, iterators, mapped, rearranged, sources, statistics
from tests.ops.cases import cases_of, families
from tests.ops.opdefs import public_op_types

ROOT = Path(__file__).parents[2]

#: Ops that TensorFlow has no kernels for on CPUs either.
WITHOUT_KERNELS = {spec.name for spec in other_machines.OPS}

DATASET_OPS = [
    spec.name
    for module in (iterators, mapped, rearranged, sources)
    for spec in vars(module).values()
    if isinstance(spec, OpSpec)
]

# Ops that no case can be written for, and the test file that names them instead.
TESTED_ELSEWHERE: dict[str, str] = {
    # TensorFlow no longer makes nodes of these types, it only reads them in old GraphDefs.
    "PlaceholderV2": "tests/ops/test_placeholders.py",
    "RandomPoisson": "tests/ops/test_random.py",
    # TensorFlow 2 takes other shapes of parameters.
    "StatefulRandomBinomial": "tests/ops/test_random_generators.py",
    **dict.fromkeys(
        (
            *("BatchNormWithGlobalNormalization", "BatchNormWithGlobalNormalizationGrad"),
            *("Conv3DBackpropFilter", "Conv3DBackpropInput", "TileGrad", "ImmutableConst"),
            "CompareAndBitpack",
        ),
        "tests/ops/test_retired.py",
    ),
    **dict.fromkeys(
        ("MutexV2", "MutexLock", "ConsumeMutexLock"), "tests/ops/test_critical_sections.py"
    ),
    # TensorFlow's own kernel of this op can't be run.
    "MutableDenseHashTable": "tests/lookup/test_mutable.py",
    # What they make is nothing that TensorFlow shows.
    **dict.fromkeys(
        ("RaggedTensorToVariant", "RaggedTensorFromVariant"), "tests/ragged/test_in_datasets.py"
    ),
    # What they do is in the function that they call.
    **dict.fromkeys(
        (
            *("PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient", "FakeParam"),
            *("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "For"),
        ),
        "tests/ir/test_functions.py",
    ),
    # Only a whole loop, or a branch around a variable, means anything.
    **dict.fromkeys(
        (
            "Enter",
            "Exit",
            "LoopCond",
            "NextIteration",
            "RefEnter",
            "RefExit",
            "RefMerge",
            "RefNextIteration",
            "RefSelect",
            "RefSwitch",
        ),
        "tests/runtime/test_control_flow_primitives.py",
    ),
    **dict.fromkeys(
        [
            f"Stack{part}{version}"
            for part in ("", "Push", "Pop", "Close")
            for version in ("", "V2")
        ],
        "tests/ops/test_stacks.py",
    ),
    # Handles can't be compared; TensorFlow no longer makes arrays of the older types.
    **dict.fromkeys(
        [
            "TensorArrayV3",
            "TensorArrayGradV3",
            "TensorArrayGradWithShape",
            "TensorArrayCloseV3",
            "TensorArrayPack",
            "TensorArrayUnpack",
            *(
                f"TensorArray{access}{version}"
                for access in (
                    *("", "Grad", "Write", "Read", "Gather", "Scatter"),
                    *("Concat", "Split", "Size", "Close"),
                )
                for version in ("", "V2")
            ),
        ],
        "tests/ops/test_tensor_array.py",
    ),
    # Handles can't be compared: whole pipelines are recorded.
    **dict.fromkeys(DATASET_OPS, "tests/data_pipelines/test_older_ops.py"),
    **dict.fromkeys(
        [
            f"MultiDeviceIterator{part}"
            for part in ("", "Init", "GetNextFromShard", "ToStringHandle", "FromStringHandle")
        ],
        "tests/data_pipelines/test_multi_device_iterators.py",
    ),
    **dict.fromkeys(
        (
            *("DatasetToGraph", "DatasetFromGraph", "SnapshotDataset"),
            *("AutoShardDataset", "ExperimentalAutoShardDataset"),
        ),
        "tests/data_pipelines/test_pipeline_graphs.py",
    ),
    **dict.fromkeys(
        ("SqlDataset", "ExperimentalSqlDataset"), "tests/data_pipelines/test_sql_queries.py"
    ),
    # What they do takes several steps at once.
    **dict.fromkeys(
        ("Batch", "BatchFunction", "Unbatch", "UnbatchGrad"), "tests/ops/test_batching.py"
    ),
    # TensorFlow 2 has no kernels for them any more.
    **dict.fromkeys(
        [spec.name for spec in vars(boosted_trees).values() if isinstance(spec, OpSpec)],
        "tests/ops/test_boosted_trees.py",
    ),
    **dict.fromkeys(
        [spec.name for spec in vars(quantile_streams).values() if isinstance(spec, OpSpec)],
        "tests/ops/test_quantile_streams.py",
    ),
    # They read files.
    **dict.fromkeys(
        ("LMDBReader", "LMDBDataset", "ExperimentalLMDBDataset"),
        "tests/platform/test_lmdb_files.py",
    ),
    # It calls a function; lists can't be compared.
    **dict.fromkeys(("RemoteCall", "TensorListPushBackBatch"), "tests/ops/test_remote_calls.py"),
    # They visit examples in random order.
    **dict.fromkeys(
        ("SdcaOptimizer", "SdcaOptimizerV2", "SdcaShrinkL1", "SdcaFprint"), "tests/ops/test_sdca.py"
    ),
    # TensorFlow 2 does not find message types that a case could name.
    **dict.fromkeys(("DecodeProtoV2", "EncodeProto"), "tests/ops/test_proto_messages.py"),
    # They read and write files.
    **dict.fromkeys(
        (
            "MergeV2Checkpoints",
            "Restore",
            "RestoreSlice",
            "RestoreV2",
            "Save",
            "SaveSlices",
            "SaveV2",
        ),
        "tests/checkpoint/test_checkpoint_ops.py",
    ),
    **dict.fromkeys(
        ("LoadAndRemapMatrix", "GenerateVocabRemapping"), "tests/train/test_warm_starting.py"
    ),
    # Pixels are compared, not the bytes of the file format; TensorFlow lost the old kernel.
    **dict.fromkeys(("AudioSummary", "ImageSummary"), "tests/summary/test_summaries.py"),
    **dict.fromkeys(
        (
            *("SummaryWriter", "CreateSummaryFileWriter", "FlushSummaryWriter"),
            *("CloseSummaryWriter", "WriteSummary", "WriteRawProtoSummary", "WriteScalarSummary"),
            *("WriteHistogramSummary", "WriteImageSummary", "WriteAudioSummary"),
            *("WriteGraphSummary", "ImportEvent"),
        ),
        "tests/summary/test_op_writers.py",
    ),
    # They take several devices.
    **dict.fromkeys(
        [
            *(
                f"Collective{name}{version}"
                for name in ("Reduce", "Gather", "BcastSend", "BcastRecv")
                for version in ("", "V2")
            ),
            *("NcclAllReduce", "NcclReduce", "NcclBroadcast"),
        ],
        "tests/ops/test_collectives.py",
    ),
    # What they do is to wait for each other, and handles can't be compared.
    **dict.fromkeys(
        [
            f"{name}{version}"
            for name in (
                *("FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "RandomShuffleQueue"),
                *("QueueEnqueue", "QueueEnqueueMany", "QueueDequeue", "QueueDequeueMany"),
                *("QueueDequeueUpTo", "QueueClose", "QueueIsClosed", "QueueSize"),
            )
            for version in ("", "V2")
        ]
        + ["FakeQueue"],
        "tests/queues/test_queues.py",
    ),
    **dict.fromkeys(
        [
            f"{name}{version}"
            for name in (
                *("WholeFileReader", "TextLineReader", "FixedLengthRecordReader"),
                *("TFRecordReader", "IdentityReader", "ReaderRead", "ReaderReadUpTo"),
                *("ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderReset"),
                *("ReaderSerializeState", "ReaderRestoreState"),
            )
            for version in ("", "V2")
        ]
        + ["RecordInput"],
        "tests/queues/test_readers.py",
    ),
    **dict.fromkeys(
        [
            *("Stage", "Unstage", "StagePeek", "StageSize", "StageClear"),
            *(
                f"{kind}{access}"
                for kind in ("Map", "OrderedMap")
                for access in (
                    *("Stage", "Unstage", "UnstageNoKey", "Peek"),
                    *("Size", "IncompleteSize", "Clear"),
                )
            ),
            *("Barrier", "BarrierInsertMany", "BarrierTakeMany", "BarrierClose"),
            *("BarrierReadySize", "BarrierIncompleteSize"),
            *("ConditionalAccumulator", "ResourceConditionalAccumulator"),
            *(
                f"{kind}Accumulator{access}"
                for kind in ("", "Resource")
                for access in (
                    *("ApplyGradient", "TakeGradient", "NumAccumulated", "SetGlobalStep"),
                )
            ),
            *("SparseConditionalAccumulator", "SparseAccumulatorApplyGradient"),
            "SparseAccumulatorTakeGradient",
            *("GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor"),
            "DeleteSessionTensor",
        ],
        "tests/queues/test_coordinated_state.py",
    ),
    # Handles can't be compared.
    **dict.fromkeys(
        [
            "EmptyTensorList",
            *(
                f"TensorList{name}"
                for name in (
                    *("Reserve", "PushBack", "PopBack", "Length", "ElementShape", "Stack"),
                    *("FromTensor", "GetItem", "SetItem", "Gather", "Scatter", "ScatterV2"),
                    *("ScatterIntoExistingList", "Resize", "Concat", "ConcatV2", "Split"),
                    "ConcatLists",
                )
            ),
        ],
        "tests/ops/test_tensor_lists.py",
    ),
    **dict.fromkeys(
        [spec.name for spec in vars(branches).values() if isinstance(spec, OpSpec)],
        "tests/data_pipelines/test_branches.py",
    ),
    **dict.fromkeys(
        [spec.name for spec in vars(statistics).values() if isinstance(spec, OpSpec)],
        "tests/data_pipelines/test_statistics.py",
    ),
    **dict.fromkeys(
        ("StatsAggregatorHandleV2", "StatsAggregatorSetSummaryWriter"),
        "tests/data_pipelines/test_written_statistics.py",
    ),
    # Handles can't be compared, and TensorFlow 2 has no kernels for the others.
    **dict.fromkeys(
        (
            *("AnonymousMultiDeviceIterator", "DeleteMultiDeviceIterator", "SamplingDataset"),
            *("AnonymousMemoryCache", "CacheDatasetV2", "DeleteMemoryCache"),
            *("AnonymousRandomSeedGenerator", "ShuffleDatasetV2", "DeleteRandomSeedGenerator"),
        ),
        "tests/data_pipelines/test_anonymous_resources.py",
    ),
    **dict.fromkeys(
        ("StatefulStandardNormal", "QuantizeAndDequantize", "Abort", "CreateSummaryDbWriter"),
        "tests/ops/test_little_used.py",
    ),
    **dict.fromkeys(
        (
            *("QuantizedBatchNormWithGlobalNormalization", "QuantizedInstanceNorm"),
            "QuantizedResizeBilinear",
        ),
        "tests/ops/test_quantized_images.py",
    ),
    **dict.fromkeys(("BlockLSTMV2", "BlockLSTMGradV2"), "tests/ops/test_block_cells.py"),
    # They call functions of the process that made them.
    **dict.fromkeys(("PyFunc", "PyFuncStateless", "EagerPyFunc"), "tests/ir/test_user_ops.py"),
}


def _public_specs() -> list[OpSpec]:
    found = registry.specs()
    return [found[name] for name in public_op_types()]


def test_every_op_has_a_case() -> None:
    covered = {case.op for family in families() for case in cases_of(family)}
    missing = {spec.name for spec in _public_specs()} - covered - TESTED_ELSEWHERE.keys()
    missing -= WITHOUT_KERNELS
    assert not missing, f"no case in tests/ops/cases for {', '.join(sorted(missing))}"


def test_exceptions_are_needed() -> None:
    """Each exception names a registered op without a case, and a file that tests it."""
    covered = {case.op for family in families() for case in cases_of(family)}
    for name, file in TESTED_ELSEWHERE.items():
        assert registry.find(name) is not None, f"{name} is not registered"
        assert name not in covered, f"{name} has a case: take it off the list"
        assert name in (ROOT / file).read_text(encoding="utf-8"), f"{file} does not mention {name}"


def test_every_op_has_a_cpu_kernel() -> None:
    missing = {spec.name for spec in _public_specs() if kernels.find(spec.name, "CPU") is None}
    assert missing == WITHOUT_KERNELS, f"differing: {sorted(missing ^ WITHOUT_KERNELS)}"


def test_every_op_has_a_shape_rule() -> None:
    specs = _public_specs()
    missing = [spec.name for spec in specs if spec.outputs and spec.shape_rule is None]
    assert not missing, f"no shape rule for {', '.join(missing)}"
