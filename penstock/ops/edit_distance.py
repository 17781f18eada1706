"""Edit distances between sequences."""

from __future__ import annotations

from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.registry import not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.sparse_structure import sparse_parts
from penstock.ops.sparse_tensors import is_sparse
from penstock.shapes import Shape

__all__ = ["edit_distance"]

EditDistance = op(
    "EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64) -> output: float32",
    normalize=True,
)
not_differentiable(EditDistance)


@EditDistance.shape
def _(op: Any, *inputs: Shape) -> Shape:
    sparse_parts(*inputs[:3])
    sparse_parts(*inputs[3:])
    hypothesis, truth = constant_value(op.inputs[2]), constant_value(op.inputs[5])
    if hypothesis is None or truth is None:
        return None
    if len(hypothesis) != len(truth):
        raise ValueError(
            f"Num elements of hypothesis_shape does not match truth_shape: {len(hypothesis)} vs. "
            f"{len(truth)}"
        )
    return tuple(
        max(pair) for pair in zip(hypothesis[:-1].tolist(), truth[:-1].tolist(), strict=True)
    )


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = "edit_distance"
) -> Tensor:
    """The Levenshtein distances between the sequences of two sparse tensors.

    Args:
      hypothesis: Sequences along the last dimension.
      normalize: Whether to divide each distance by the length of its truth.
    """
    if not is_sparse(hypothesis):
        raise TypeError("Hypothesis must be a SparseTensor.")
    if not is_sparse(truth):
        raise TypeError("Truth must be a SparseTensor.")
    return EditDistance(
        hypothesis.indices,
        hypothesis.values,
        hypothesis.dense_shape,
        truth.indices,
        truth.values,
        truth.dense_shape,
        normalize=normalize,
        name=name,
    )
