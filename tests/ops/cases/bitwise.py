"""Logic and shifts on the bits of integers."""

from tests.ops.case import Case, array, ints

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")

CASES: list[Case] = []
for dtype in (*SIGNED, *UNSIGNED):
    low = -100 if dtype in SIGNED else 0
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        CASES.append(Case(op, (ints(dtype, low, 100, 6), ints(dtype, low, 100, 6)), label=dtype))
    for op in ("LeftShift", "RightShift"):
        CASES.append(Case(op, (ints(dtype, low, 100, 6), ints(dtype, 0, 8, 6)), label=dtype))
    for op in ("Invert", "PopulationCount"):
        CASES.append(Case(op, (ints(dtype, low, 100, 2, 3),), label=dtype))
for op in ("LeftShift", "RightShift"):
    CASES += [
        Case(op, (array([1, 1, 100, -1], "int32"), array([33, -1, 31, 4], "int32")), label="far"),
        Case(op, (array([100, 3], "uint32"), array([40, 1], "uint32")), label="far unsigned"),
        Case(op, (array([[1], [2]], "int64"), array([1, 2], "int64")), label="broadcast"),
    ]
CASES.append(
    Case("BitwiseAnd", (ints("int32", 0, 9, 2), ints("int32", 0, 9, 3)), label="shapes", fails=True)
)
