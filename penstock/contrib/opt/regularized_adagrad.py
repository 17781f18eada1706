"""Adagrad whose accumulators regularization need not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.train.adagrad import _KERNELS, AdagradOptimizer
from penstock.train.fused import apply, cast_for, choose

__all__ = ["RegAdagradOptimizer"]


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad with updates that leave the accumulators as they are, for regularization."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Updates that are made inside change variables alone."""
        before = self._should_update_slots
        self._should_update_slots = False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        rate = cast_for(var, self._learning_rate_tensor)
        return apply(
            choose(_KERNELS, var, gradient),
            [var, self.get_slot(var, "accumulator")],
            [*rate, *gradient],
            use_locking=self._use_locking,
            update_slots=self._should_update_slots,
        )
