"""Blocks of space moved into the batch or depth dimension, and back."""

from tests.ops.case import Case, array, f16, f32, f64, i32

_I32, _I64 = "int32", "int64"
_BLOCK = array([2, 2], _I32)
_NONE = array([[0, 0], [0, 0]], _I32)
_SOME = array([[1, 0], [0, 1]], _I32)

CASES = [
    Case("SpaceToBatch", (f64(1, 4, 2, 3), _NONE), {"block_size": 2}),
    Case("SpaceToBatch", (f32(2, 3, 3, 1), _SOME), {"block_size": 2}),
    Case("SpaceToBatch", (f32(1, 3, 4, 1), _NONE), {"block_size": 2}, "not divisible", fails=True),
    # No numeric check: it feeds tensors of unknown rank, which TensorFlow refuses for these ops.
    Case("SpaceToBatchND", (f64(1, 4, 2, 3), _BLOCK, _NONE), numeric=False),
    Case("SpaceToBatchND", (f16(2, 3, 3), _BLOCK, _SOME)),
    Case("SpaceToBatchND", (i32(0, 9, 2, 6, 2), array([3], _I64), array([[2, 1]], _I64))),
    Case("SpaceToBatchND", (f32(1, 3, 4, 1), _BLOCK, _NONE), label="not divisible", fails=True),
    Case("SpaceToBatchND", (f32(1, 4), _BLOCK, _NONE), label="rank", fails=True),
    Case(
        "SpaceToBatchND", (f32(1, 4, 4, 1), array([2, 0], _I32), _NONE), label="block", fails=True
    ),
    Case("BatchToSpace", (f64(4, 2, 1, 3), _NONE), {"block_size": 2}),
    Case("BatchToSpace", (f32(8, 2, 2, 1), _SOME), {"block_size": 2}),
    Case("BatchToSpaceND", (f64(4, 2, 1, 3), _BLOCK, _NONE), numeric=False),
    Case("BatchToSpaceND", (i32(0, 9, 8, 2, 2), _BLOCK, _SOME)),
    Case("BatchToSpaceND", (f32(6, 3, 2), array([3], _I64), array([[2, 1]], _I64))),
    Case("BatchToSpaceND", (f32(3, 2, 2, 1), _BLOCK, _NONE), label="not divisible", fails=True),
    Case(
        "BatchToSpaceND",
        (f32(4, 1, 1, 1), _BLOCK, array([[2, 1], [0, 0]], _I32)),
        label="too much cropped",
        fails=True,
    ),
    Case("SpaceToDepth", (f64(2, 4, 2, 3),), {"block_size": 2}),
    Case("SpaceToDepth", (f32(1, 3, 6, 1),), {"block_size": 3}),
    Case("SpaceToDepth", (f32(1, 3, 4, 1),), {"block_size": 2}, "not divisible", fails=True),
    Case("SpaceToDepth", (f32(2, 4, 1),), {"block_size": 2}, "rank", fails=True),
    Case(
        "SpaceToDepth",
        (array(range(16), "float32").reshape(1, 2, 2, 4),),
        {"block_size": 2, "data_format": "NCHW"},
        "channels first",
        grad=False,
        expected=(
            array(
                [0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15],
                "float32",
            ).reshape(1, 8, 1, 2),
        ),
    ),
    Case("DepthToSpace", (f64(2, 2, 1, 8),), {"block_size": 2}),
    Case("DepthToSpace", (f16(1, 1, 2, 9),), {"block_size": 3}),
    Case("DepthToSpace", (f32(1, 3, 4, 3),), {"block_size": 2}, "not divisible", fails=True),
    Case(
        "DepthToSpace",
        (
            array(
                [0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15],
                "float32",
            ).reshape(1, 8, 1, 2),
        ),
        {"block_size": 2, "data_format": "NCHW"},
        "channels first",
        grad=False,
        expected=(array(range(16), "float32").reshape(1, 2, 2, 4),),
    ),
]
