"""Values as tensors or ragged tensors, whichever they are."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.client.fetches import register_session_run_conversion_functions
from penstock.ragged.tensor import RaggedTensor
from penstock.ragged.tensor_value import RaggedTensorValue


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor, or a session's value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def convert_to_tensor_or_ragged_tensor(
    value: Any, dtype: Any = None, preferred_dtype: Any = None, name: str | None = None
) -> Any:
    """The value as a tensor, or as a ragged tensor if it is ragged."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not tf.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {tf.as_dtype(dtype).name} for RaggedTensor "
                f"with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if not isinstance(value, RaggedTensorValue):
        return tf.convert_to_tensor(value, dtype, name, preferred_dtype)
    with tf.name_scope(name, "ConvertToTensorOrRaggedTensor", []):
        flat_values = tf.convert_to_tensor(value.flat_values, dtype, "flat_values", preferred_dtype)
        return RaggedTensor.from_nested_row_splits(
            flat_values, value.nested_row_splits, validate=False
        )


def match_row_splits_dtypes(*tensors: Any, return_dtype: bool = False) -> Any:
    """The tensors, if all row splits have one type; with that type if asked for."""
    found = {each.row_splits.dtype for each in tensors if isinstance(each, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    dtype = found.pop() if found else tf.int64
    return (dtype, tensors) if return_dtype else tensors


def auto_cast_partition_dtype() -> bool:
    """Whether row splits of different types are made int64: never."""
    return False


def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    row_splits_dtype: Any = tf.int64,
    name: str | None = None,
) -> Any:
    """`RaggedTensor.from_tensor`; a ragged tensor stays as it is."""
    if is_ragged(tensor):
        return tensor
    return RaggedTensor.from_tensor(
        tensor, lengths, padding, ragged_rank, name=name, row_splits_dtype=row_splits_dtype
    )


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    """`RaggedTensor.to_tensor`; a tensor stays as it is."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def to_sparse(rt_input: Any, name: str | None = None) -> Any:
    """`RaggedTensor.to_sparse`."""
    return rt_input.to_sparse(name)


def from_sparse(st_input: Any, name: str | None = None) -> RaggedTensor:
    """`RaggedTensor.from_sparse`."""
    return RaggedTensor.from_sparse(st_input, name)


# Fetching and feeding -------------------------------------------------------------------------


def _value_of(arrays: list[Any]) -> Any:
    value, *nested_splits = arrays
    for splits in reversed(nested_splits):
        value = RaggedTensorValue(value, splits)
    return value


def _fed(key: RaggedTensor, value: Any) -> list[tuple[Any, Any]]:
    if not is_ragged(value):
        # A session asks with no value which tensors will be fed.
        return [(part, None) for part in key._parts()]
    arrays = [value.flat_values, *value.nested_row_splits]
    return list(zip(key._parts(), arrays, strict=True))


register_session_run_conversion_functions(
    RaggedTensor,
    lambda ragged: (ragged._parts(), _value_of),
    _fed,
    lambda ragged: ragged._parts(),
)
