"""`tf.assign`, `tf.scatter_add` and their kin: updates of variables of either kind."""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.ops import state
from penstock.ops.filling import Range, ones_like
from penstock.ops.joining import concat
from penstock.ops.shaping import expand_dims, reshape
from penstock.ops.shaping import shape as shape_of

__all__ = [
    "assign",
    "assign_add",
    "assign_sub",
    "batch_scatter_update",
    "count_up_to",
    "is_variable_initialized",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
]


def _is_reference(ref: Any) -> bool:
    return bool(ref.dtype.is_ref_dtype)


# Whole values ---------------------------------------------------------------------------------


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Replaces the value of variable `ref`; the result is the variable after that.

    Args:
      validate_shape: False lets `value` have another shape than the variable.
      use_locking: whether other updates wait for this one.
    """
    if _is_reference(ref):
        return state.Assign(
            ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name
        )
    return ref.assign(value, name=name)


def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds `value` to variable `ref`."""
    if _is_reference(ref):
        return state.AssignAdd(ref, value, use_locking=use_locking, name=name)
    return ref.assign_add(value)  # TensorFlow, too, leaves the name out


def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts `value` from variable `ref`."""
    if _is_reference(ref):
        return state.AssignSub(ref, value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Adds one to `ref` and returns the value before; OutOfRangeError once it reached `limit`."""
    if _is_reference(ref):
        return state.CountUpTo(ref, limit=limit, name=name)
    from penstock.ops.resource_variables import ResourceCountUpTo

    return ResourceCountUpTo(ref.handle, limit=limit, T=ref.dtype, name=name)


def is_variable_initialized(variable: Any) -> Tensor:
    """Whether `variable` has a value, as a boolean tensor."""
    if _is_reference(variable):
        return state.IsVariableInitialized(variable)
    return variable.is_initialized()


# Rows -----------------------------------------------------------------------------------------


def _scatter(
    spec: OpSpec, kind: str, ref: Any, indices: Any, updates: Any, use_locking: bool, name: Any
) -> Any:
    if _is_reference(ref):
        return spec(ref, indices, updates, use_locking=use_locking, name=name)
    return ref._scatter(kind, indices, updates, use_locking, name)


def scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replaces the rows of `ref` at `indices`."""
    return _scatter(state.ScatterUpdate, "update", ref, indices, updates, use_locking, name)


def scatter_add(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Adds to the rows of `ref` at `indices`; an index may occur several times."""
    return _scatter(state.ScatterAdd, "add", ref, indices, updates, use_locking, name)


def scatter_sub(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Subtracts from the rows of `ref` at `indices`."""
    return _scatter(state.ScatterSub, "sub", ref, indices, updates, use_locking, name)


def scatter_mul(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Multiplies the rows of `ref` at `indices`."""
    return _scatter(state.ScatterMul, "mul", ref, indices, updates, use_locking, name)


def scatter_div(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Divides the rows of `ref` at `indices`."""
    return _scatter(state.ScatterDiv, "div", ref, indices, updates, use_locking, name)


def scatter_min(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Replaces the rows of `ref` at `indices` by the elementwise minimum."""
    return _scatter(state.ScatterMin, "min", ref, indices, updates, use_locking, name)


def scatter_max(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Replaces the rows of `ref` at `indices` by the elementwise maximum."""
    return _scatter(state.ScatterMax, "max", ref, indices, updates, use_locking, name)


# Slices ---------------------------------------------------------------------------------------


def _scatter_nd(
    spec: OpSpec, kind: str, ref: Any, indices: Any, updates: Any, use_locking: bool, name: Any
) -> Any:
    if _is_reference(ref):
        return spec(ref, indices, updates, use_locking=use_locking, name=name)
    return ref._scatter_nd(kind, indices, updates, name)


def scatter_nd_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replaces the slices of `ref` at `indices`, whose last dimension indexes the first axes."""
    return _scatter_nd(state.ScatterNdUpdate, "update", ref, indices, updates, use_locking, name)


def scatter_nd_add(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Adds to the slices of `ref` at `indices`."""
    return _scatter_nd(state.ScatterNdAdd, "add", ref, indices, updates, use_locking, name)


def scatter_nd_sub(
    ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
) -> Any:
    """Subtracts from the slices of `ref` at `indices`."""
    return _scatter_nd(state.ScatterNdSub, "sub", ref, indices, updates, use_locking, name)


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replaces rows within each batch: `ref[b, indices[b, i]] = updates[b, i]`.

    All dimensions of `indices` but the last are batch dimensions, the first ones of `ref`.
    """
    positions = convert_to_tensor(indices, name="indices")
    sizes: Any = shape_of(positions)
    rank = positions.shape.ndims
    if rank is None:
        raise ValueError("batch_scatter_update needs indices of known rank")
    coordinates = expand_dims(positions, axis=-1)
    parts: list[Any] = []
    for axis in range(rank - 1):
        length = sizes[axis]
        spread = reshape(Range(0, length, 1), [1] * axis + [length] + [1] * (rank - axis))
        parts.append(spread * ones_like(coordinates))
    full = concat([*parts, coordinates], axis=-1)
    return scatter_nd_update(ref, full, updates, use_locking, name)
