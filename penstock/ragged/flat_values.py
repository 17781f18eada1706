"""Functions of the elements of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.ragged.conversion import convert_to_tensor_or_ragged_tensor, is_ragged
from penstock.ragged.row_ranges import assert_splits_match
from penstock.ragged.tensor import RaggedTensor


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls `op` with the elements of ragged arguments; its result has their rows.

    All ragged arguments, also those in lists and dicts, must have the same row splits.

    >>> tf.ragged.map_flat_values(tf.ones_like, tf.ragged.constant([[1, 2], [3]]))
    """
    found: list[tuple[Any, ...]] = []
    flat_args = _flat(args, found)
    flat_kwargs = _flat(kwargs, found)
    if not found:
        return op(*args, **kwargs)
    if len({splits[0].dtype for splits in found}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    with tf.control_dependencies(assert_splits_match(found)):
        result = op(*flat_args, **flat_kwargs)
        return RaggedTensor.from_nested_row_splits(result, found[0], validate=False)


def _flat(value: Any, found: list[tuple[Any, ...]]) -> Any:
    """The value with ragged tensors replaced by their elements; their splits go to `found`."""
    if is_ragged(value):
        ragged = convert_to_tensor_or_ragged_tensor(value)
        found.append(ragged.nested_row_splits)
        return ragged.flat_values
    if isinstance(value, (list, tuple)):
        items = [_flat(item, found) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: _flat(item, found) for key, item in value.items()}
    return value
