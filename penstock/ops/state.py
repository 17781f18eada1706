"""Variables as nodes whose output is the buffer itself, and the updates that take it by reference.

`tf.assign`, `tf.scatter_add` and the like, which take variables of either kind, are in
`penstock.ops.variable_updates`.
"""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import (
    ADDS_ROWS,
    ALLOWS_UNINITIALIZED,
    READS,
    STATEFUL,
    WRITES,
    OpSpec,
    attr,
    not_differentiable,
    op,
    types,
)
from penstock.ir.type_sets import FLOATING, INDEX, NUMERIC
from penstock.ops.scatter import check_scatter
from penstock.ops.shape_checks import merge_shapes, with_rank, with_rank_at_least
from penstock.shapes import Shape

Variable = op(
    "Variable() -> ref: &dtype", STATEFUL, shape=attr("shape"), container="", shared_name=""
)
VariableV2 = op(
    "VariableV2() -> ref: &dtype", STATEFUL, shape=attr("shape"), container="", shared_name=""
)
TemporaryVariable = op(
    "TemporaryVariable() -> ref: &dtype", STATEFUL, shape=attr("shape"), var_name=""
)
DestroyTemporaryVariable = op(
    "DestroyTemporaryVariable(ref: &T) -> value: T", WRITES, var_name=attr("string")
)
IsVariableInitialized = op(
    "IsVariableInitialized(ref: &dtype) -> is_initialized: bool", READS, ALLOWS_UNINITIALIZED
)
Assign = op(
    "Assign(ref: &T, value: T) -> output_ref: &T",
    WRITES,
    ALLOWS_UNINITIALIZED,
    validate_shape=True,
    use_locking=True,
)
AssignAdd = op(
    "AssignAdd(ref: &T, value: T) -> output_ref: &T", WRITES, T=NUMERIC, use_locking=False
)
AssignSub = op(
    "AssignSub(ref: &T, value: T) -> output_ref: &T", WRITES, T=NUMERIC, use_locking=False
)
CountUpTo = op("CountUpTo(ref: &T) -> output: T", WRITES, limit=attr("int"), T=INDEX)
not_differentiable(Assign, AssignAdd, AssignSub)


@VariableV2.shape
@TemporaryVariable.shape
def _(op: Operation) -> Shape:
    return op.attrs["shape"]


@Variable.shape
def _(op: Operation) -> Shape:
    # Before VariableV2 there was no attr for an unknown shape: an empty one stood for it.
    return op.attrs["shape"] or None


@DestroyTemporaryVariable.shape
def _(op: Operation, ref: Shape) -> Shape:
    return ref


@IsVariableInitialized.shape
def _(op: Operation, ref: Shape) -> Shape:
    return ()


@Assign.shape
def _(op: Operation, ref: Shape, value: Shape) -> Shape:
    return merge_shapes(ref, value) if op.attrs["validate_shape"] else value


@AssignAdd.shape
@AssignSub.shape
def _(op: Operation, ref: Shape, value: Shape) -> Shape:
    return merge_shapes(ref, value)


@CountUpTo.shape
def _(op: Operation, ref: Shape) -> Shape:
    return with_rank(ref, 0)


# Rows -----------------------------------------------------------------------------------------

_ROWS = "(ref: &T, indices: Tindices, updates: T) -> output_ref: &T"
_ORDERED = types(FLOATING, INDEX)

ScatterUpdate = op("ScatterUpdate" + _ROWS, WRITES, Tindices=INDEX, use_locking=True)
ScatterAdd = op(
    "ScatterAdd" + _ROWS, WRITES, ADDS_ROWS, T=NUMERIC, Tindices=INDEX, use_locking=False
)
ScatterSub = op(
    "ScatterSub" + _ROWS, WRITES, ADDS_ROWS, T=NUMERIC, Tindices=INDEX, use_locking=False
)
ScatterMul = op("ScatterMul" + _ROWS, WRITES, T=NUMERIC, Tindices=INDEX, use_locking=False)
ScatterDiv = op("ScatterDiv" + _ROWS, WRITES, T=NUMERIC, Tindices=INDEX, use_locking=False)
ScatterMin = op("ScatterMin" + _ROWS, WRITES, T=_ORDERED, Tindices=INDEX, use_locking=False)
ScatterMax = op("ScatterMax" + _ROWS, WRITES, T=_ORDERED, Tindices=INDEX, use_locking=False)
not_differentiable(ScatterAdd, ScatterSub, ScatterMul, ScatterDiv)


@ScatterUpdate.shape
@ScatterAdd.shape
@ScatterSub.shape
@ScatterMul.shape
@ScatterDiv.shape
@ScatterMin.shape
@ScatterMax.shape
def _(op: Operation, ref: Shape, indices: Shape, updates: Shape) -> Shape:
    check_rows(ref, indices, updates)
    return ref


def check_rows(variable: Shape, indices: Shape, updates: Shape) -> None:
    """ValueError where updates are neither a scalar nor one row of the variable per index."""
    with_rank_at_least(variable, 1)
    if variable is None or indices is None or not updates:
        return
    merge_shapes(updates, indices + variable[1:])


# Slices ---------------------------------------------------------------------------------------


def _slices(name: str, use_locking: bool, *allowed: object) -> OpSpec:
    restricted = {"T": types(*allowed)} if allowed else {}  # type: ignore[arg-type]
    return op(
        name + _ROWS,
        WRITES,
        **restricted,
        Tindices=INDEX,
        use_locking=use_locking,
        bad_indices_policy="",
    )


ScatterNdUpdate = _slices("ScatterNdUpdate", True)
ScatterNdAdd = _slices("ScatterNdAdd", False, NUMERIC)
ScatterNdSub = _slices("ScatterNdSub", False, NUMERIC)
ScatterNdMin = _slices("ScatterNdMin", False, NUMERIC)
ScatterNdMax = _slices("ScatterNdMax", False, NUMERIC)
not_differentiable(ScatterNdUpdate, ScatterNdAdd, ScatterNdSub)


@ScatterNdUpdate.shape
@ScatterNdAdd.shape
@ScatterNdSub.shape
@ScatterNdMin.shape
@ScatterNdMax.shape
def _(op: Operation, ref: Shape, indices: Shape, updates: Shape) -> Shape:
    check_scatter(ref, indices, with_rank_at_least(updates, 1), "input")
    return ref
