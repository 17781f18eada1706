"""Dual coordinate ascent as `tf.estimator` has it: resource variables, any L2 above zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.estimator.sdca.model import SdcaModel
from penstock.platform import logging


class EstimatorSdcaModel(SdcaModel):
    """A linear model and the operations that train it; see `SdcaModel`."""

    _slot_suffix = "_unshrunk"

    def _check_options(self, options: Mapping[str, Any]) -> None:
        l1, l2 = (options[f"symmetric_{name}_regularization"] for name in ("l1", "l2"))
        if l2 <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")
        if l2 <= 1.0:
            logging.warn(
                "symmetric_l2_regularization for SDCA should typically be larger than for online "
                "optimization methods. Recommended value is of the order of the average L2 norm of "
                "the training examples."
            )
        if l1 < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")

    def _symmetric_l2_regularization(self) -> float:
        l2: float = self._options["symmetric_l2_regularization"]
        return l2

    def _shrink(self, variable: Any, l1: float) -> Any:
        if not l1:
            return tf.no_op()
        distance = l1 / self._symmetric_l2_regularization()
        return variable.assign(tf.sign(variable) * tf.maximum(0.0, tf.abs(variable) - distance))
