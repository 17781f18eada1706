"""Clipping, and the L2 loss."""

from tests.ops.case import Case, array, bf16, f16, f32, f64, floats, i32, ints

NAN = float("nan")

CASES: list[Case] = []
for dtype in ("float16", "bfloat16", "float32", "float64"):
    CASES += [
        Case(
            "ClipByValue",
            (floats(dtype, 2, 3), array(-0.5, dtype), array(0.5, dtype)),
            label=dtype,
            grad=(0,),
        ),
        Case("L2Loss", (floats(dtype, 2, 3),), label=dtype),
    ]
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16"):
    pair = array(2, dtype), array(5, dtype)
    CASES.append(Case("ClipByValue", (ints(dtype, 0, 9, 6), *pair), label=dtype))
CASES += [
    Case(
        "ClipByValue",
        (f64(2, 3), f64(2, 3, lo=-1, hi=-0.3), f64(2, 3, lo=0.3, hi=1)),
        label="tensors",
    ),
    Case(
        "ClipByValue",
        (array([NAN, -5, 5], "float32"), array(2, "float32"), array(1, "float32")),
        label="crossed",
        grad=False,
    ),
    Case("ClipByValue", (f32(2, 3), f32(3), f32()), label="shapes", fails=True),
    Case("ClipByValue", (i32(0, 9, 0), array(2, "int32"), array(5, "int32")), label="empty"),
    Case("L2Loss", (f32(),), label="scalar"),
    Case("L2Loss", (f32(0, 3),), label="empty"),
    Case("L2Loss", (f16(100),), label="float16 long"),
    Case("L2Loss", (bf16(100),), label="bfloat16 long"),
    Case("L2Loss", (f32(3, 4, 5),), label="rank 3"),
]
