"""`tensorflow.python.keras.optimizers` knows the modules of its optimizers by these names."""

from penstock.keras.optimizers import base as optimizer_v2
from penstock.keras.optimizers import moment_rules as adam_v2
from penstock.keras.optimizers import moment_rules as adamax_v2
from penstock.keras.optimizers import moment_rules as nadam_v2
from penstock.keras.optimizers import rules as adadelta_v2
from penstock.keras.optimizers import rules as adagrad_v2
from penstock.keras.optimizers import rules as ftrl
from penstock.keras.optimizers import rules as gradient_descent_v2
from penstock.keras.optimizers import rules as rmsprop_v2

__all__ = [
    "adadelta_v2",
    "adagrad_v2",
    "adam_v2",
    "adamax_v2",
    "ftrl",
    "gradient_descent_v2",
    "nadam_v2",
    "optimizer_v2",
    "rmsprop_v2",
]
