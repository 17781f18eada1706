"""The settings of `tf.config` under the names that they have in `tensorflow.python.framework`."""

from penstock.config.optimizer import (
    get_experimental_options as get_optimizer_experimental_options,
)
from penstock.config.optimizer import get_jit as get_optimizer_jit
from penstock.config.optimizer import (
    set_experimental_options as set_optimizer_experimental_options,
)
from penstock.config.optimizer import set_jit as set_optimizer_jit

__all__ = [
    "get_optimizer_experimental_options",
    "get_optimizer_jit",
    "set_optimizer_experimental_options",
    "set_optimizer_jit",
]
