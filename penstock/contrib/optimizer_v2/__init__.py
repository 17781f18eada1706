"""`tf.contrib.optimizer_v2`: optimizers with settings that may change in every step."""

from penstock.contrib import lazy_paths
from penstock.contrib.optimizer_v2.optimizer_v2 import OptimizerV2
from penstock.contrib.optimizer_v2.rules import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)

__getattr__ = lazy_paths.resolver(__name__)
