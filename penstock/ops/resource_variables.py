"""Variables behind handles: the operations that read and update the buffer a handle stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.composite import IndexedSlices
from penstock.ir.constants import reads_shapes_only
from penstock.ir.operation import Operation
from penstock.ir.registry import (
    ADDS_ROWS,
    READS,
    STATEFUL,
    WRITES,
    OpSpec,
    Trait,
    attr,
    not_differentiable,
    op,
    types,
)
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX, NUMERIC
from penstock.ops.constants import constant
from penstock.ops.scatter import ScatterNd, check_scatter
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.ops.state import check_rows
from penstock.shapes import Shape

VarHandleOp = op(
    "VarHandleOp() -> resource: resource",
    STATEFUL,
    container="",
    shared_name="",
    debug_name="",
    dtype=attr("type"),
    shape=attr("shape"),
    allowed_devices=attr("list(string)", []),
)
DestroyResourceOp = op(
    "DestroyResourceOp(resource: resource)", STATEFUL, WRITES, ignore_lookup_error=True
)
VarIsInitializedOp = op(
    "VarIsInitializedOp(resource: resource) -> is_initialized: bool", STATEFUL, READS
)
VariableShape = op(
    "VariableShape(input: resource) -> output: out_type",
    STATEFUL,
    READS,
    out_type=types(INDEX, default=dtypes.int32),
)
ReadVariableOp = op("ReadVariableOp(resource: resource) -> value: dtype", STATEFUL, READS)
AssignVariableOp = op(
    "AssignVariableOp(resource: resource, value: dtype)", STATEFUL, WRITES, validate_shape=False
)
AssignAddVariableOp = op("AssignAddVariableOp(resource: resource, value: dtype)", STATEFUL, WRITES)
AssignSubVariableOp = op("AssignSubVariableOp(resource: resource, value: dtype)", STATEFUL, WRITES)
ResourceCountUpTo = op(
    "ResourceCountUpTo(resource: resource) -> output: T",
    STATEFUL,
    WRITES,
    limit=attr("int"),
    T=INDEX,
)
ResourceGather = op(
    "ResourceGather(resource: resource, indices: Tindices) -> output: dtype",
    STATEFUL,
    READS,
    batch_dims=0,
    validate_indices=True,
    Tindices=INDEX,
)
ResourceGatherNd = op(
    "ResourceGatherNd(resource: resource, indices: Tindices) -> output: dtype",
    STATEFUL,
    READS,
    Tindices=INDEX,
)
not_differentiable(VarIsInitializedOp, VariableShape)


#: Ops whose outputs are their inputs, one by one, as far as these are handles.
_PASSING_ON = ("IdentityN", "While", "StatelessWhile")


# What a handle stands for ---------------------------------------------------------------------


def variable_of(handle: Tensor) -> Operation | None:
    """The VarHandleOp node that a handle comes from; None where the graph doesn't tell.

    The argument of a function's body stands for a handle of the graph around it.
    """
    while handle._op.type != "VarHandleOp":
        op = handle._op
        outer = op.__dict__.get("_stands_for")
        if outer is not None:
            handle = outer
            continue
        if op.type in _PASSING_ON:
            handle = op.inputs[handle._value_index]
            continue
        handles = [tensor for tensor in op.inputs if tensor.dtype.base_dtype is dtypes.resource]
        if len(handles) != 1:
            return None
        handle = handles[0]
    return handle._op


def handle_shape(handle: Tensor) -> Shape:
    """The static shape of the variable behind a handle."""
    variable = variable_of(handle)
    return None if variable is None else variable.attrs["shape"]


def _check_type(handle: Tensor, used: DType, action: str) -> None:
    variable = variable_of(handle)
    if variable is not None and variable.attrs["dtype"] is not used:
        raise ValueError(
            f"Trying to {action} variable with wrong dtype. Expected "
            f"{dtypes.runtime_name(variable.attrs['dtype'])} got {dtypes.runtime_name(used)}"
        )


@VarHandleOp.shape
@VarIsInitializedOp.shape
def _(op: Operation, *handle: Shape) -> Shape:
    return ()


@VariableShape.shape
def _(op: Operation, handle: Shape) -> Shape:
    known = handle_shape(op.inputs[0])
    return (None if known is None else len(known),)


@VariableShape.fold
@reads_shapes_only
def _(op: Operation) -> Any:
    known = handle_shape(op.inputs[0])
    return np.array(known, np.int64) if shapes.is_full(known) else None


def variable_shape(handle: Tensor) -> Tensor:
    """The shape of the variable behind a handle: a constant where the graph knows it."""
    known = handle_shape(handle)
    if shapes.is_full(known):
        return constant(list(known or ()), dtypes.int32)
    return VariableShape(handle)


# Whole values ---------------------------------------------------------------------------------


@ReadVariableOp.shape
def _(op: Operation, handle: Shape) -> Shape:
    _check_type(op.inputs[0], op.attrs["dtype"], "read")
    return handle_shape(op.inputs[0])


@ReadVariableOp.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@AssignVariableOp.shape
@AssignAddVariableOp.shape
@AssignSubVariableOp.shape
def _(op: Operation, handle: Shape, value: Shape) -> Shape:
    _check_type(op.inputs[0], op.attrs["dtype"], "assign")
    merge_shapes(handle_shape(op.inputs[0]), value)
    return None


@ResourceCountUpTo.shape
def _(op: Operation, handle: Shape) -> Shape:
    return with_rank(handle_shape(op.inputs[0]), 0)


# Rows and slices ------------------------------------------------------------------------------


@ResourceGather.shape
def _(op: Operation, handle: Shape, indices: Shape) -> Shape:
    _check_type(op.inputs[0], op.attrs["dtype"], "gather from")
    batch = op.attrs["batch_dims"]
    params = with_rank_at_least(handle_shape(op.inputs[0]), batch + 1)
    with_rank_at_least(indices, batch)
    if params is None or indices is None:
        return None
    if batch:
        return merge_shapes(params[:batch], indices[:batch]) + indices[batch:] + params[batch + 1 :]  # type: ignore[operator]
    return indices + params[1:]


@ResourceGather.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.joining import concat
    from penstock.ops.shaping import expand_dims, reshape, size

    handle, indices = op.inputs
    sizes: Any = variable_shape(handle)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, sizes[1:]], 0))
    return [IndexedSlices(values, reshape(indices, count), sizes), None]


@ResourceGatherNd.shape
def _(op: Operation, handle: Shape, indices: Shape) -> Shape:
    _check_type(op.inputs[0], op.attrs["dtype"], "gather from")
    params = handle_shape(op.inputs[0])
    with_rank_at_least(indices, 1)
    if indices is None or params is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{shapes.text(indices)} and params shape: {shapes.text(params)}"
        )
    return indices[:-1] + params[indices[-1] :]


@ResourceGatherNd.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.shaping import squeeze

    handle, indices = op.inputs
    sizes = VariableShape(handle, out_type=indices.dtype)
    if indices._shape is not None and len(indices._shape) == 2 and indices._shape[-1] == 1:
        return [IndexedSlices(grad, squeeze(indices, axis=-1), sizes), None]
    return [ScatterNd(indices, grad, sizes), None]


def _rows(name: str, *traits: Trait, **attrs: Any) -> OpSpec:
    return op(
        f"{name}(resource: resource, indices: Tindices, updates: dtype)",
        STATEFUL,
        WRITES,
        *traits,
        **attrs,
        Tindices=INDEX,
    )


ResourceScatterUpdate = _rows("ResourceScatterUpdate")
ResourceScatterAdd = _rows("ResourceScatterAdd", ADDS_ROWS, dtype=NUMERIC)
ResourceScatterSub = _rows("ResourceScatterSub", ADDS_ROWS, dtype=NUMERIC)
ResourceScatterMul = _rows("ResourceScatterMul", dtype=NUMERIC)
ResourceScatterDiv = _rows("ResourceScatterDiv", dtype=NUMERIC)
ResourceScatterMin = _rows("ResourceScatterMin", dtype=NUMERIC)
ResourceScatterMax = _rows("ResourceScatterMax", dtype=NUMERIC)


@ResourceScatterUpdate.shape
@ResourceScatterAdd.shape
@ResourceScatterSub.shape
@ResourceScatterMul.shape
@ResourceScatterDiv.shape
@ResourceScatterMin.shape
@ResourceScatterMax.shape
def _(op: Operation, handle: Shape, indices: Shape, updates: Shape) -> Shape:
    _check_type(op.inputs[0], op.attrs["dtype"], "scatter into")
    check_rows(handle_shape(op.inputs[0]), indices, updates)
    return None


def _slices(name: str) -> OpSpec:
    return op(
        f"{name}(ref: resource, indices: Tindices, updates: T)",
        STATEFUL,
        WRITES,
        Tindices=INDEX,
        use_locking=True,
        bad_indices_policy="",
    )


ResourceScatterNdUpdate = _slices("ResourceScatterNdUpdate")
ResourceScatterNdAdd = _slices("ResourceScatterNdAdd")
ResourceScatterNdSub = _slices("ResourceScatterNdSub")
ResourceScatterNdMin = _slices("ResourceScatterNdMin")
ResourceScatterNdMax = _slices("ResourceScatterNdMax")


@ResourceScatterNdUpdate.shape
@ResourceScatterNdAdd.shape
@ResourceScatterNdSub.shape
@ResourceScatterNdMin.shape
@ResourceScatterNdMax.shape
def _(op: Operation, handle: Shape, indices: Shape, updates: Shape) -> Shape:
    check_scatter(handle_shape(op.inputs[0]), indices, with_rank_at_least(updates, 1), "input")
    return None
