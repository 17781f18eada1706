"""Names of TensorFlow's native library that Python code asks for, types and constants."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir import constants
from penstock.ir.computed_ahead import while_inferring
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor


def TF_bfloat16_type() -> Any:
    """NumPy's type of `tf.bfloat16`."""
    return dtypes.bfloat16.as_numpy_dtype


def TF_TryEvaluateConstant_wrapper(graph: Graph, output: Tensor) -> Any:
    """The value of a tensor that depends on constants alone, else None."""
    with while_inferring:
        value = constants.constant_value(output)
    return None if value is None else value[()]
