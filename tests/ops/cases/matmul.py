"""Products of matrices, of batches of matrices, and of vectors in space."""

from tests.ops.case import Case, bf16, c64, c128, f32, f64, floats, ints

FLOATS = ("float16", "bfloat16", "float32", "float64")
WAYS = [(False, False), (True, False), (False, True), (True, True)]
BATCHES = ("BatchMatMul", "BatchMatMulV2")
INTEGERS = ("int32", "int64")

CASES: list[Case] = []


def factors(make: object, turn_a: bool, turn_b: bool, *batch: int) -> tuple:
    a, b = (3, 2) if turn_a else (2, 3), (4, 3) if turn_b else (3, 4)
    return make(*batch, *a), make(*batch, *b)  # type: ignore[operator]


for n, (turn_a, turn_b) in enumerate(WAYS):
    turned = {"transpose_a": turn_a, "transpose_b": turn_b}
    CASES += [
        Case("MatMul", factors(f64, turn_a, turn_b), turned, label=f"way {n}"),
        Case("MatMul", factors(c128, turn_a, turn_b), turned, label=f"complex way {n}"),
        Case("SparseMatMul", factors(f32, turn_a, turn_b), turned, label=f"way {n}"),
    ]
    turned = {"adj_x": turn_a, "adj_y": turn_b}
    for op in BATCHES:
        CASES += [
            Case(op, factors(f64, turn_a, turn_b, 2, 2), turned, label=f"way {n}"),
            Case(op, factors(c128, turn_a, turn_b, 2), turned, label=f"complex way {n}"),
        ]
for op in ("MatMul", *BATCHES):
    CASES += [Case(op, (floats(t, 2, 3), floats(t, 3, 4)), label=t) for t in FLOATS]
    CASES += [Case(op, (ints(t, -9, 9, 2, 3), ints(t, -9, 9, 3, 4)), label=t) for t in INTEGERS]
    CASES += [
        Case(op, (c64(2, 3), c64(3, 4)), label="complex64"),
        Case(op, (f32(0, 3), f32(3, 4)), label="no rows"),
        Case(op, (f32(2, 0), f32(0, 4)), label="no inner"),
        Case(op, (f32(2, 3), f32(2, 3)), label="sizes", fails=True),
        Case(op, (f32(3), f32(3, 4)), label="vector", fails=True),
    ]
CASES += [
    Case("MatMul", (f32(2, 2, 3), f32(3, 4)), label="batch", fails=True),
    Case("BatchMatMul", (f32(2, 2, 3), f32(3, 3, 4)), label="batches", fails=True),
    Case("BatchMatMulV2", (f64(5, 2, 3), f64(3, 4)), label="broadcast"),
    Case("BatchMatMulV2", (f64(1, 2, 3), f64(5, 3, 4)), label="broadcast one"),
    Case("BatchMatMulV2", (f64(2, 1, 2, 3), f64(5, 3, 4)), label="broadcast both"),
    Case("BatchMatMulV2", (f32(2, 2, 3), f32(3, 3, 4)), label="batches", fails=True),
    Case("BatchMatMulV2", (f32(0, 2, 3), f32(0, 3, 4)), label="empty"),
    Case(
        "BatchMatMulV3", (ints("int8", -9, 9, 2, 3), ints("int8", -9, 9, 3, 4)), {"Tout": "int32"}
    ),
    Case("BatchMatMulV3", (f64(5, 2, 3), f64(3, 4)), {"Tout": "float64"}, label="double"),
    Case("SparseMatMul", (bf16(2, 3), bf16(3, 4)), {"a_is_sparse": True}, label="bfloat16"),
    Case("SparseMatMul", (f32(2, 3), bf16(3, 4)), {"b_is_sparse": True}, label="mixed"),
    Case("SparseMatMul", (f32(2, 3), f32(2, 3)), label="sizes", fails=True),
    Case("Cross", (f32(3), f32(3))),
    Case("Cross", (f64(2, 4, 3), f64(2, 4, 3)), label="many"),
    Case("Cross", (ints("int32", -9, 9, 2, 3), ints("int32", -9, 9, 2, 3)), label="int32"),
    Case("Cross", (ints("uint16", 0, 9, 2, 3), ints("uint16", 0, 9, 2, 3)), label="uint16"),
    Case("Cross", (f32(2), f32(2)), label="in the plane", fails=True),
    Case("Cross", (f32(2, 3), f32(3)), label="shapes", fails=True),
]
