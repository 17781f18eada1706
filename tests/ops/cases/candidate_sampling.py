"""Candidate samplers; seeded ones draw the same classes as TensorFlow's."""

from typing import Any

from tests.ops.case import Case, array, i64

TRUE = array([[0], [3], [7]], "int64")
PAIRS = array([[0, 9], [3, 1]], "int64")
COUNTS = [1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 6.0, 2.0, 1.0, 1.0]


def _attrs(**more: Any) -> dict[str, Any]:
    attrs = {"num_true": 1, "num_sampled": 6, "unique": True, "range_max": 10}
    return {**attrs, "seed": 7, "seed2": 9, **more}


def _cases(op: str, **more: Any) -> list[Case]:
    return [
        Case(op, (TRUE,), _attrs(**more), label="unique"),
        Case(op, (TRUE,), _attrs(unique=False, **more), label="repeated"),
        Case(op, (PAIRS,), _attrs(num_true=2, **more), label="two true classes"),
        Case(op, (TRUE,), _attrs(num_sampled=10, **more), label="all"),
        Case(op, (TRUE,), _attrs(seed=0, seed2=0, **more), label="without seed", shape_only=True),
        Case(op, (i64(0, 9, 0, 1),), _attrs(**more), label="no rows"),
        Case(op, (TRUE,), _attrs(num_sampled=11, **more), label="range too small", fails=True),
        Case(op, (array([1, 2], "int64"),), _attrs(**more), label="vector", fails=True),
        Case(op, (PAIRS,), _attrs(**more), label="too many columns", fails=True),
        Case(op, (array([[10]], "int64"),), _attrs(**more), label="beyond the range", fails=True),
        Case(op, (array([[-1]], "int64"),), _attrs(**more), label="negative class", fails=True),
    ]


ALL = {"num_true": 1, "num_sampled": 8, "unique": True}
HITS = "ComputeAccidentalHits"

CASES = [
    *_cases("UniformCandidateSampler"),
    Case("UniformCandidateSampler", (TRUE,), _attrs(range_max=64), label="power of two"),
    *_cases("LogUniformCandidateSampler"),
    Case("LogUniformCandidateSampler", (TRUE,), _attrs(range_max=50000), label="many classes"),
    *_cases("LearnedUnigramCandidateSampler"),
    *_cases("ThreadUnsafeUnigramCandidateSampler"),
    *_cases("FixedUnigramCandidateSampler", unigrams=COUNTS),
    Case(
        "FixedUnigramCandidateSampler",
        (TRUE,),
        _attrs(unigrams=COUNTS[2:], num_reserved_ids=2, distortion=0.75),
        label="reserved and distorted",
    ),
    Case("AllCandidateSampler", (TRUE,), ALL),
    Case("AllCandidateSampler", (PAIRS,), ALL, label="too many columns", fails=True),
    Case("AllCandidateSampler", (TRUE + 1,), ALL, label="beyond the range", fails=True),
    Case(HITS, (TRUE, array([7, 1, 0], "int64")), {"num_true": 1}),
    Case(HITS, (PAIRS, array([9, 3, 5, 0, 1], "int64")), {"num_true": 2}, label="two true classes"),
    Case(HITS, (TRUE, array([7, 1, 7], "int64")), {"num_true": 1}, label="drawn twice"),
    Case(HITS, (TRUE, array([1, 2], "int64")), {"num_true": 1}, label="none"),
    Case(HITS, (PAIRS, array([1, 2], "int64")), {"num_true": 1}, label="columns", fails=True),
    Case(HITS, (TRUE, PAIRS), {"num_true": 1}, label="sampled matrix", fails=True),
]
