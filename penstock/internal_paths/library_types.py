"""Names of TensorFlow's native library that Python code asks for."""

from __future__ import annotations

from typing import Any

from penstock import dtypes


def TF_bfloat16_type() -> Any:
    """NumPy's type of `tf.bfloat16`."""
    return dtypes.bfloat16.as_numpy_dtype
