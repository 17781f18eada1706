"""`tf.keras.mixed_precision.experimental`: layers that compute in 16 bits and keep 32."""

from penstock.keras.mixed_precision.experimental.loss_scale_optimizer import LossScaleOptimizer
from penstock.keras.mixed_precision.experimental.policy import Policy, global_policy, set_policy

__all__ = ["LossScaleOptimizer", "Policy", "global_policy", "set_policy"]
