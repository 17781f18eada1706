"""Examples in LIBSVM's format."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.registry import attr, not_differentiable, op
from penstock.shapes import Shape

__all__ = ["decode_libsvm"]

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)

DecodeLibsvm = op(
    "DecodeLibsvm(input: string) -> label: label_dtype, feature_indices: int64, "
    "feature_values: dtype, feature_shape: int64",
    dtype=attr("type", default=dtypes.float32, allowed=_TYPES),
    label_dtype=attr("type", default=dtypes.int64, allowed=_TYPES),
    num_features=attr("int", minimum=1),
)

not_differentiable("DecodeLibsvm")


@DecodeLibsvm.shape
def _(op: Any, lines: Shape) -> list[Shape]:
    axes = None if lines is None else len(lines) + 1
    return [lines, (None, axes), (None,), (axes,)]


def decode_libsvm(
    content: Any, num_features: int, dtype: Any = None, label_dtype: Any = None
) -> tuple[SparseTensor, Any]:
    """The features and the labels of lines `label index:value index:value …`.

    Args:
      content: strings, a line each, in any shape.
      num_features: how many features there are.
      dtype: the type of the values; float32 by default.
      label_dtype: the type of the labels; int64 by default.

    Returns:
      A sparse tensor with one axis more than the content, and the labels.
    """
    labels, indices, values, shape = DecodeLibsvm(
        content,
        num_features=num_features,
        dtype=dtypes.float32 if dtype is None else dtype,
        label_dtype=dtypes.int64 if label_dtype is None else label_dtype,
    )
    return SparseTensor(indices, values, shape), labels
