"""Constants that kernels compute while a graph is built, for the shapes that hang on them.

TensorFlow's shape inference runs the part of a graph that a size comes from where it consists of
constants: `tf.zeros(tf.pow([2, 3], 2))` has the shape (4, 9). Its Python functions don't look that
far, so such values are known to shape rules alone (`while_inferring`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock import shapes
from penstock.dtypes import resource, variant
from penstock.ir.registry import CALLS_PYTHON, CONTROL_FLOW, WAITS

# compute(op, input values) -> one value per output, or None where its kernel can't
Compute = Callable[[Any, "list[np.ndarray]"], "list[np.ndarray] | None"]

_LARGEST = 10_000  # elements of a result: building must stay fast
_NOT_COMPUTED = frozenset([CALLS_PYTHON, CONTROL_FLOW, WAITS])


class _Inferring(threading.local):
    """`with while_inferring:` around a shape rule: values that kernels can compute are known."""

    depth = 0  # shape rules under way in this thread

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: Any) -> None:
        self.depth -= 1


while_inferring = _Inferring()
_compute: list[Compute] = []  # kernels are in a layer above the graph, which gives itself here


def compute_with(function: Compute) -> None:
    """Settles who computes ops of constants."""
    _compute[:] = [function]


def may_be_computed(op: Any) -> bool:
    """Whether an op's results follow from its inputs alone, and are values of moderate size."""
    spec = op.spec
    # A default may be fed over; without inputs, an op is a source and no computation.
    if spec.is_stateful or not spec.inputs or spec.name == "PlaceholderWithDefault":
        return False
    if _NOT_COMPUTED & spec.traits:
        return False
    return all(_is_value(tensor) for tensor in (*op._inputs, *op._outputs))


def _is_value(tensor: Any) -> bool:
    dtype = tensor._dtype
    if dtype.is_ref_dtype or dtype in (resource, variant):
        return False
    count = shapes.num_elements(tensor._shape)
    return count is None or count <= _LARGEST


def computed(op: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """The results of an op on these inputs, or None where nobody can compute them."""
    return _compute[0](op, list(inputs)) if _compute else None
