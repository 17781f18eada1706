"""`tensorflow.python.eager.backprop`: sums of gradients that are slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.internal_paths.math_functions import _as_indexed_slices_list
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ops.binary import add_n
from penstock.ops.gather import gather
from penstock.ops.joining import concat


def flatten_nested_indexed_slices(grad: IndexedSlices) -> IndexedSlices:
    """Slices whose values are a tensor: those of slices of slices."""
    if not isinstance(grad, IndexedSlices):
        raise AssertionError(f"not slices: {grad}")
    values: Any = grad.values
    if not isinstance(values, IndexedSlices):
        return grad
    inner = flatten_nested_indexed_slices(values)
    return IndexedSlices(inner.values, gather(grad.indices, inner.indices), inner.dense_shape)


def aggregate_indexed_slices_gradients(grads: Sequence[Any]) -> Any:
    """The sum of gradients: the slices of all, or a tensor where one of them is a tensor."""
    if len(grads) == 1:
        return grads[0]
    given = [each for each in grads if each is not None]
    if not given:
        return None
    if not all(isinstance(each, IndexedSlices) for each in given):
        return add_n([convert_to_tensor(each) for each in given])
    slices = [flatten_nested_indexed_slices(each) for each in _as_indexed_slices_list(given)]
    return IndexedSlices(
        concat([each.values for each in slices], axis=0),
        concat([each.indices for each in slices], axis=0),
        given[0].dense_shape,
    )
