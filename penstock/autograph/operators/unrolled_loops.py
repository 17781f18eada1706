"""`while` loops of Python values: they end, and they do not fill a graph unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.autograph import ag_logging

PYTHON_MAX_ITERATIONS = 100_000_000  # about a minute of an empty loop
INEFFICIENT_UNROLL_MIN_ITERATIONS = 3000
INEFFICIENT_UNROLL_MIN_OPS = 1

#: How many iterations are looked at once there were many.
_LOOKED_AT = 3

LIVE_NAMES = ("PYTHON_MAX_ITERATIONS",)


class UnrolledLoop:
    """Counts the iterations of a loop, and warns once where a late one still makes operations."""

    def __init__(self) -> None:
        self._iterations = 0

    def run(self, body: Callable[[], Any]) -> None:
        """One iteration."""
        late = self._iterations - INEFFICIENT_UNROLL_MIN_ITERATIONS
        if 0 < late <= _LOOKED_AT:
            before = len(tf.get_default_graph().get_operations())
            body()
            if self._warn(tf.get_default_graph().get_operations()[before:]):
                self._iterations += _LOOKED_AT
        else:
            body()
        self._iterations += 1
        if self._iterations > PYTHON_MAX_ITERATIONS:
            raise ValueError("iteration limit exceeded")

    def _warn(self, made: Any) -> bool:
        if len(made) < INEFFICIENT_UNROLL_MIN_OPS:
            return False
        ag_logging.warn(
            "TensorFlow ops are being created in a Python loop with large number of iterations. "
            "This can lead to slow startup. Did you mean to use a TensorFlow loop? For example, "
            "`while True:` is a Python loop, and `while tf.constant(True):` is a TensorFlow loop. "
            "The following ops were created after iteration %s: %s",
            self._iterations + 1,
            tuple(made),
        )
        return True
