"""Greatest common divisors."""

from __future__ import annotations

import math
from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array
from penstock.ops.binary import floormod
from penstock.ops.loops import while_loop


def gcd(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The greatest common divisor of two integers, by Euclid's algorithm."""
    with name_scope(name, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        for which, value in (("a", a), ("b", b)):
            value.shape.assert_has_rank(0)
            if not value.dtype.is_integer:
                raise ValueError(f"{which} must be an integer type. Got: {value.dtype}")
        known_a, known_b = constant_value(a), constant_value(b)
        if known_a is not None and known_b is not None:
            return convert_to_tensor(math.gcd(int(known_a), int(known_b)), dtype=a.dtype)
        found, _ = while_loop(
            lambda _, rest: rest > array.zeros_like(rest),
            lambda x, rest: [rest, floormod(x, rest)],
            [a, b],
            back_prop=False,
        )
        return found
