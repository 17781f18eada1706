"""Random numbers: seeded operations draw TensorFlow's own."""

import numpy as np

from tests.ops.case import Case, array, bools, f16, f32, f64, i32, i64, strings

SEEDS = {"seed": 87654321, "seed2": 12}
FLOATING = ("float32", "float64", "float16", "bfloat16")
INF = float("inf")


def _sizes(*sizes: int, dtype: str = "int32") -> np.ndarray:
    return array(list(sizes), dtype)


def _of_shape(op: str) -> list[Case]:
    """An op that takes a shape alone, in all types, of odd and even sizes."""
    cases = [
        Case(op, (_sizes(*sizes),), {"dtype": dtype, **SEEDS})
        for dtype in FLOATING
        for sizes in ((7,), (3, 5), (257,))
    ]
    return [
        *cases,
        Case(op, (_sizes(),), {"dtype": "float32", **SEEDS}, label="scalar"),
        Case(op, (_sizes(0, 3),), {"dtype": "float32", **SEEDS}, label="empty"),
        Case(op, (_sizes(2, 3, dtype="int64"),), {"dtype": "float32", **SEEDS}, label="long sizes"),
        Case(op, (_sizes(5),), {"dtype": "float32", "seed": -3, "seed2": 2**40}, label="wide seed"),
        Case(op, (_sizes(5),), {"dtype": "float32", "seed": 0, "seed2": 9}, label="one seed"),
        Case(op, (_sizes(4, 3),), {"dtype": "float32"}, label="without seed", shape_only=True),
        Case(op, (_sizes(4, 3),), {"dtype": "bfloat16"}, label="narrow", shape_only=True),
        Case(op, (_sizes(2, -1),), {"dtype": "float32", **SEEDS}, label="negative", fails=True),
        Case(op, (array(3, "int32"),), {"dtype": "float32"}, label="scalar shape", fails=True),
    ]


def _integers(dtype: str) -> list[Case]:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return [
        Case("RandomUniformInt", (_sizes(17), array(-7, dtype), array(100, dtype)), dict(SEEDS)),
        Case("RandomUniformInt", (_sizes(3, 3), array(low, dtype), array(high, dtype)), SEEDS),
        Case("RandomUniformInt", (_sizes(0), array(0, dtype), array(0, dtype)), SEEDS),
    ]


def _shuffles() -> list[Case]:
    seeds = {"seed": 3, "seed2": 4}
    return [
        Case("RandomShuffle", (i32(0, 99, 10),), seeds),
        Case("RandomShuffle", (f32(7, 2),), seeds, grad=False),
        Case("RandomShuffle", (f32(1, 2),), seeds, label="one row", grad=False),
        Case("RandomShuffle", (f32(),), seeds, label="scalar", grad=False),
        Case("RandomShuffle", (f32(0, 2),), seeds, label="empty", grad=False),
        Case("RandomShuffle", (bools(5),), seeds),
        Case("RandomShuffle", (strings("a", "b", "c", "d"),), seeds, label="strings"),
        Case("RandomShuffle", (i64(0, 9, 6),), label="without seed", shape_only=True),
    ]


def _categories() -> list[Case]:
    seeds = {"seed": 3, "seed2": 4}
    odd = array([[1, INF, float("nan"), -INF], [-INF] * 4, [-INF, 0, -INF, 0]], "float32")
    count = array(6, "int32")
    return [
        Case("Multinomial", (f32(5, 7), count), seeds, grad=False),
        Case("Multinomial", (f64(3, 2), array(1, "int32")), seeds, grad=False),
        Case("Multinomial", (f16(40, 3), array(3, "int32")), seeds, grad=False),
        Case("Multinomial", (f32(2, 3), count), {"output_dtype": "int32", **seeds}, grad=False),
        Case("Multinomial", (odd, count), seeds, label="not finite", grad=False),
        Case("Multinomial", (f32(0, 3), count), seeds, label="no rows", grad=False),
        Case("Multinomial", (f32(2, 3), array(0, "int32")), seeds, label="no samples", grad=False),
        Case("Multinomial", (f32(2, 3), count), label="without seed", shape_only=True),
        Case("Multinomial", (f32(2, 0), count), seeds, label="no classes", fails=True),
        Case("Multinomial", (f32(2, 3), array(-1, "int32")), seeds, label="negative", fails=True),
        Case("Multinomial", (f32(3), count), seeds, label="vector", fails=True),
        Case("StatelessMultinomial", (f32(5, 7), count, _sizes(1, 2)), grad=False),
        Case("StatelessMultinomial", (f32(0, 7), count, _sizes(1, 2)), grad=False),
    ]


def _gammas() -> list[Case]:
    seeds = {"seed": 3, "seed2": 4}
    alpha = [0.3, 1.0, 2.5, 100.0, 0.9]
    rate = [0.3, 2.5, 9.9, 10.0, 300.0, 0.0]
    return [
        *[
            Case(
                "RandomGamma",
                (_sizes(4), array(alpha, dtype)),
                seeds,
                label=dtype,
                rtol=2e-4,
                numeric=False,
            )
            for dtype in ("float64", "float32")
        ],
        Case("RandomGamma", (_sizes(4), array(alpha, "float16")), seeds, grad=False),
        Case("RandomGamma", (_sizes(), array(2.0, "float32")), seeds, label="scalar", grad=False),
        Case("RandomGamma", (_sizes(2, 0), f32(3, lo=1, hi=2)), seeds, label="empty", grad=False),
        Case("RandomGamma", (_sizes(3), array([0, -1, INF], "float64")), seeds, grad=False),
        Case("RandomGamma", (_sizes(3), f32(2, lo=1, hi=2)), label="unseeded", shape_only=True),
        Case(
            "RandomGammaGrad",
            (f64(3, lo=0.5, hi=3), f64(4, 3, lo=0.1, hi=3)),
            grad=False,
            rtol=2e-4,
        ),
        Case("RandomGammaGrad", (f32(3, lo=0.5, hi=3), f32(3, lo=0.1, hi=3)), rtol=2e-4),
        *[
            Case("RandomPoissonV2", (_sizes(5), array(rate, "float32")), {"dtype": dtype, **seeds})
            for dtype in ("float32", "float64", "float16", "int32", "int64")
        ],
        Case("RandomPoissonV2", (_sizes(2, 2), array([3, 20], "int32")), seeds, label="whole rate"),
        Case("RandomPoissonV2", (_sizes(3), array([-1, INF], "float64")), {"dtype": "float64"}),
        Case("RandomPoissonV2", (_sizes(3), f32(2, lo=1, hi=2)), label="new", shape_only=True),
    ]


def _truncated() -> list[Case]:
    seeds = {"seed": 3, "seed2": 4}
    op = "ParameterizedTruncatedNormal"
    bounds = [
        (0, 1, -2, 2),
        (1, 2, -1, 3),
        (0, 1, 3, 5),
        (0, 1, -6, -4),
        (0, 1, 0, 0.1),
        (2, 0.5, -1, INF),
        (0, 1, -INF, -1),
        (0, 1, -0.5, 2),
    ]

    def parameters(values: tuple[float, ...], dtype: str) -> tuple[np.ndarray, ...]:
        return tuple(array(value, dtype) for value in values)

    rows = [array(column, "float64") for column in zip(*bounds[:4], strict=True)]
    return [
        *[
            Case(op, (_sizes(9), *parameters(entry, dtype)), seeds, grad=False)
            for entry in bounds
            for dtype in ("float32", "float64")
        ],
        Case(op, (_sizes(9), *parameters(bounds[0], "float16")), seeds, grad=False),
        Case(op, (_sizes(250), *parameters(bounds[2], "float64")), seeds, grad=False),
        Case(op, (_sizes(4, 5), *rows), seeds, label="by row", grad=False),
        Case(op, (_sizes(4, 2, 3), *rows), seeds, label="by row of a cube", grad=False),
        Case(op, (_sizes(0), *parameters(bounds[0], "float32")), seeds, label="none", grad=False),
        Case(op, (_sizes(3, 5), *rows), seeds, label="other rows", fails=True),
        Case(
            op, (_sizes(3), *parameters((0, 1, 2, 1), "float32")), seeds, label="bounds", fails=True
        ),
        Case(
            op, (_sizes(3), *parameters((0, -1, 1, 2), "float32")), seeds, label="dev", fails=True
        ),
        Case(op, (_sizes(), *parameters(bounds[0], "float32")), seeds, label="scalar", fails=True),
    ]


def _stateless() -> list[Case]:
    cases = [
        Case(f"Stateless{op}", (_sizes(*sizes), array(seed, "int64")), {"dtype": dtype})
        for op in ("RandomUniform", "RandomNormal", "TruncatedNormal")
        for dtype, sizes, seed in (
            ("float32", (11,), [1, 2]),
            ("float64", (2, 5), [-5, 2**40 + 1]),
            ("float16", (6,), [-1, -1]),
            ("bfloat16", (6,), [0, 0]),
        )
    ]
    key, counter = array([2**63 + 11], "uint64"), array([3, 2**64 - 1], "uint64")
    philox = array(1, "int32")
    keyed = [
        Case(f"Stateless{op}V2", (_sizes(11), key, counter, philox), {"dtype": dtype})
        for op in ("RandomUniform", "RandomNormal", "TruncatedNormal")
        for dtype in ("float32", "float64")
    ]
    seed = _sizes(3, 4)
    return [
        *cases,
        *keyed,
        Case("StatelessRandomNormal", (_sizes(2), _sizes(1, 2, 3)), label="3 seeds", fails=True),
        *[
            Case("StatelessRandomUniformInt", (_sizes(9), seed, array(-3, t), array(10, t)))
            for t in ("int32", "int64")
        ],
        Case(
            "StatelessRandomUniformInt",
            (_sizes(9), seed, array(3, "int32"), array(3, "int32")),
            label="no range",
            fails=True,
        ),
        *[
            Case("StatelessRandomUniformFullInt", (_sizes(9), seed), {"dtype": t})
            for t in ("int32", "int64", "uint32", "uint64")
        ],
        Case("StatelessRandomGetKeyCounter", (seed,)),
        Case("StatelessRandomGetKeyCounter", (array([-7, 2**62], "int64"),)),
        *[
            Case(
                "StatelessRandomUniformIntV2",
                (_sizes(9), key, counter, philox, array(2, t), array(90, t)),
            )
            for t in ("int32", "int64")
        ],
        *[
            Case("StatelessRandomUniformFullIntV2", (_sizes(9), key, counter, philox), {"dtype": t})
            for t in ("int32", "uint64")
        ],
    ]


CASES = [
    *_of_shape("RandomUniform"),
    *_of_shape("RandomStandardNormal"),
    *_of_shape("TruncatedNormal"),
    *_integers("int32"),
    *_integers("int64"),
    Case(
        "RandomUniformInt",
        (_sizes(3), array(5, "int32"), array(5, "int32")),
        SEEDS,
        label="no range",
        fails=True,
    ),
    Case(
        "RandomUniformInt",
        (_sizes(3), array([5], "int32"), array([6], "int32")),
        SEEDS,
        label="bounds not scalar",
        fails=True,
    ),
    Case(
        "RandomUniformInt",
        (_sizes(3), array(5, "int64"), array(6, "int64")),
        label="without seed",
    ),
    *_shuffles(),
    *_categories(),
    *_gammas(),
    *_truncated(),
    *_stateless(),
]
