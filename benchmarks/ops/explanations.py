"""Why an op takes more than twice as long as TensorFlow's kernel of it, at 10^6 elements.

What is not known is said to be not known.
"""

WHY: dict[str, str] = {}


def _because(reason: str, op_types: str) -> None:
    WHY.update(dict.fromkeys(op_types.split(), reason))


_because(
    "ATen's function itself: called alone it takes as long",
    "Sqrt Tanh Acos Asin Atan BesselI0 BesselI0e BesselI1 Erf Erfc",
)
_because(
    "several passes over memory, where one fused loop would do",
    """
    Sign Softsign SoftsignGrad DivNoNan MulNoNan Xdivy Xlogy SeluGrad Select SelectV2 Betainc
    IgammaGradA Polygamma SegmentMax SegmentMin SegmentProd HistogramFixedWidth OneHot LinSpace
    Range DynamicStitch ParallelDynamicStitch CropAndResize CropAndResizeGradBoxes
    CropAndResizeGradImage SparseAdd SparseAddGrad SparseSparseMaximum SparseSparseMinimum All Any
    InvertPermutation
    """,
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
