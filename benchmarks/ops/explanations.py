"""Why an op takes more than twice as long as TensorFlow's kernel of it, at 10^6 elements.

Reasons come from profiles of the kernels and from ATen's functions timed alone, not from guesses;
what is not known is said to be not known.
"""

WHY: dict[str, str] = {}


def _because(reason: str, op_types: str) -> None:
    WHY.update(dict.fromkeys(op_types.split(), reason))


_because(
    "ATen's function itself: called alone it takes as long",
    """
    Sqrt Tanh Acos Asin Atan BesselI0 BesselI0e BesselI1 Erf Erfc Zeta EuclideanNorm AvgPool MaxPool
    MaxPool3D FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 QuantizedMaxPool
    """,
)
_because(
    "several passes over memory, where one fused loop would do",
    """
    Sign Softsign SoftsignGrad DivNoNan MulNoNan Xdivy Xlogy SeluGrad Select SelectV2 Betainc
    IgammaGradA Polygamma SegmentMax SegmentMin SegmentProd HistogramFixedWidth OneHot LinSpace
    Range DynamicStitch ParallelDynamicStitch CropAndResize CropAndResizeGradBoxes
    CropAndResizeGradImage SparseAdd SparseAddGrad SparseSparseMaximum SparseSparseMinimum All Any
    InvertPermutation AddN ApproximateEqual RsqrtGrad BitwiseOr LSTMBlockCellGrad LRN HSVToRGB
    FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars
    FakeQuantWithMinMaxVarsGradient Dequantize QuantizeV2 QuantizeAndDequantizeV2
    QuantizeAndDequantizeV3 QuantizeAndDequantizeV4Grad QuantizeDownAndShrinkRange Requantize
    ApplyProximalGradientDescent ResourceApplyProximalGradientDescent ApplyFtrl ApplyFtrlV2
    ResourceApplyAdagradDA ResourceApplyCenteredRMSProp SparseFillEmptyRows SparseToDense
    AllCandidateSampler ApplyProximalAdagrad ResourceApplyProximalAdagrad ApplyAdagradDA
    ResourceApplyFtrlV2 SparseTensorDenseAdd SparseFillEmptyRowsGrad SparseReshape
    """,
)
_because(
    "copies its value, where TensorFlow's time does not grow with it",
    "AssignVariableOp TensorArrayWriteV3",
)
_because(
    "short, and told from the difference of two long steps, whose noise is larger: runs disagree",
    "TensorArrayReadV3 ExtractJpegShape",
)
_because("a pass over the output for each position in a window", "AvgPool3D AvgPool3DGrad")
_because(
    "a gather or scatter of ATen for each neighbour that is mixed",
    """
    ResizeBilinear ResizeBilinearGrad ResizeBicubic ImageProjectiveTransformV2
    ImageProjectiveTransformV3
    """,
)
_because(
    "gathers (or scatters) the elements of all regions into an array of their own",
    "FractionalAvgPool FractionalMaxPool FractionalAvgPoolGrad",
)
_because(
    "some passes for each tap of the filter, of which ATen's masking is not vectorised",
    "Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput",
)
_because(
    "a gather, and choices by masks (`torch.where`) over all elements",
    "MatrixSetDiagV2 MatrixDiagPartV3",
)
_because(
    "no Schur decomposition in ATen: `linalg.eig` of complex doubles, then a loop over diagonals",
    "MatrixSquareRoot MatrixLogarithm",
)
_because("most of the time is `torch.linalg.solve_triangular`, twice", "CholeskyGrad")
_because("most of the time is `torch.linalg.inv`", "MatrixInverse")
_because("one pass of NumPy for each step of the hash", "Fingerprint")
_because("passes of NumPy that number the rows, merge them and choose pairs", "SparseSliceGrad")
_because(
    "a message of Python's protobuf for each row or tag",
    "SerializeManySparse DeserializeManySparse ScalarSummary ParseSingleExample",
)
_because(
    "a Python dictionary: each key and value is an object of the interpreter",
    """
    LookupTableFind LookupTableFindV2 LookupTableInsert LookupTableInsertV2 UniformCandidateSampler
    LogUniformCandidateSampler
    """,
)
_because("a list of labels in Python for each sequence", "CTCGreedyDecoder")
_because("a Python object for each beam at each step", "CTCBeamSearchDecoder")
_because(
    "several passes of NumPy for each attempt to draw the numbers, and for the Philox generator",
    "RandomGamma RandomPoissonV2",
)
_because("a loop in Python over boxes, after a copy of the images", "DrawBoundingBoxesV2")
_because("all sequences side by side in NumPy, one diagonal after the other", "EditDistance")
_because(
    "several passes, in double precision",
    "QuantizedMul QuantizedAdd QuantizedBiasAdd QuantizedConv2D QuantizedConcat QuantizedAvgPool",
)
_because(
    "a loop in Python: what is chosen next depends on what was chosen before",
    """
    NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4
    NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps CombinedNonMaxSuppression
    ParameterizedTruncatedNormal SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
    """,
)
_because(
    "strings are Python objects: each element is some work for the interpreter",
    """
    StringLength StringLower StringStrip StringUpper EncodeBase64 DecodeBase64 Substr
    StringToHashBucket StringToHashBucketFast StringToHashBucketStrong ReduceJoin
    UnsortedSegmentJoin AsString StringToNumber StringSplit StringSplitV2 StringNGrams
    RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace UnicodeDecode
    UnicodeDecodeWithOffsets UnicodeEncode UnicodeTranscode DecodeCSV DecodeRaw DecodePaddedRaw
    DecodeJSONExample ParseExample ParseExampleV2 ParseSequenceExample ParseSequenceExampleV2
    ParseSingleSequenceExample
    """,
)
_because(
    "no work that grows with the input: some microseconds of Python",
    """
    Shape ShapeN Reshape BroadcastArgs BroadcastGradientArgs Empty ConcatOffset Unpack DiagPart
    Merge Switch StatelessRandomGetKeyCounter VariableShape VarIsInitializedOp
    IsVariableInitialized MergeSummary StringFormat
    """,
)
