"""Shapes of states and outputs: a batch size in front of what a cell says its sizes are."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.tensor import Tensor
from penstock.nest import flatten, is_nested, map_structure
from penstock.ops.constants import constant
from penstock.ops.filling import zeros
from penstock.ops.joining import concat
from penstock.ops.shaping import expand_dims
from penstock.shapes import TensorShape, as_shape


def shape_with(prefix: Any, size: Any) -> Tensor:
    """The shape `[*prefix, *size]` as a tensor; both may be numbers, shapes or tensors."""
    before, after = _as_vector(prefix, "prefix"), _as_vector(size, "suffix")
    if before is None or after is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {size}")
    return concat((before, after), 0)


def static_shape_with(prefix: Any, size: Any) -> list[int | None] | None:
    """The same as far as it is known while building.

    TensorFlow makes the parts as tensors here too; so do we, that names of later nodes are the
    same, although nobody uses them.
    """
    _as_vector(prefix, "prefix")
    _as_vector(size, "suffix")
    shape = _known(prefix).concatenate(_known(size))
    return None if shape.ndims is None else shape.as_list()


def _as_vector(value: Any, what: str) -> Tensor | None:
    if isinstance(value, Tensor):
        if value.shape.ndims == 0:
            return expand_dims(value, 0)
        if value.shape.ndims != 1:
            raise ValueError(
                f"{what} tensor must be either a scalar or vector, but saw tensor: {value}"
            )
        return value
    shape = as_shape(value)
    return constant(shape.as_list(), dtypes.int32) if shape.is_fully_defined() else None


def _known(value: Any) -> TensorShape:
    if not isinstance(value, Tensor):
        return as_shape(value)
    known = constant_value(value)
    if known is not None:
        return TensorShape(known.reshape(-1).tolist())
    return TensorShape([None]) if value.shape.ndims == 0 else TensorShape(None)


def known_size(size: Any) -> TensorShape:
    """The size of an output as a shape; a tensor's value must be known."""
    return as_shape(constant_value(size) if isinstance(size, Tensor) else size)


def zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros for a structure of state sizes."""

    def zero(size: Any) -> Tensor:
        state = zeros(shape_with(batch_size, size), dtype=dtype)
        state.set_shape(static_shape_with(batch_size, size))
        return state

    return map_structure(zero, state_size)


def only_dtype(explicit: Any, state: Any) -> Any:
    """The type of the outputs: the given one, or that of all parts of the state."""
    if explicit is not None:
        return explicit
    if not is_nested(state):
        return state.dtype
    found = [part.dtype for part in flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(dtype != found[0] for dtype in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return found[0]
