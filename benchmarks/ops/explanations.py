"""Why an op takes more than twice as long as TensorFlow's kernel of it."""

WHY: dict[str, str] = {}


def _because(reason: str, op_types: str) -> None:
    WHY.update(dict.fromkeys(op_types.split(), reason))


_because(
    "ATen's own loop: it goes through MKL or element by element, TensorFlow's is vectorised",
    """
    Acos Asin Atan Tanh Erf Erfc Sqrt Rsqrt BesselI0 BesselI0e BesselI1 Exp Log Zeta Polygamma
    Maximum Minimum LeftShift RightShift TruncateDiv FloorDiv Select SelectV2 Cosh Sinh
    Reverse ReverseV2 Range LinSpace L2Loss EuclideanNorm Bincount DenseBincount
    AvgPool AvgPoolGrad AvgPool3D AvgPool3DGrad MaxPool MaxPool3D LRN LRNGrad
    DepthwiseConv2dNativeBackpropInput FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 Conv3D
    Eig MatrixSolveLs CholeskyGrad TopKV2 NthElement Qr Lu MatrixInverse SelfAdjointEigV2 Svd
    ScatterNdMax ScatterNdMin ScatterMax ScatterMin ScatterMul ScatterDiv TensorScatterMax
    TensorScatterMin ResourceScatterMax ResourceScatterMin ResourceScatterMul ResourceScatterDiv
    ResourceScatterNdMax ResourceScatterNdMin CumulativeLogsumexp Cumprod Cumsum
    UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
    """,
)
_because(
    "several passes over memory, where TensorFlow has one fused loop",
    """
    ApproximateEqual InvGrad ReciprocalGrad RsqrtGrad SqrtGrad SeluGrad SoftsignGrad Softsign
    Xdivy Xlogy Xlog1py DivNoNan MulNoNan Sign Betainc IgammaGradA SquaredDifference
    HistogramFixedWidth InTopK InTopKV2 OneHot DynamicStitch ParallelDynamicStitch DynamicPartition
    SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean SparseSegmentSqrtN
    SparseSegmentSum SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments
    SparseSegmentSumWithNumSegments SparseSegmentMeanGrad SparseSegmentSqrtNGrad
    SparseSegmentSumGrad SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2
    MatrixDiagPartV2 MatrixDiagPartV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixDiag
    MatrixDiagV2 MatrixDiagV3 MatrixBandPart TridiagonalSolve TridiagonalMatMul
    BandedTriangularSolve MatrixSquareRoot MatrixLogarithm
    Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput
    LSTMBlockCell LSTMBlockCellGrad GRUBlockCell GRUBlockCellGrad BlockLSTM BlockLSTMGrad
    ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad
    ResizeNearestNeighbor ResizeNearestNeighborGrad ScaleAndTranslate ScaleAndTranslateGrad
    CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage ImageProjectiveTransformV2
    ImageProjectiveTransformV3 AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV
    ExtractGlimpse ExtractGlimpseV2 ExtractImagePatches
    FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars
    FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel
    FakeQuantWithMinMaxVarsPerChannelGradient QuantizeAndDequantizeV2 QuantizeAndDequantizeV3
    QuantizeV2 Dequantize UnravelIndex InplaceAdd InplaceSub InplaceUpdate
    SparseAdd SparseAddGrad SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul
    SparseTensorDenseAdd SparseTensorDenseMatMul SparseReduceMax SparseReduceMaxSparse
    SparseReduceSum SparseReduceSumSparse SparseSoftmax SparseSparseMaximum SparseSparseMinimum
    SparseConcat SparseFillEmptyRows SparseFillEmptyRowsGrad SparseReorder SparseReshape
    SparseSlice SparseSliceGrad SparseSplit SparseToDense SparseCross SetSize
    DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation
    RandomGamma RandomPoissonV2 RandomUniformInt RandomUniform RandomStandardNormal
    TruncatedNormal RandomShuffle Multinomial StatelessMultinomial StatelessRandomNormal
    StatelessRandomNormalV2 StatelessRandomUniform StatelessRandomUniformV2
    StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessRandomUniformFullInt
    StatelessRandomUniformFullIntV2 StatelessTruncatedNormal StatelessTruncatedNormalV2
    LogUniformCandidateSampler UniformCandidateSampler FixedUnigramCandidateSampler
    LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler ComputeAccidentalHits
    """,
)
_because(
    "a loop in Python: what is chosen next depends on what was chosen before",
    """
    NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4
    NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps CombinedNonMaxSuppression
    CTCBeamSearchDecoder CTCGreedyDecoder CTCLoss EditDistance ParameterizedTruncatedNormal
    SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 DrawBoundingBoxes DrawBoundingBoxesV2
    """,
)
_because(
    "strings are Python objects: each element takes the interpreter some hundred nanoseconds",
    """
    StringLength StringLower StringStrip StringUpper EncodeBase64 DecodeBase64 Substr
    StringToHashBucket StringToHashBucketFast StringToHashBucketStrong Fingerprint StringJoin
    ReduceJoin UnsortedSegmentJoin AsString StringToNumber StringFormat StringSplit StringSplitV2
    StringNGrams RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace
    UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode DecodeCSV
    DecodeRaw DecodePaddedRaw DecodeJSONExample ParseExample ParseExampleV2 ParseSequenceExample
    ParseSequenceExampleV2 ParseSingleExample ParseSingleSequenceExample SerializeManySparse
    DeserializeManySparse SerializeSparse DeserializeSparse SparseCrossV2 ScalarSummary
    MergeSummary
    """,
)
_because(
    "a table is a Python dictionary: each key takes the interpreter some hundred nanoseconds",
    """
    LookupTableFind LookupTableFindV2 LookupTableInsert LookupTableInsertV2 LookupTableImport
    LookupTableImportV2 LookupTableExportV2
    """,
)
_because(
    "no work but the call: a microsecond or more of Python against half a microsecond of C++",
    """
    Shape ShapeN Rank Size Reshape ExpandDims Squeeze EnsureShape Identity IdentityN Empty
    BroadcastArgs BroadcastGradientArgs ConcatOffset Unpack Split SplitV Merge Switch Assert
    DiagPart ReadVariableOp VariableShape VarIsInitializedOp IsVariableInitialized Bitcast
    StopGradient PreventGradient Snapshot GuaranteeConst PlaceholderWithDefault
    StatelessRandomGetKeyCounter ExtractJpegShape Real Imag BroadcastTo DeepCopy
    TensorArrayReadV3 TensorArrayWriteV3 TensorArrayScatterV3 TensorArraySplitV3
    """,
)
_because(
    "message encoded or image decoded by Python's libraries, with a copy on the way",
    """
    SerializeTensor ParseTensor TensorSummary TensorSummaryV2 HistogramSummary AudioSummaryV2
    DecodeJpeg DecodePng DecodeBmp DecodeImage DecodeAndCropJpeg EncodePng EncodeJpeg
    EncodeJpegVariableQuality DecodeCompressed
    """,
)
