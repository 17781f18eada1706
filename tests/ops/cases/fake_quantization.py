"""Fake quantization."""

from tests.ops.case import Case, array, f32

BITS = ({}, {"num_bits": 4}, {"narrow_range": True}, {"num_bits": 7, "narrow_range": True})
BOUNDS = ((0.0, 6.0), (-1.0, 1.0), (0.4, 6.8), (-3.0, -0.5), (0.0, 0.0))
MIN, MAX = array([-1.0, 0.1, -2.0], "float32"), array([1.0, 3.0, -0.5], "float32")


def number(value: float) -> object:
    return array(value, "float32")


CASES: list[Case] = []
for options in BITS:
    for low, high in BOUNDS:
        # Gradients of the bounds are not derivatives: rounding has none.
        CASES.append(
            Case(
                "FakeQuantWithMinMaxVars",
                (f32(4, 5, lo=-8, hi=8), number(low), number(high)),
                options,
                numeric=False,
            )
        )
        CASES.append(
            Case(
                "FakeQuantWithMinMaxVarsGradient",
                (f32(4, 5), f32(4, 5, lo=-8, hi=8), number(low), number(high)),
                options,
                grad=False,
            )
        )
    CASES += [
        Case("FakeQuantWithMinMaxArgs", (f32(4, 5, lo=-8, hi=8),), options, numeric=False),
        Case(
            "FakeQuantWithMinMaxArgsGradient",
            (f32(4, 5), f32(4, 5, lo=-8, hi=8)),
            {**options, "min": -1.0, "max": 3.0},
            grad=False,
        ),
        Case(
            "FakeQuantWithMinMaxVarsPerChannel",
            (f32(2, 4, 3, lo=-4, hi=4), MIN, MAX),
            options,
            numeric=False,
        ),
        Case(
            "FakeQuantWithMinMaxVarsPerChannelGradient",
            (f32(5, 3), f32(5, 3, lo=-4, hi=4), MIN, MAX),
            options,
            grad=False,
        ),
    ]
CASES += [
    Case("FakeQuantWithMinMaxVarsPerChannel", (f32(3), MIN, MAX), label="vector", numeric=False),
    Case("FakeQuantWithMinMaxVarsPerChannel", (f32(4), MIN, MAX), label="sizes", fails=True),
    Case("FakeQuantWithMinMaxVars", (f32(3), MIN, MAX), label="vectors", fails=True),
    Case(
        "FakeQuantWithMinMaxArgsGradient",
        (f32(3), f32(2)),
        label="shapes",
        fails=True,
    ),
]
