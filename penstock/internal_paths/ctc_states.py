"""What `tensorflow.python.ops.ctc_ops` has besides the public API.

The states of an alignment are the start, then the labels of a row in their order, then as many
blanks; their values are logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import functional
from penstock.ir.convert import to_tensor
from penstock.ir.tensor import Tensor
from penstock.nest import map_structure
from penstock.ops import array
from penstock.ops.aggregates import reduce_logsumexp
from penstock.ops.ctc import ctc_loss_v2, size_of

__all__ = ["_scan", "_state_to_olabel", "_state_to_olabel_unique", "_sum_states", "ctc_loss_dense"]

ctc_loss_dense = ctc_loss_v2


def _sum_states(idx: Any, states: Any) -> Tensor:
    """The sums, in each row, of the states that `idx` gives the same number."""
    return _summed_by(to_tensor(idx), to_tensor(states), 0, size_of(to_tensor(states), 2))


def _state_to_olabel(labels: Any, num_labels: int, states: Any) -> Tensor:
    """The sums of the states of each class, the blank first: [time, batch, num_labels]."""
    labels, states = to_tensor(labels), to_tensor(states)
    count = size_of(labels, 1) + 1
    blank = reduce_logsumexp(states[:, :, count:], axis=2, keepdims=True)
    others = _summed_by(labels, states[:, :, 1:count], 1, num_labels)
    return array.concat([blank, others], axis=-1)


def _state_to_olabel_unique(labels: Any, num_labels: int, states: Any, unique: Any) -> Tensor:
    """The same; `unique`, the distinct labels of each row, is not needed for it."""
    return _state_to_olabel(labels, num_labels, states)


def _summed_by(numbers: Tensor, states: Tensor, first: int, end: Any) -> Tensor:
    """For each number from `first` on, the sum of the states that have it: [time, batch, number]"""
    depth = end - first
    absent = float("-inf")
    places = array.one_hot(numbers - first, depth=depth, on_value=0.0, off_value=absent)
    return reduce_logsumexp(array.expand_dims(states, 3) + array.expand_dims(places, 0), axis=2)


def _scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initial: Any,
    reverse: bool = False,
    inclusive: bool = False,
    final_only: bool = False,
) -> Any:
    """`tf.scan`, with the first value in the result if `inclusive`, or with the last one alone."""
    initial = map_structure(to_tensor, initial)
    scanned = functional.scan(fn, elems, initializer=initial, reverse=reverse)
    if final_only:
        return map_structure(lambda values: values[0 if reverse else -1], scanned)
    if not inclusive:
        return scanned

    def joined(start: Tensor, values: Tensor) -> Tensor:
        row = array.expand_dims(start, 0)
        return array.concat([values, row] if reverse else [row, values], axis=0)

    return map_structure(joined, initial, scanned)
