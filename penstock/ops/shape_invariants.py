"""Shape invariants of loops: what stays known of a loop variable from one iteration to the next."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.ir.composite import IndexedSlices, SparseTensor
from penstock.ir.convert import CompositeTensor
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec


def default_invariants(variable: Any) -> list[shapes.Shape]:
    """The shapes of the parts of a loop variable for which none are given.

    A sparse tensor may get more or fewer entries; its rank stays.
    """
    if isinstance(variable, SparseTensor):
        return _sparse(variable.shape.ndims)
    return [part._shape for part in _parts(variable)]


def given_invariants(variable: Any, invariant: Any) -> list[shapes.Shape]:
    """The shapes of the parts of a loop variable, from the shape or spec given for all of it."""
    if isinstance(variable, CompositeTensor):
        return _of_composite(variable, invariant)
    if isinstance(invariant, TensorSpec):
        if variable.dtype.base_dtype is not invariant.dtype:
            raise TypeError(f"TensorSpec {invariant!r} is not compatible with {variable!r}")
        return [shapes.raw(invariant.shape)]
    if isinstance(invariant, TypeSpec):
        raise TypeError(f"TypeSpec {invariant!r} is not compatible with {variable!r}")
    if not isinstance(invariant, shapes.TensorShape):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    return [shapes.raw(invariant)]


def check_enters(tensor: Tensor, invariant: shapes.Shape) -> None:
    """Raises ValueError where the first value of a loop variable breaks its invariant."""
    if not allows(invariant, tensor._shape):
        raise ValueError(
            f"The shape invariant specified for {tensor.name} is not compatible with the initial "
            f"shape of the loop variable. It enters the loop with shape {tensor.shape}, but the "
            f"specified shape invariant is {shapes.TensorShape._of(invariant)}."
        )


def allows(invariant: shapes.Shape, shape: shapes.Shape) -> bool:
    """Whether a value of `shape` may stand where `invariant` is promised."""
    if invariant is None:
        return True
    if shape is None or len(shape) != len(invariant):
        return False
    return all(
        wanted is None or wanted == size for wanted, size in zip(invariant, shape, strict=True)
    )


def _parts(variable: Any) -> list[Tensor]:
    return variable._parts() if isinstance(variable, CompositeTensor) else [variable]


def _of_composite(variable: CompositeTensor, invariant: Any) -> list[shapes.Shape]:
    if isinstance(invariant, TypeSpec):
        if not invariant.is_compatible_with(variable):
            raise TypeError(f"TypeSpec {invariant!r} is not compatible with {variable!r}")
        if isinstance(variable, SparseTensor):
            return _sparse(shapes.TensorShape(invariant.shape).ndims)  # type: ignore[attr-defined]
        if hasattr(invariant, "_component_specs"):
            return [shapes.raw(spec.shape) for spec in invariant._component_specs]
        return [part._shape for part in variable._parts()]
    if not isinstance(invariant, shapes.TensorShape):
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {invariant!r}")
    if isinstance(variable, SparseTensor):
        # The shape that is given is that of `dense_shape`: its only size is the rank.
        known = shapes.raw(invariant.with_rank(1))
        return _sparse(None if known is None else known[0])
    if isinstance(variable, IndexedSlices):
        return _slices(variable, shapes.raw(invariant))
    describe = getattr(variable, "_shape_invariant_to_type_spec", None)
    if describe is not None:
        return _of_composite(variable, describe(invariant))
    raise TypeError(
        f"To describe or constrain a {type(variable).__name__}, use a spec instead of a TensorShape"
    )


def _sparse(rank: int | None) -> list[shapes.Shape]:
    """The shapes of the indices, values and dense shape of a sparse tensor."""
    return [(None, rank), (None,), (rank,)]


def _slices(variable: IndexedSlices, rows: shapes.Shape) -> list[shapes.Shape]:
    """The given shape is that of the values; there are as many indices as rows."""
    count = None if rows is None else rows[:1]
    found: list[shapes.Shape] = [rows, count]
    if variable.dense_shape is not None:
        found.append((None,) if rows is None else (len(rows),))
    return found
