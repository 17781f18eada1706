"""`tf.train.experimental`: loss scales, mixed precision, and Python state in checkpoints."""

from penstock.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from penstock.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from penstock.train.mixed_precision import (
    disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite,
)
from penstock.train.tracking.python_state import PythonState

__all__ = [
    "DynamicLossScale",
    "FixedLossScale",
    "LossScale",
    "MixedPrecisionLossScaleOptimizer",
    "PythonState",
    "disable_mixed_precision_graph_rewrite",
    "enable_mixed_precision_graph_rewrite",
]
