"""What is measured of an op: a node's inputs and attrs, as functions of the number of elements.

    FAMILY: Family = {
        "MatMul": lambda n: takes(f32(side(n), side(n)), f32(side(n), side(n))),
        **alike("Exp Log Sqrt", lambda n: takes(f32(n, lo=0.1, hi=0.9))),
    }

Such tables stand in `families/`. Inputs are those of `tests/ops/case.py`: arrays, variables (`Ref`,
`Resource`), and nodes that the op needs (`Made`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

from tests.ops.case import Made

SIZES = (10**3, 10**6)


@dataclass(frozen=True, eq=False)
class Trial:
    """One op at one size.

    inputs: one entry per argument of the op's signature.
    before: nodes that run once, before the first step.
    """

    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    before: tuple[Made, ...] = ()


Generator = Callable[[int], Trial]
Family = dict[str, Generator]


def takes(*inputs: Any, before: Any = (), **attrs: Any) -> Trial:
    return Trial(inputs, attrs, before)


def alike(op_types: str, generator: Generator) -> Family:
    """The same inputs for several op types."""
    return dict.fromkeys(op_types.split(), generator)


def side(n: int) -> int:
    """The side of a square of about n elements."""
    return isqrt(n)
