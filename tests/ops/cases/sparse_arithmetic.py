"""Arithmetic on sparse tensors: sums, products, extremes, softmax, reductions, matrix products."""

from typing import Any

from tests.ops.case import Case, array, bf16, c64, c128, f16, f32, f64, i32, i64, ints, u8


def ix(*values: Any) -> Any:
    """Numbers of int64: indices, shapes."""
    return array(values[0] if len(values) == 1 else list(values), "int64")


A = ix([[0, 1], [1, 0], [1, 2], [3, 1]])
B = ix([[0, 0], [0, 1], [1, 2], [2, 2], [3, 2]])
SIZES = ix([4, 3])
NONE = i64(0, 1, 0, 2)
CUBE = ix([[0, 0, 1], [0, 2, 0], [1, 0, 0], [1, 0, 3], [1, 2, 3]])
CUBE_SIZES = ix([2, 3, 4])


def axes(*numbers: int) -> Any:
    return array(list(numbers), "int32")


CASES = [
    Case("SparseAdd", (A, f64(4), SIZES, B, f64(5), SIZES, array(0.0, "float64")), grad=(1, 4)),
    Case(
        "SparseAdd",
        (A, f32(4), SIZES, B, f32(5), SIZES, array(0.7, "float32")),
        label="threshold",
        grad=(1, 4),
    ),
    Case(
        "SparseAdd",
        (
            A,
            array([1, -2, 3, 4], "int32"),
            SIZES,
            A,
            array([-1, 2, 3, 1], "int32"),
            SIZES,
            array(1, "int32"),
        ),
        label="cancelling",
    ),
    Case(
        "SparseAdd",
        (A, c64(4), SIZES, B, c64(5), SIZES, array(0.5, "float32")),
        label="complex",
        grad=False,
    ),
    Case(
        "SparseAdd",
        (NONE, f32(0), SIZES, A, f32(4), SIZES, array(0.0, "float32")),
        label="empty",
        grad=(1, 4),
    ),
    Case(
        "SparseAdd",
        (
            ix([[1, 1], [1, 1], [0, 0]]),
            f32(3),
            SIZES,
            ix([[1, 1], [2, 2]]),
            f32(2),
            SIZES,
            array(0.0, "float32"),
        ),
        label="repeated rows",
        grad=False,
    ),
    Case(
        "SparseAdd",
        (A, f32(4), SIZES, B, f32(5), ix([4, 4]), array(0.0, "float32")),
        label="shapes differ",
        fails=True,
    ),
    Case(
        "SparseAdd",
        (A, f32(4), SIZES, B, f32(5), SIZES, f32(1)),
        label="threshold vector",
        fails=True,
    ),
    Case("SparseAddGrad", (f32(3), A, B, ix([[0, 0], [1, 2], [3, 1]])), grad=False),
    Case("SparseAddGrad", (f32(2), A, B, ix([[0, 0]])), label="counts differ", fails=True),
    Case("SparseTensorDenseAdd", (A, f64(4), SIZES, f64(4, 3)), grad=(1, 3)),
    Case(
        "SparseTensorDenseAdd",
        (array([[1], [1]], "int32"), f32(2), array([3], "int32"), f32(3)),
        label="repeated rows",
        grad=(1, 3),
    ),
    Case("SparseTensorDenseAdd", (A, i32(0, 9, 4), SIZES, i32(0, 9, 4, 3)), label="integers"),
    Case("SparseTensorDenseAdd", (NONE, c128(0), SIZES, c128(4, 3)), label="empty", grad=(1, 3)),
    Case("SparseTensorDenseAdd", (A, f32(4), SIZES, f32(4, 4)), label="sizes", fails=True),
    Case("SparseTensorDenseAdd", (A, f32(4), SIZES, f32(3)), label="ranks", fails=True),
    Case("SparseTensorDenseAdd", (A, f32(4), ix([3, 3]), f32(3, 3)), label="outside", fails=True),
    Case("SparseDenseCwiseMul", (A, f64(4), SIZES, f64(4, 3)), grad=(1, 3)),
    Case("SparseDenseCwiseMul", (A, f64(4), SIZES, f64(3)), label="broadcast", grad=(1, 3)),
    Case("SparseDenseCwiseMul", (A, f32(4), SIZES, f32(4, 1)), label="column", grad=(1, 3)),
    Case("SparseDenseCwiseMul", (A, f32(4), SIZES, f32()), label="scalar", grad=False),
    Case("SparseDenseCwiseMul", (A, i32(0, 9, 4), SIZES, i32(0, 9, 1, 3)), label="integers"),
    Case("SparseDenseCwiseMul", (A, f32(4), SIZES, f32(2, 4, 3)), label="larger", fails=True),
    Case("SparseDenseCwiseMul", (A, f32(4), SIZES, f32(4)), label="other size", fails=True),
    Case("SparseDenseCwiseDiv", (A, f64(4), SIZES, f64(4, 3, lo=1, hi=2)), grad=(1, 3)),
    Case("SparseDenseCwiseDiv", (A, f32(4), SIZES, f32(1, 3)), label="broadcast", grad=(1, 3)),
    Case("SparseDenseCwiseDiv", (A, i32(-9, 9, 4), SIZES, i32(1, 4, 3)), label="integers"),
    Case("SparseDenseCwiseAdd", (A, f32(4), SIZES, f32(4, 3)), grad=False),
    Case("SparseDenseCwiseAdd", (CUBE, f32(5), CUBE_SIZES, f32(2, 1, 4)), grad=False),
    Case("SparseDenseCwiseAdd", (A, u8(0, 9, 4), SIZES, u8(0, 9, 3)), label="bytes"),
    Case("SparseDenseCwiseAdd", (NONE, f32(0), SIZES, f32(3)), label="empty", grad=False),
    Case("SparseSoftmax", (A, f64(4), SIZES), grad=(1,)),
    Case("SparseSoftmax", (CUBE, f32(5), CUBE_SIZES), label="cube", grad=(1,)),
    Case("SparseSoftmax", (A, f16(4), SIZES), label="half", grad=False),
    Case("SparseSoftmax", (NONE, f32(0), SIZES), label="empty", grad=False),
    Case("SparseSoftmax", (ix([[0], [1]]), f32(2), ix([3])), label="vector", fails=True),
    Case("SparseSparseMaximum", (A, f32(4), SIZES, B, f32(5), SIZES), grad=False),
    Case("SparseSparseMaximum", (A, i32(-9, 9, 4), SIZES, NONE, i32(0, 9, 0), SIZES)),
    Case(
        "SparseSparseMaximum",
        (A, f32(4), SIZES, B, f32(5), ix([5, 3])),
        label="shapes differ",
        fails=True,
    ),
    Case("SparseSparseMinimum", (A, f64(4), SIZES, B, f64(5), SIZES), grad=False),
    Case("SparseSparseMinimum", (A, i64(-9, 9, 4), SIZES, A, i64(-9, 9, 4), SIZES)),
    Case(
        "SparseSparseMinimum",
        (A, f32(4), SIZES, CUBE, f32(5), CUBE_SIZES),
        label="ranks differ",
        fails=True,
    ),
    *[
        Case(op, (CUBE, values, CUBE_SIZES, over), {"keep_dims": keep}, label=label, grad=grad)
        for op, grad in (
            ("SparseReduceSum", (1,)),
            ("SparseReduceMax", False),
            ("SparseReduceSumSparse", False),
            ("SparseReduceMaxSparse", False),
        )
        for label, values, over, keep in (
            ("last axis", f64(5), axes(-1), False),
            ("first axis kept", f64(5), axes(0), True),
            ("two axes", f32(5), axes(0, 2), False),
            ("middle axis", f32(5), axes(1), False),
            ("all axes", f32(5), axes(0, 1, 2), False),
            ("all axes kept", f32(5), axes(0, 1, 2), True),
            ("no axes", f32(5), axes(), False),
        )
    ],
    Case("SparseReduceSum", (CUBE, i32(0, 9, 5), CUBE_SIZES, axes(1)), label="integers"),
    Case("SparseReduceSum", (NONE, f32(0), SIZES, axes(1)), label="empty", grad=False),
    Case("SparseReduceMax", (NONE, f32(0), SIZES, axes(0, 1)), label="empty", grad=False),
    Case("SparseReduceMaxSparse", (NONE, f32(0), SIZES, axes(0)), label="empty", grad=False),
    Case("SparseReduceSum", (A, f32(4), SIZES, axes(2)), label="axis beyond rank", fails=True),
    Case("SparseReduceMax", (A, f32(4), SIZES, axes(-3)), label="axis before rank", fails=True),
    Case("SparseReduceSumSparse", (A, f32(4), SIZES, axes(5)), label="axis beyond", fails=True),
    Case("SparseTensorDenseMatMul", (A, f64(4), SIZES, f64(3, 2)), grad=(1, 3)),
    Case(
        "SparseTensorDenseMatMul",
        (A, f64(4), SIZES, f64(4, 2)),
        {"adjoint_a": True},
        label="adjoint a",
        grad=(1, 3),
    ),
    Case(
        "SparseTensorDenseMatMul",
        (A, f32(4), SIZES, f32(2, 3)),
        {"adjoint_b": True},
        label="adjoint b",
        grad=(1, 3),
    ),
    Case(
        "SparseTensorDenseMatMul",
        (A, f32(4), SIZES, f32(2, 4)),
        {"adjoint_a": True, "adjoint_b": True},
        label="both adjoint",
        grad=(1, 3),
    ),
    Case(
        "SparseTensorDenseMatMul",
        (A, c64(4), SIZES, c64(2, 4)),
        {"adjoint_a": True, "adjoint_b": True},
        label="complex",
        grad=(1, 3),
    ),
    Case(
        "SparseTensorDenseMatMul",
        (A, c128(4), SIZES, c128(3, 2)),
        label="complex128",
        grad=(1, 3),
    ),
    Case("SparseTensorDenseMatMul", (A, i32(0, 9, 4), SIZES, i32(0, 9, 3, 2)), label="integers"),
    Case("SparseTensorDenseMatMul", (A, bf16(4), SIZES, bf16(3, 2)), label="bfloat16", grad=False),
    Case(
        "SparseTensorDenseMatMul",
        (ints("int32", 0, 3, 4, 2), f32(4), SIZES, f32(3, 2)),
        label="int32 indices",
        grad=False,
    ),
    Case(
        "SparseTensorDenseMatMul",
        (i64(0, 30, 200, 2), f32(200), ix([40, 30]), f32(30, 50)),
        label="large",
        grad=(1, 3),
    ),
    Case("SparseTensorDenseMatMul", (NONE, f32(0), SIZES, f32(3, 2)), label="empty", grad=(1, 3)),
    Case("SparseTensorDenseMatMul", (A, f32(4), SIZES, f32(4, 2)), label="sizes", fails=True),
    Case("SparseTensorDenseMatMul", (A, f32(4), ix([3, 3]), f32(3, 2)), label="row", fails=True),
    Case("SparseTensorDenseMatMul", (A, f32(4), ix([4, 2]), f32(2, 2)), label="column", fails=True),
]
