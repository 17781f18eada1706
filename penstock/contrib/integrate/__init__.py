"""`tf.contrib.integrate`: ordinary differential equations."""

from penstock.contrib import lazy_paths
from penstock.contrib.integrate.adaptive import odeint
from penstock.contrib.integrate.fixed_grid import odeint_fixed

__all__ = [
    "odeint",
    "odeint_fixed",
]

__getattr__ = lazy_paths.resolver(__name__)
