"""`tf.keras`: models made of layers, as TensorFlow 1.15 has them, in graphs."""

import sys

from penstock import absent
from penstock.keras import (
    activations,
    applications,
    backend,
    callbacks,
    constraints,
    datasets,
    estimator,
    experimental,
    initializers,
    layers,
    losses,
    metrics,
    mixed_precision,
    models,
    optimizers,
    preprocessing,
    regularizers,
    utils,
    wrappers,
)
from penstock.keras.engine.input_layer import Input
from penstock.keras.engine.model import Model
from penstock.keras.engine.sequential import Sequential

__version__ = "2.2.4-tf"

__all__ = [
    "Input",
    "Model",
    "Sequential",
    "activations",
    "applications",
    "backend",
    "callbacks",
    "constraints",
    "datasets",
    "estimator",
    "experimental",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "mixed_precision",
    "models",
    "optimizers",
    "preprocessing",
    "regularizers",
    "utils",
    "wrappers",
]

absent.watch(sys.modules[__name__], "tf.keras")
for _name in ("callbacks", "layers", "utils"):
    absent.watch(sys.modules[f"{__name__}.{_name}"], f"tf.keras.{_name}")
