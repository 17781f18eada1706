"""Conversions between types, and the parts of complex numbers."""

from tests.ops.case import Case, array, c64, c128, f32, f64, strings

NAN, INF = float("nan"), float("inf")
TYPES = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool "
    "complex64 complex128"
).split()

# Numbers that every type holds, but bool and the unsigned types.
NUMBERS = [0, 1, 2, 100, 3]

CASES: list[Case] = [
    Case(
        "Cast",
        (array(NUMBERS, source),),
        {"DstT": target},
        label=f"{source} to {target}",
        grad=None if source != target else False,
        numeric=False,  # the types have not the digits for finite differences
    )
    for source in TYPES
    for target in TYPES
]
FRACTIONS = [1.9, -1.9, 0.5, -0.5, 99.99]
for target in ("int8", "int16", "int32", "int64", "bool"):
    CASES.append(
        Case("Cast", (array(FRACTIONS, "float32"),), {"DstT": target}, label=f"fraction {target}")
    )
CASES += [
    Case(
        "Cast",
        (array([NAN, INF, -INF, 3e10, -3e10], "float32"),),
        {"DstT": "int32"},
        label="outside int32",
    ),
    Case(
        "Cast",
        (array([NAN, INF, -INF, 3e30, -3e30], "float64"),),
        {"DstT": "int64"},
        label="outside int64",
    ),
    Case("Cast", (array([300, -1, 2**40], "int64"),), {"DstT": "uint8"}, label="wraps"),
    Case("Cast", (array([300.0, -1.0], "float32"),), {"DstT": "uint8"}, label="outside uint8"),
    Case(
        "Cast",
        (array([1e10, 65520, 1e-8], "float64"),),
        {"DstT": "float16"},
        label="to inf",
        grad=False,
    ),
    Case("Cast", (array([1j, 1, 0], "complex64"),), {"DstT": "bool"}, label="imaginary to bool"),
    Case("Cast", (f32(2, 3),), {"DstT": "bfloat16", "Truncate": True}, label="truncated"),
    Case(
        "Cast",
        (f64(2, 3),),
        {"DstT": "float32", "Truncate": True},
        label="truncated double",
        numeric=False,
    ),
    Case("Cast", (f32(0, 3),), {"DstT": "int32"}, label="empty"),
    Case("Cast", (strings("1", "2"),), {"DstT": "float32"}, label="of strings", fails=True),
    Case("Cast", (f32(2),), {"DstT": "string"}, label="to strings", fails=True),
    Case("Complex", (f32(2, 3), f32(2, 3)), {"Tout": "complex64"}),
    Case("Complex", (f64(2, 3), f64(3)), {"Tout": "complex128"}, label="broadcast"),
    Case("Complex", (f32(2), f32(3)), {"Tout": "complex64"}, label="shapes", fails=True),
    Case("Conj", (c64(2, 3),)),
    Case("Conj", (c128(3),)),
]
for op in ("Real", "Imag", "Angle", "ComplexAbs"):
    CASES += [
        Case(op, (c64(2, 3),), {"Tout": "float32"}),
        Case(op, (c128(3),), {"Tout": "float64"}),
        Case(
            op,
            (array([0, 1, -1, 1j], "complex64"),),
            {"Tout": "float32"},
            label="axes",
            grad=False if op == "Angle" else None,
        ),
    ]
