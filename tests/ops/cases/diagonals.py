"""Diagonals and bands of matrices."""

from typing import Any

from tests.ops.case import Case, array, bf16, bools, c64, f32, f64, i32, i64, ints

_I32, _I64 = "int32", "int64"
_FREE = array(-1, _I32)
_MAIN = array(0, _I32)
_BAND = array([-1, 2], _I32)
_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _size(rows: int, cols: int) -> tuple[Any, Any]:
    return array(rows, _I32), array(cols, _I32)


CASES = [
    Case("Diag", (f64(3),)),
    Case("Diag", (i64(0, 9, 2, 3),)),
    Case("Diag", (f32(),), label="scalar", fails=True),
    Case("DiagPart", (f64(3, 3),)),
    Case("DiagPart", (c64(2, 3, 2, 3),)),
    Case("DiagPart", (f32(2, 3),), label="not square", fails=True),
    Case("DiagPart", (f32(2),), label="odd rank", fails=True),
    Case("MatrixBandPart", (f64(3, 4), array(1, _I64), array(0, _I64))),
    Case("MatrixBandPart", (f32(2, 3, 3), array(-1, _I32), array(1, _I32))),
    Case("MatrixBandPart", (bools(3, 3), array(0, _I32), array(-1, _I32))),
    Case("MatrixBandPart", (ints("uint16", 1, 9, 3, 3), array(0, _I32), array(0, _I32))),
    Case("MatrixBandPart", (f32(2, 2), array(-1, _I32), array(-1, _I32)), label="all"),
    Case(
        "MatrixBandPart", (f32(2, 2), array(3, _I32), array(0, _I32)), label="too low", fails=True
    ),
    Case("MatrixDiag", (f64(2, 3),)),
    Case("MatrixDiag", (bools(3),)),
    Case("MatrixDiagPart", (f64(2, 3, 3),)),
    Case("MatrixDiagPart", (f32(3, 2),), label="tall"),
    Case("MatrixDiagPart", (f32(3),), label="vector", fails=True),
    Case("MatrixSetDiag", (f64(2, 3, 3), f64(2, 3))),
    Case("MatrixSetDiag", (i32(0, 9, 2, 3), i32(0, 9, 2)), label="wide"),
    Case("MatrixSetDiag", (f32(2, 3), f32(3)), label="too long", fails=True),
    Case("MatrixDiagV2", (f64(2, 3), _MAIN, _FREE, _FREE, array(0, "float64")), grad=(0,)),
    Case("MatrixDiagV2", (f32(2, 3), array([0, 1], _I32), *_size(3, 4), f32()), grad=(0,)),
    Case("MatrixDiagV3", (f64(2, 3), _MAIN, _FREE, _FREE, array(0, "float64")), grad=(0,)),
    Case("MatrixDiagV3", (f32(3), array(-1, _I32), _FREE, _FREE, f32()), grad=(0,)),
    Case("MatrixDiagV3", (bf16(3), array([2], _I32), *_size(3, 5), bf16()), grad=(0,)),
    Case("MatrixDiagV3", (bools(2), _MAIN, *_size(2, 4), array(False, "bool"))),
    *[
        Case(
            "MatrixDiagV3",
            (f64(2, 4, 3), _BAND, *_size(3, 4), f64()),
            {"align": align},
            label=f"band {align}",
            grad=(0,),
        )
        for align in _ALIGNMENTS
    ],
    Case("MatrixDiagV3", (f32(3), _MAIN, *_size(2, 3), f32()), label="too small", fails=True),
    Case("MatrixDiagV3", (f32(3), _MAIN, *_size(5, 4), f32()), label="too large", fails=True),
    Case("MatrixDiagPartV2", (f64(2, 3, 4), _MAIN, f64()), grad=(0,)),
    # TensorFlow aligns the gradient of the second version as if it were of the third.
    Case("MatrixDiagPartV2", (f32(3, 4), _BAND, f32()), grad=False),
    Case("MatrixDiagPartV3", (f64(2, 3, 3), _MAIN, f64()), grad=(0,)),
    Case("MatrixDiagPartV3", (f32(3, 4), array(-2, _I32), f32()), grad=(0,)),
    Case("MatrixDiagPartV3", (f32(3, 4), array([1, 1], _I32), f32()), label="one", grad=(0,)),
    *[
        Case(
            "MatrixDiagPartV3",
            (f64(2, 3, 4), array([-2, 3], _I32), f64()),
            {"align": align},
            label=f"band {align}",
            grad=(0,),
        )
        for align in _ALIGNMENTS
    ],
    Case("MatrixDiagPartV3", (f32(2, 2), array(2, _I32), f32()), label="outside", fails=True),
    Case("MatrixDiagPartV3", (f32(2, 2), array([1, 0], _I32), f32()), label="order", fails=True),
    Case("MatrixSetDiagV2", (f64(2, 3, 3), f64(2, 3), _MAIN)),
    Case("MatrixSetDiagV2", (f32(3, 4), f32(2, 3), array([0, 1], _I32))),
    Case("MatrixSetDiagV3", (f64(2, 3, 3), f64(2, 3), _MAIN)),
    Case("MatrixSetDiagV3", (f32(3, 4), f32(1), array(-2, _I32))),
    *[
        Case(
            "MatrixSetDiagV3",
            (f64(2, 3, 4), f64(2, 4, 3), _BAND),
            {"align": align},
            label=f"band {align}",
        )
        for align in _ALIGNMENTS
    ],
    Case("MatrixSetDiagV3", (f32(2, 3), f32(3), _MAIN), label="too long", fails=True),
]
