"""A test case for loops of independent iterations: `pfor` must give what `for_loop` gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, nest
from penstock.ops.variable_collections import global_variables_initializer
from penstock.parallel_loops import for_loop, pfor
from penstock.testing.test_case import TensorFlowTestCase


class PForTestCase(TensorFlowTestCase):
    """Base of tests of loop functions."""

    def _run_targets(self, targets1: Any, targets2: Any = None, run_init: bool = True) -> list[Any]:
        first = nest.flatten(targets1)
        second = [] if targets2 is None else nest.flatten(targets2)
        assert len(first) == len(second) or not second
        if run_init:
            self.evaluate(global_variables_initializer())
        values: list[Any] = self.evaluate(first + second)
        return values

    def run_and_assert_equal(self, targets1: Any, targets2: Any) -> None:
        """Runs two structures of tensors and compares what they give."""
        values = nest.flatten(self._run_targets(targets1, targets2))
        half = len(values) // 2
        for first, second in zip(values[:half], values[half:], strict=True):
            if np.asarray(second).dtype == object:
                self.assertAllEqual(second, first)
            else:
                self.assertAllClose(second, first, rtol=1e-4, atol=1e-5)

    def _test_loop_fn(
        self,
        loop_fn: Any,
        iters: Any,
        loop_fn_dtypes: Any = dtypes.float32,
        parallel_iterations: int | None = None,
    ) -> None:
        self.run_and_assert_equal(
            pfor(loop_fn, iters, parallel_iterations),
            for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations),
        )
