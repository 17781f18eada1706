"""`tensorflow.python.eager.def_function`: what `tf.function` makes, under TensorFlow's names."""

from __future__ import annotations

from penstock.ops.graph_functions import (  # noqa: F401
    PolymorphicFunction,
    function,
    run_functions_eagerly,
)
from penstock.ops.lifted_variables import UnliftedInitializerVariable  # noqa: F401

Function = PolymorphicFunction
