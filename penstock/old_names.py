"""Names that TensorFlow had before 1.0 and that programs of that age still use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.ops.array import (
    concat,
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
    matrix_transpose,
    stack,
    unstack,
    where,
)
from penstock.ops.math import abs, matmul, multiply, negative, reciprocal, subtract

__all__ = [
    "batch_matmul",
    "batch_matrix_band_part",
    "batch_matrix_diag",
    "batch_matrix_diag_part",
    "batch_matrix_set_diag",
    "batch_matrix_transpose",
    "complex_abs",
    "concat_v2",
    "inv",
    "mul",
    "neg",
    "op_scope",
    "pack",
    "select",
    "sub",
    "unpack",
]

mul = multiply
sub = subtract
neg = negative
inv = reciprocal
complex_abs = abs
pack = stack
unpack = unstack
concat_v2 = concat
select = where
batch_matrix_band_part = matrix_band_part
batch_matrix_diag = matrix_diag
batch_matrix_diag_part = matrix_diag_part
batch_matrix_set_diag = matrix_set_diag
batch_matrix_transpose = matrix_transpose


def batch_matmul(
    x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Any:
    """Products of the matrices in the last two dimensions: `tf.matmul` of today."""
    return matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


def op_scope(
    values: Any, name: str | None, default_name: str | None = None
) -> AbstractContextManager[str]:
    """`tf.name_scope` with its arguments in the order of old."""
    return name_scope(name, default_name, values)
