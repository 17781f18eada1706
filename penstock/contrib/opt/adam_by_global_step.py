"""Adam that counts steps by a variable of the program, not by powers of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.opt.adam_variants import LazyAdamOptimizer
from penstock.train.adam import AdamOptimizer
from penstock.train.optimizer import Optimizer


class AdamGSOptimizer(AdamOptimizer):
    """Adam; the powers of its betas come from `global_step`."""

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._global_step_on_worker: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        step = self._global_step_on_worker
        return tf.pow(self._beta1_t, step), tf.pow(self._beta2_t, step)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        # One read for all variables: the step may be on a parameter server.
        step = tf.identity(self._global_step) + 1
        self._global_step_on_worker = tf.cast(step, tf.float32)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        return Optimizer._finish(self, update_ops, name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer, LazyAdamOptimizer):
    """As AdamGSOptimizer; a sparse gradient leaves the rows alone that it lacks."""
