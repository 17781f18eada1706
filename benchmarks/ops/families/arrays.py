"""Ops that move elements: shapes, slices, joins, gathers, scatters, padding, permutations."""

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import array, c64, f32, i32, string, u8

_COLUMNS = 50


def _ix(*values: int) -> np.ndarray:
    return array(list(values), "int32")


def _square(n: int) -> np.ndarray:
    return f32(side(n), side(n))


def _image(n: int, channels: int = 4) -> np.ndarray:
    height = 2 * (side(n // channels) // 4) * 2
    return f32(1, height, height, channels)


def _rows(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix, the numbers of half as many of its rows, and as many new rows."""
    count = n // _COLUMNS
    chosen = np.random.RandomState(0).permutation(count)[: count // 2].astype("int32")
    return f32(count, _COLUMNS), chosen[:, None], f32(count // 2, _COLUMNS)


def _strided(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    s = side(n)
    return _ix(1, 0), _ix(s - 1, s), _ix(2, 1)


def _halves(n: int) -> list[np.ndarray]:
    numbers = np.random.RandomState(0).permutation(n // _COLUMNS).astype("int32")
    return [numbers[: n // _COLUMNS // 2], numbers[n // _COLUMNS // 2 :]]


def _stitched(n: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    halves = _halves(n)
    return halves, [f32(len(half), _COLUMNS) for half in halves]


_PADDINGS = array([[1, 1], [2, 2]], "int32")
_NO_CROPS = array([[0, 0], [0, 0]], "int32")

FAMILY: Family = {
    **alike(
        "Identity GuaranteeConst PreventGradient Snapshot StopGradient OnesLike ZerosLike Rank "
        "Shape Size",
        lambda n: takes(f32(n)),
    ),
    "IdentityN": lambda n: takes([f32(n), f32(n)]),
    "ShapeN": lambda n: takes([f32(n), f32(n)]),
    "EnsureShape": lambda n: takes(f32(n), shape=[n]),
    "ExpandDims": lambda n: takes(f32(n), array(0, "int32")),
    "Reshape": lambda n: takes(f32(n), _ix(2, n // 2)),
    "Squeeze": lambda n: takes(f32(1, n)),
    "PlaceholderWithDefault": lambda n: takes(f32(n), shape=[n]),
    "BroadcastTo": lambda n: takes(f32(side(n)), _ix(side(n), side(n))),
    "BroadcastArgs": lambda n: takes(_ix(n, 1), _ix(1, n)),
    "BroadcastGradientArgs": lambda n: takes(_ix(n, 1), _ix(1, n)),
    "Tile": lambda n: takes(f32(side(n), side(n) // 4), _ix(1, 4)),
    "Fill": lambda n: takes(_ix(n), f32()),
    "Empty": lambda n: takes(_ix(n), dtype="float32"),
    "LinSpace": lambda n: takes(array(0, "float32"), array(1, "float32"), array(n, "int32")),
    "Range": lambda n: takes(_ix(0).reshape(()), array(n, "int32"), array(1, "int32")),
    "OneHot": lambda n: takes(
        i32(0, 50, n // 50), array(50, "int32"), array(1, "float32"), array(0, "float32")
    ),
    "Concat": lambda n: takes(array(1, "int32"), [_square(n // 2), _square(n // 2)]),
    "ConcatV2": lambda n: takes([_square(n // 2), _square(n // 2)], array(1, "int32")),
    "ConcatOffset": lambda n: takes(array(1, "int32"), [_ix(n, 3), _ix(n, 4)]),
    "Pack": lambda n: takes([f32(n // 4) for _ in range(4)]),
    "ParallelConcat": lambda n: takes([f32(1, n // 4) for _ in range(4)], shape=[4, n // 4]),
    "Split": lambda n: takes(array(1, "int32"), f32(n // 40, 40), num_split=4),
    "SplitV": lambda n: takes(f32(n // 40, 40), _ix(10, 20, 10), array(1, "int32"), num_split=3),
    "Unpack": lambda n: takes(f32(4, n // 4), num=4),
    "Slice": lambda n: takes(_square(n), _ix(1, 1), _ix(side(n) - 2, side(n) - 2)),
    "StridedSlice": lambda n: takes(_square(n), *_strided(n)),
    "StridedSliceGrad": lambda n: takes(
        _ix(side(n), side(n)), *_strided(n), f32((side(n) - 1) // 2, side(n))
    ),
    "TensorStridedSliceUpdate": lambda n: takes(
        _square(n), *_strided(n), f32((side(n) - 1) // 2, side(n))
    ),
    "Gather": lambda n: takes(f32(n // _COLUMNS, _COLUMNS), i32(0, n // _COLUMNS, n // _COLUMNS)),
    "GatherV2": lambda n: takes(
        f32(n // _COLUMNS, _COLUMNS), i32(0, n // _COLUMNS, n // _COLUMNS), array(0, "int32")
    ),
    "GatherNd": lambda n: takes(
        f32(n // _COLUMNS, _COLUMNS), i32(0, n // _COLUMNS, n // _COLUMNS, 1)
    ),
    "ScatterNd": lambda n: takes(*_rows(n)[1:], _ix(n // _COLUMNS, _COLUMNS)),
    **alike(
        "ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterMax TensorScatterMin "
        "TensorScatterSub TensorScatterUpdate",
        lambda n: takes(*_rows(n)),
    ),
    "DynamicPartition": lambda n: takes(
        f32(n // _COLUMNS, _COLUMNS), i32(0, 4, n // _COLUMNS), num_partitions=4
    ),
    **alike("DynamicStitch ParallelDynamicStitch", lambda n: takes(*_stitched(n))),
    "Pad": lambda n: takes(_square(n), _PADDINGS),
    "PadV2": lambda n: takes(_square(n), _PADDINGS, array(1, "float32")),
    **alike("MirrorPad MirrorPadGrad", lambda n: takes(_square(n), _PADDINGS, mode="REFLECT")),
    "Transpose": lambda n: takes(_square(n), _ix(1, 0)),
    "ConjugateTranspose": lambda n: takes(c64(side(n), side(n)), _ix(1, 0)),
    "Reverse": lambda n: takes(_square(n), array([True, False], "bool")),
    "ReverseV2": lambda n: takes(_square(n), _ix(0)),
    "ReverseSequence": lambda n: takes(
        f32(n // _COLUMNS, _COLUMNS), i32(1, _COLUMNS, n // _COLUMNS), seq_dim=1, batch_dim=0
    ),
    "Roll": lambda n: takes(_square(n), _ix(3), _ix(1)),
    "SpaceToDepth": lambda n: takes(_image(n), block_size=2),
    "DepthToSpace": lambda n: takes(_image(n), block_size=2),
    "SpaceToBatch": lambda n: takes(_image(n), _NO_CROPS, block_size=2),
    "SpaceToBatchND": lambda n: takes(_image(n), _ix(2, 2), _NO_CROPS),
    "BatchToSpace": lambda n: takes(f32(4, side(n // 4), side(n // 4), 1), _NO_CROPS, block_size=2),
    "BatchToSpaceND": lambda n: takes(f32(4, side(n // 4), side(n // 4), 1), _ix(2, 2), _NO_CROPS),
    "Diag": lambda n: takes(f32(side(n))),
    "DiagPart": lambda n: takes(_square(n)),
    "MatrixDiag": lambda n: takes(f32(n // 400 or 1, 20)),
    "MatrixDiagPart": lambda n: takes(f32(n // 400, 20, 20)),
    "MatrixSetDiag": lambda n: takes(f32(n // 400, 20, 20), f32(n // 400, 20)),
    "MatrixBandPart": lambda n: takes(f32(n // 400, 20, 20), array(2, "int64"), array(-1, "int64")),
    **alike(
        "MatrixDiagPartV2 MatrixDiagPartV3",
        lambda n: takes(f32(n // 400, 20, 20), _ix(-1, 1), array(0, "float32")),
    ),
    **alike(
        "MatrixDiagV2 MatrixDiagV3",
        lambda n: takes(
            f32(n // 400, 3, 20),
            _ix(-1, 1),
            array(20, "int32"),
            array(20, "int32"),
            array(0, "float32"),
        ),
    ),
    **alike(
        "MatrixSetDiagV2 MatrixSetDiagV3",
        lambda n: takes(f32(n // 400, 20, 20), f32(n // 400, 3, 20), _ix(-1, 1)),
    ),
    "Fingerprint": lambda n: takes(u8(0, 255, n // 100, 100), string("farmhash64")),
    "Merge": lambda n: takes([f32(n)]),
    "Switch": lambda n: takes(f32(n), array(True, "bool")),
    "Assert": lambda n: takes(array(True, "bool"), [f32(n)]),
    "SerializeTensor": lambda n: takes(f32(n)),
    **alike(
        "InplaceAdd InplaceSub InplaceUpdate",
        lambda n: takes(_rows(n)[0], _rows(n)[1][:, 0], _rows(n)[2]),
    ),
    "RandomShuffle": lambda n: takes(f32(n // _COLUMNS, _COLUMNS)),
}
