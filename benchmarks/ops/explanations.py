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
    MaxPool3D FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3
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
    AllCandidateSampler
    """,
)
_because(
    "shares no memory with its value: a copy, where TensorFlow counts who holds a buffer",
    "AssignVariableOp",
)
_because("some microseconds of Python, where TensorFlow hands a buffer on", "TensorArrayWriteV3")
_because("copies what it reads, where TensorFlow hands a buffer on", "TensorArrayReadV3")
_because("a pass over the output for each position in a window", "AvgPool3D AvgPool3DGrad")
_because(
    "a gather or scatter over whole rows for each neighbour that is mixed",
    """
    ResizeBilinear ResizeBilinearGrad ResizeBicubic ImageProjectiveTransformV2
    ImageProjectiveTransformV3 FractionalAvgPool FractionalMaxPool FractionalAvgPoolGrad
    """,
)
_because(
    "some passes for each tap of the filter, of which ATen's masking is not vectorised",
    "Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput",
)
_because(
    "a choice by a mask (`torch.where`) and a gather, where TensorFlow copies diagonals",
    "MatrixSetDiagV2 MatrixDiagPartV3",
)
_because(
    "no Schur decomposition in ATen: eigenvectors, in complex double precision",
    "MatrixSquareRoot MatrixLogarithm",
)
_because(
    "two triangular systems and a product, where TensorFlow goes block by block", "CholeskyGrad"
)
_because("most of the time is `torch.linalg.inv`", "MatrixInverse")
_because("one pass of NumPy for each step of the hash", "Fingerprint")
_because("sorts the rows, where TensorFlow walks through both lists once", "SparseSliceGrad")
_because(
    "a Python object for each row: a message is parsed or written, and an array made of it",
    "SerializeManySparse DeserializeManySparse ScalarSummary ParseSingleExample",
)
_because(
    "a Python dictionary: each key and value is an object of the interpreter",
    """
    LookupTableFind LookupTableFindV2 LookupTableInsert LookupTableInsertV2 UniformCandidateSampler
    LogUniformCandidateSampler
    """,
)
_because("a list of labels in Python for each sequence", "CTCGreedyDecoder CTCBeamSearchDecoder")
_because(
    "several passes of NumPy for each attempt to draw the numbers, and for the Philox generator",
    "RandomGamma RandomPoissonV2",
)
_because("a loop in Python over boxes, after a copy of the images", "DrawBoundingBoxesV2")
_because("all sequences side by side in NumPy, one diagonal after the other", "EditDistance")
_because("rounds through double precision, in several passes", "QuantizedConcat QuantizedAvgPool")
_because(
    "computes in double precision, where TensorFlow has integers of eight bits",
    "QuantizedMul QuantizedAdd QuantizedBiasAdd QuantizedConv2D",
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
