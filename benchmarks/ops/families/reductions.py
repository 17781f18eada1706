"""Reductions, scans, segments, counts, sorting and sets of equal elements."""

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import array, bools, f32, i32, i64, ints

_ROWS = array(1, "int32")
_COLUMNS = 50


def _segments(n: int) -> np.ndarray:
    """Ids of the rows of a matrix of n elements: about ten rows a segment."""
    return np.sort(i32(0, max(1, n // _COLUMNS // 10), n // _COLUMNS))


def _count(n: int) -> np.ndarray:
    return array(max(1, n // _COLUMNS // 10), "int32")


def _rows(n: int) -> np.ndarray:
    return f32(n // _COLUMNS, _COLUMNS, lo=0.9, hi=1.1)


def _sorted(n: int) -> np.ndarray:
    return np.sort(f32(10, n // 10), axis=1)


FAMILY: Family = {
    **alike(
        "EuclideanNorm Max Mean Min Prod Sum ArgMax ArgMin Cumprod Cumsum CumulativeLogsumexp",
        lambda n: takes(f32(side(n), side(n), lo=0.9, hi=1.1), _ROWS),
    ),
    **alike("All Any", lambda n: takes(bools(side(n), side(n)), _ROWS)),
    **alike(
        "SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum",
        lambda n: takes(_rows(n), _segments(n)),
    ),
    **alike(
        "UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum",
        lambda n: takes(_rows(n), _segments(n), _count(n)),
    ),
    **alike(
        "SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum",
        lambda n: takes(_rows(n), i32(0, n // _COLUMNS, n // _COLUMNS), _segments(n)),
    ),
    **alike(
        "SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments "
        "SparseSegmentSumWithNumSegments",
        lambda n: takes(_rows(n), i32(0, n // _COLUMNS, n // _COLUMNS), _segments(n), _count(n)),
    ),
    **alike(
        "SparseSegmentMeanGrad SparseSegmentSqrtNGrad SparseSegmentSumGrad "
        "SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2",
        lambda n: takes(
            f32(int(_count(n)), _COLUMNS),
            i32(0, n // _COLUMNS, n // _COLUMNS),
            _segments(n),
            array(n // _COLUMNS, "int32"),
        ),
    ),
    "Bincount": lambda n: takes(i32(0, 100, n), array(100, "int32"), f32(0)),
    "DenseBincount": lambda n: takes(i32(0, 100, n), array(100, "int32"), f32(0)),
    "HistogramFixedWidth": lambda n: takes(f32(n), array([-2, 2], "float32"), array(50, "int32")),
    **alike("LowerBound UpperBound", lambda n: takes(_sorted(n), f32(10, n // 10))),
    "NthElement": lambda n: takes(f32(n // 100, 100), array(5, "int32")),
    "TopKV2": lambda n: takes(f32(n // 100, 100), array(5, "int32")),
    "InTopK": lambda n: takes(f32(n // 100, 100), i32(0, 100, n // 100), k=5),
    "InTopKV2": lambda n: takes(f32(n // 100, 100), i32(0, 100, n // 100), array(5, "int32")),
    **alike("Unique UniqueWithCounts", lambda n: takes(i32(0, n // 10, n))),
    **alike(
        "UniqueV2 UniqueWithCountsV2",
        lambda n: takes(i32(0, n // 10, n), array([0], "int64")),
    ),
    "ListDiff": lambda n: takes(i32(0, n, n), i32(0, n, n // 2)),
    "Where": lambda n: takes(bools(side(n), side(n))),
    "InvertPermutation": lambda n: takes(np.argsort(ints("int64", 0, 2**40, n)).astype("int32")),
    "DenseToDenseSetOperation": lambda n: takes(
        i64(0, 99, n // 10, 10), i64(0, 99, n // 10, 10), set_operation="intersection"
    ),
}
