"""The op types that are not measured, and why.

A reason is a fact of the op's signature where there is one; else the op is named here.
"""

from benchmarks.ops.families import FAMILIES
from penstock.ops import other_machines
from tests.ops.opdefs import public_op_types, table

_MAKES_A_HANDLE = "makes a handle, once"
_CALLS_A_FUNCTION = "its time is that of the functions it calls"
_HOLDS_A_STRUCTURE = (
    "works on a structure that outlives it (a queue, barrier, accumulator, staging area, reader, "
    "iterator, array or session): what it costs depends on what is in it and who waits for it"
)
_FUNCTION_ATTRS = ("func", "list(func)")
_HANDLES = ("resource", "variant")

REASONS: dict[str, str] = {}


def _because(reason: str, op_types: str) -> None:
    REASONS.update(dict.fromkeys(op_types.split(), reason))


_because(
    "TensorFlow removed the op from its graphs: there is nothing to compare with",
    """
    AdjustContrast BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad
    CompareAndBitpack Conv3DBackpropFilter Conv3DBackpropInput TileGrad BatchCholesky
    BatchCholeskyGrad BatchFFT BatchFFT2D BatchFFT3D BatchIFFT
    BatchIFFT2D BatchIFFT3D BatchMatrixBandPart BatchMatrixDeterminant BatchMatrixDiag
    BatchMatrixDiagPart BatchMatrixInverse BatchMatrixSetDiag BatchMatrixSolve BatchMatrixSolveLs
    BatchMatrixTriangularSolve BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd MatrixExponential
    PlaceholderV2 RandomCrop RandomPoisson SelfAdjointEig TopK AudioSummary ImageSummary
    """,
)
_because(
    _HOLDS_A_STRUCTURE,
    """
    Batch BoostedTreesAggregateStats BoostedTreesBucketize BoostedTreesCalculateBestFeatureSplit
    BoostedTreesCalculateBestGainsPerFeature BoostedTreesCenterBias BoostedTreesCreateEnsemble
    BoostedTreesCreateQuantileStreamResource BoostedTreesDeserializeEnsemble
    BoostedTreesExampleDebugOutputs BoostedTreesFlushQuantileSummaries
    BoostedTreesGetEnsembleStates BoostedTreesMakeQuantileSummaries BoostedTreesMakeStatsSummary
    BoostedTreesPredict BoostedTreesQuantileStreamResourceAddSummaries
    BoostedTreesQuantileStreamResourceDeserialize BoostedTreesQuantileStreamResourceFlush
    BoostedTreesQuantileStreamResourceGetBucketBoundaries BoostedTreesSerializeEnsemble
    BoostedTreesSparseAggregateStats BoostedTreesSparseCalculateBestFeatureSplit
    BoostedTreesTrainingPredict BoostedTreesUpdateEnsemble BoostedTreesUpdateEnsembleV2
    IsBoostedTreesEnsembleInitialized IsBoostedTreesQuantileStreamResourceInitialized
    ExperimentalStatsAggregatorSummary StatsAggregatorSetSummaryWriter StatsAggregatorSummary
    MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorInit MultiDeviceIteratorToStringHandle
    Unbatch UnbatchGrad
    NonDeterministicInts RngSkip StatefulRandomBinomial StatefulStandardNormalV2
    StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt StatefulUniformInt
    """,
)
_because(
    "there is no kernel for it on processors or on CUDA devices through PyTorch",
    " ".join(spec.name for spec in other_machines.OPS),
)
_because(
    "hardly a program has it",
    """
    BlockLSTMGradV2 BlockLSTMV2 CreateSummaryDbWriter QuantizeAndDequantize
    QuantizedBatchNormWithGlobalNormalization QuantizedInstanceNorm QuantizedResizeBilinear
    StatefulStandardNormal
    """,
)
_because(
    "it ends something: there is nothing left to measure",
    "Abort DeleteMemoryCache DeleteMultiDeviceIterator DeleteRandomSeedGenerator",
)
_because("it gives the same words in each step: there is nothing to compute", "Fact")
_because(
    "a part of a solver, whose examples, weights and state depend on each other",
    "SdcaFprint SdcaOptimizer SdcaOptimizerV2 SdcaShrinkL1",
)
_because(
    "its time is that of the messages and of protobuf, which parses them",
    "DecodeProtoV2 EncodeProto",
)
_because(
    "TensorFlow has no kernel for CPUs",
    "CTCLossV2 MaxPoolGradGradWithArgmax QuantizedReluX",
)
_because(
    "a part of a loop or a branch: `benchmarks.run` measures whole steps",
    """
    Enter Exit LoopCond NextIteration RefEnter RefExit RefMerge RefNextIteration RefSwitch
    """,
)
_because(_CALLS_A_FUNCTION, "PyFunc PyFuncStateless EagerPyFunc FakeParam")
_because(
    "reads or writes files: it measures the disk",
    """
    GenerateVocabRemapping ImmutableConst InitializeTableFromTextFile InitializeTableFromTextFileV2
    LoadAndRemapMatrix MatchingFiles MergeV2Checkpoints ReadFile Restore RestoreSlice RestoreV2
    Save SaveSlices SaveV2 WriteFile DatasetToTFRecord ExperimentalDatasetToTFRecord
    CloseSummaryWriter CreateSummaryFileWriter FlushSummaryWriter ImportEvent WriteAudioSummary
    WriteGraphSummary WriteHistogramSummary WriteImageSummary WriteRawProtoSummary
    WriteScalarSummary WriteSummary
    """,
)
_because("writes to the terminal", "Print PrintV2")
_because(
    "does nothing in a step, or reads or writes one number",
    """
    Const ControlTrigger CountUpTo LookupTableSize LookupTableSizeV2 NoOp Placeholder
    DataFormatDimMap DataFormatVecPermute ResourceCountUpTo Timestamp
    ShardedFilename ShardedFilespec TensorArraySizeV3 Variable VariableV2
    """,
)
_because(
    "changes what it works on, so that it can't be repeated",
    """
    AddManySparseToTensorsMap AddSparseToTensorsMap ConsumeMutexLock DestroyResourceOp
    DestroyTemporaryVariable InitializeTable InitializeTableV2 LookupTableRemoveV2
    TakeManySparseFromTensorsMap TemporaryVariable
    """,
)
_because(
    "the same kernel as LookupTableExportV2, behind a handle of the old kind", "LookupTableExport"
)
_because(
    "several devices meet in it: `benchmarks.cluster` measures steps of several tasks",
    """
    CollectiveBcastRecv CollectiveBcastRecvV2 CollectiveBcastSend CollectiveBcastSendV2
    CollectiveGather CollectiveGatherV2 CollectiveReduce CollectiveReduceV2 NcclAllReduce
    NcclBroadcast NcclReduce
    """,
)
_because("its encoder is not among the ops", "DecodeGif")
_because(
    "no inputs written for it yet",
    """
    AudioSpectrogram DecodeWav EncodeWav KMC2ChainInitialization KmeansPlusPlusInitialization Mfcc
    NearestNeighbors RaggedGather RaggedRange RaggedTensorFromVariant
    RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant
    """,
)
# What these families work on: prefixes of names, since each has a dozen of ops.
_STRUCTURES = (
    *(
        "Accumulator",
        "Barrier",
        "DeleteIterator",
        "DeleteSession",
        "DeserializeIterator",
        "FakeQueue",
    ),
    *("GetSession", "Iterator", "MakeIterator", "Map", "Optional", "OrderedMap", "Queue", "Reader"),
    *("RecordInput", "ResourceAccumulator", "SerializeIterator", "SparseAccumulator", "Stack"),
    *(
        "Stage",
        "TensorArray",
        "TensorList",
        "Unstage",
        "DatasetCardinality",
        "DatasetToGraph",
        "DatasetToSingleElement",
    ),
    *("ExperimentalDatasetCardinality", "ExperimentalIterator"),
)


def reason(op_type: str) -> str | None:
    """Why an op type is not measured; None if there is no reason."""
    if op_type in REASONS:
        return REASONS[op_type]
    definition = table()[op_type]
    if any(attr["type"] in _FUNCTION_ATTRS for attr in definition["attrs"]):
        return _CALLS_A_FUNCTION
    if op_type.startswith(_STRUCTURES):
        return _HOLDS_A_STRUCTURE
    outputs = definition["outputs"]
    if outputs and all(arg.get("type") in _HANDLES or arg.get("is_ref") for arg in outputs):
        return _MAKES_A_HANDLE
    return None


def unmeasured() -> dict[str, str]:
    """Each op type that is in no family, with the reason."""
    measured = {op_type for family in FAMILIES.values() for op_type in family}
    found = {name: reason(name) for name in public_op_types() if name not in measured}
    return {name: why for name, why in found.items() if why is not None}
