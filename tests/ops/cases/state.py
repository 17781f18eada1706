"""Variables by reference: their value after an update is compared too."""

from tests.ops.case import (
    Case,
    Made,
    Ref,
    array,
    bf16,
    bools,
    c64,
    f16,
    f32,
    f64,
    i32,
    i64,
    ints,
    string,
    strings,
)

UNSET = {"initialized": False}


def _variables() -> list[Case]:
    attrs = {"shape": [2, 3], "dtype": "float32"}
    variable = Made("VariableV2", (), attrs)
    loose = Made("VariableV2", (), {"shape": None, "dtype": "float32"})
    value = f32(2, 3)
    temporary = Made("TemporaryVariable", (), {**attrs, "var_name": "scratch"})
    filled = Made("Assign", (temporary, f32(2, 3)))
    return [
        Case("VariableV2", (), attrs, label="uninitialized", fails=True),
        Case("VariableV2", (), {"shape": [2], "dtype": "string"}, label="strings", fails=True),
        Case("Variable", (), attrs, label="old", fails=True),
        Case("Assign", (variable, value), label="first value"),
        Case("Assign", (loose, value), {"validate_shape": False}, label="first value, any shape"),
        Case("Assign", (Made("Variable", (), attrs), value), label="old variable"),
        Case("TemporaryVariable", (), attrs, shape_only=True),
        Case("DestroyTemporaryVariable", (filled,), {"var_name": "scratch"}),
        Case("IsVariableInitialized", (Ref(f32(2)),)),
        Case("IsVariableInitialized", (Ref(f32(2), **UNSET),)),
        Case("IsVariableInitialized", (Ref(strings("a")),)),
    ]


def _assignments() -> list[Case]:
    text = Ref(strings(["a", "b"], ["c", "d"]))
    return [
        Case("Assign", (Ref(f32(2, 3)), f32(2, 3))),
        Case("Assign", (Ref(f64(2, 3)), f64(2, 3)), {"use_locking": False}),
        Case("Assign", (Ref(f16(3)), f16(3))),
        Case("Assign", (Ref(bf16(3)), bf16(3))),
        Case("Assign", (Ref(i32(0, 9, 3)), i32(0, 9, 3))),
        Case("Assign", (Ref(bools(3)), bools(3))),
        Case("Assign", (Ref(c64(2, 2)), c64(2, 2))),
        Case("Assign", (Ref(ints("uint16", 0, 9, 3)), ints("uint16", 0, 9, 3))),
        Case("Assign", (Ref(f32()), f32()), label="scalar"),
        Case("Assign", (Ref(f32(0, 3)), f32(0, 3)), label="empty"),
        Case("Assign", (text, strings(["e", ""], [b"\x00", "h"])), label="strings"),
        Case("Assign", (Ref(f32(2), **UNSET), f32(2)), label="uninitialized"),
        Case("Assign", (Ref(f32(2)), f32(3)), {"validate_shape": False}, label="another shape"),
        Case("Assign", (Ref(f32(2)), f32(2)), {"validate_shape": False}, label="the same shape"),
        Case("Assign", (Ref(f32(2)), f32(3)), label="shapes differ", fails=True),
        Case("Assign", (Ref(f32(2), **UNSET), f32(3)), label="unset, shapes differ", fails=True),
        Case("Assign", (Ref(strings("a")), strings("b", "c")), label="strings differ", fails=True),
    ]


def _sums(op: str) -> list[Case]:
    square = Ref(f32(3, 3))
    narrow = array([200, 100], "uint8")
    return [
        Case(op, (Ref(f32(2, 3)), f32(2, 3))),
        Case(op, (Ref(f64(2, 3)), f64(2, 3)), {"use_locking": True}),
        Case(op, (Ref(f16(3)), f16(3))),
        Case(op, (Ref(bf16(3)), bf16(3))),
        Case(op, (Ref(i64(0, 9, 3)), i64(0, 9, 3))),
        Case(op, (Ref(c64(2)), c64(2))),
        Case(op, (Ref(narrow), narrow), label="wraps"),
        Case(op, (Ref(array([65000], "uint16")), array([1000], "uint16")), label="16 bits"),
        Case(op, (Ref(f32()), f32()), label="scalar"),
        Case(op, (Ref(f32(0, 2)), f32(0, 2)), label="empty"),
        Case(op, (square, Made("Identity", (square,))), label="itself"),
        Case(
            op,
            (square, Made("Transpose", (square, array([1, 0], "int32")))),
            label="itself transposed",
        ),
        Case(op, (Ref(f32(2, 3)), f32(3)), label="not broadcast", fails=True),
        Case(op, (Ref(f32(2), **UNSET), f32(2)), label="uninitialized", fails=True),
    ]


def _counts(dtype: str) -> list[Case]:
    return [
        Case("CountUpTo", (Ref(array(3, dtype)),), {"limit": 5}),
        Case("CountUpTo", (Ref(array(5, dtype)),), {"limit": 5}, label=f"{dtype} end", fails=True),
        Case("CountUpTo", (Ref(ints(dtype, 0, 2, 2)),), {"limit": 5}, label=dtype, fails=True),
    ]


def _rows(op: str) -> list[Case]:
    """Updates of rows: of several types and shapes, repeated, scalar, out of range."""
    positive = {"lo": 1, "hi": 2}
    cases = [
        Case(op, (Ref(f32(5, 3)), i32(0, 5, 4), f32(4, 3, **positive))),
        Case(op, (Ref(f64(5, 2, 2)), i64(0, 5, 2, 2), f64(2, 2, 2, 2, **positive))),
        Case(op, (Ref(f16(5)), i32(0, 5, 3), f16(3, **positive))),
        Case(op, (Ref(bf16(5)), array([4, 1], "int32"), bf16(2, **positive))),
        Case(op, (Ref(i32(-50, 50, 5, 2)), array([1, 1, 4], "int32"), i32(1, 5, 3, 2))),
        Case(op, (Ref(f32(5, 3)), array([2, 0, 2, 2], "int64"), f32(4, 3, **positive))),
        Case(op, (Ref(f32(5, 3)), array(2, "int32"), f32(3, **positive)), label="one row"),
        Case(op, (Ref(f32(5)), array(2, "int32"), f32(**positive)), label="one number"),
        Case(op, (Ref(f32(5, 3)), i32(0, 5, 2), array(2, "float32")), label="scalar for all"),
        Case(op, (Ref(f32(5, 3)), i32(0, 5, 0), f32(0, 3)), label="none"),
        Case(op, (Ref(f32(5, 0)), i32(0, 5, 2), f32(2, 0)), label="empty rows"),
        Case(op, (Ref(f32(5, 2)), i32(0, 5, 2), f32(2, 2, **positive)), {"use_locking": True}),
        Case(op, (Ref(f32(3, 2)), array([0, 3], "int32"), f32(2, 2)), label="beyond", fails=True),
        Case(op, (Ref(f32(3, 2)), array([-1], "int32"), f32(1, 2)), label="before", fails=True),
        Case(op, (Ref(f32(3, 2)), i32(0, 3, 2), f32(2, 3)), label="rows differ", fails=True),
        Case(op, (Ref(f32(3), **UNSET), i32(0, 3, 2), f32(2)), label="uninitialized", fails=True),
    ]
    many = (Ref(f32(40, 7)), i32(0, 40, 400), f32(400, 7, lo=0.9, hi=1.1))
    return [*cases, Case(op, many, label="many")]


def _slices(op: str) -> list[Case]:
    corners = array([[0, 1], [2, 0], [0, 1]], "int32")
    square = Ref(f32(3, 3))
    return [
        Case(op, (Ref(f32(4, 3)), array([[1], [3]], "int32"), f32(2, 3))),
        Case(op, (Ref(f64(3, 2)), array([[0, 1], [2, 0]], "int64"), f64(2))),
        Case(op, (Ref(f32(3, 2, 2)), array([[0, 1], [2, 0]], "int32"), f32(2, 2))),
        Case(op, (Ref(i32(0, 9, 3, 2)), corners, i32(0, 9, 3)), label="repeated"),
        Case(op, (Ref(f32(3, 2)), array([[[0], [1]]], "int32"), f32(1, 2, 2)), label="nested"),
        Case(op, (Ref(f32(3)), array([2], "int32"), f32()), label="one number", fails=True),
        Case(op, (Ref(f32(3)), i32(0, 3, 0, 1), f32(0)), label="none"),
        Case(op, (square, array([[1]], "int32"), f32(1, 3)), {"use_locking": True}),
        Case(op, (Ref(f32(3, 2)), array([[0, 2]], "int32"), f32(1)), label="beyond", fails=True),
        Case(op, (Ref(f32(3, 2)), array([[-1, 0]], "int32"), f32(1)), label="before", fails=True),
        Case(op, (Ref(f32(3, 2)), array([[0]], "int32"), f32(1, 3)), label="differ", fails=True),
        Case(op, (Ref(f32(3, 2)), array([[0, 0, 0]], "int32"), f32(1)), label="deep", fails=True),
        Case(op, (Ref(f32(2), **UNSET), i32(0, 2, 1, 1), f32(1)), label="unset", fails=True),
    ]


def _whole_division() -> list[Case]:
    low, high = array([[-7, 7], [9, -9]], "int32"), array([[2, -2], [4, 4]], "int32")
    rows = array([0, 1], "int32")
    return [
        Case("ScatterDiv", (Ref(low), rows, high), label="truncates"),
        Case("ScatterDiv", (Ref(low), array([1, 1], "int32"), high), label="truncates twice"),
    ]


def _special_numbers() -> list[Case]:
    nan, inf = float("nan"), float("inf")
    row = array([[1, nan, inf, -inf]], "float32")
    given = array([[nan, 1, -inf, 2]], "float32")
    first = array([0], "int32")
    ops = ("ScatterAdd", "ScatterMul", "ScatterDiv")
    return [Case(op, (Ref(row), first, given), label="not finite") for op in ops]


CASES = [
    *_variables(),
    *_assignments(),
    *_sums("AssignAdd"),
    *_sums("AssignSub"),
    *_counts("int32"),
    *_counts("int64"),
    *_rows("ScatterUpdate"),
    *_rows("ScatterAdd"),
    *_rows("ScatterSub"),
    *_rows("ScatterMul"),
    *_rows("ScatterDiv"),
    *_rows("ScatterMin"),
    *_rows("ScatterMax"),
    *_whole_division(),
    *_special_numbers(),
    Case("ScatterUpdate", (Ref(bools(4)), array([1, 3], "int32"), bools(2)), label="booleans"),
    Case(
        "ScatterUpdate",
        (Ref(strings("a", "b", "c")), array([2, 0, 2], "int32"), strings("x", "y", "z")),
        label="strings",
    ),
    Case(
        "ScatterUpdate",
        (Ref(strings("a", "b", "c")), array([1, 2], "int32"), string("x")),
        label="one string",
    ),
    *[
        Case(f"Scatter{kind}", (Ref(c64(3)), array([1, 1], "int32"), c64(2)), label="complex")
        for kind in ("Update", "Add", "Sub", "Mul", "Div")
    ],
    *_slices("ScatterNdUpdate"),
    *_slices("ScatterNdAdd"),
    *_slices("ScatterNdSub"),
    *_slices("ScatterNdMin"),
    *_slices("ScatterNdMax"),
    Case(
        "ScatterNdUpdate",
        (Ref(strings("a", "b", "c")), array([[2], [0]], "int32"), strings("x", "y")),
        label="strings",
    ),
    Case(
        "ScatterNdAdd",
        (Ref(f32(3, 2)), array([[0, 2], [1, 1], [-1, 0]], "int32"), f32(3)),
        {"bad_indices_policy": "IGNORE"},
        label="bad ones ignored",
    ),
]
