"""`tf.train.experimental`: loss scales, and Python state in checkpoints."""

from penstock.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from penstock.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from penstock.train.tracking.python_state import PythonState

__all__ = [
    "DynamicLossScale",
    "FixedLossScale",
    "LossScale",
    "MixedPrecisionLossScaleOptimizer",
    "PythonState",
]
