"""Tridiagonal matrices: systems with them, and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, SINGLE_DOUBLE
from penstock.ops import array, casts, reductions
from penstock.ops.matrix_shapes import matrix, with_batch
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_size
from penstock.shapes import Shape, dimension_value

__all__: list[str] = []

TridiagonalSolve = op(
    "TridiagonalSolve(diagonals: T, rhs: T) -> output: T",
    partial_pivoting=True,
    perturb_singular=False,
    T=types(SINGLE_DOUBLE, COMPLEX),
)
TridiagonalMatMul = op(
    "TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T",
    T=types(SINGLE_DOUBLE, COMPLEX),
)


@TridiagonalSolve.shape
def _(op: Operation, diagonals: Shape, rhs: Shape) -> Shape:
    left, right = matrix(diagonals), matrix(rhs)
    batch = merge_shapes(left.batch, right.batch)
    with_size(left.rows, 3)
    return with_batch(batch, merge_sizes(left.cols, right.rows), right.cols)


@TridiagonalMatMul.shape
def _(op: Operation, superdiag: Shape, maindiag: Shape, subdiag: Shape, rhs: Shape) -> Shape:
    right = matrix(rhs)
    batch, size = right.batch, right.rows
    for diagonal in (superdiag, maindiag, subdiag):
        row = matrix(diagonal)
        with_size(row.rows, 1)
        batch = merge_shapes(batch, row.batch)
        size = merge_sizes(size, row.cols)
    return with_batch(batch, size, right.cols)


# Gradients ------------------------------------------------------------------------------------


def _shifted_up(x: Any) -> Tensor:
    """The rows below the first, then one of zeros."""
    return array.concat([x[..., 1:, :], array.zeros_like(x[..., :1, :])], axis=-2)


def _shifted_down(x: Any) -> Tensor:
    """A row of zeros, then the rows above the last."""
    return array.concat([array.zeros_like(x[..., :1, :]), x[..., :-1, :]], axis=-2)


@TridiagonalMatMul.gradient
def _(op: Operation, grad: Any) -> Any:
    superdiag, maindiag, subdiag = (
        array.matrix_transpose(diagonal, conjugate=True) for diagonal in op.inputs[:3]
    )
    rhs: Any = casts.conj(op.inputs[3])

    def of_diagonal(shifted: Any) -> Any:
        return array.expand_dims(reductions.reduce_sum(shifted * grad, axis=-1), -2)

    grad_rhs: Any = maindiag * grad
    grad_rhs += _shifted_down(superdiag * grad) + _shifted_up(subdiag * grad)
    return (
        of_diagonal(_shifted_up(rhs)),
        of_diagonal(rhs),
        of_diagonal(_shifted_down(rhs)),
        grad_rhs,
    )


@TridiagonalSolve.gradient
def _(op: Operation, grad: Any) -> Any:
    solution: Any = op.outputs[0]
    settings = {key: op.attrs[key] for key in ("partial_pivoting", "perturb_singular")}
    grad_rhs: Any = TridiagonalSolve(_transposed(op.inputs[0]), grad, **settings)
    products = [
        reductions.reduce_sum(grad_rhs * shifted, axis=-1)
        for shifted in (_shifted_up(solution), solution, _shifted_down(solution))
    ]
    return -array.stack(products, axis=-2), grad_rhs


def _transposed(diagonals: Any) -> Tensor:
    """The diagonals of the transposed matrix."""
    zero = array.zeros_like(diagonals[..., 0, :1])
    superdiag = array.concat([diagonals[..., 2, 1:], zero], axis=-1)
    subdiag = array.concat([zero, diagonals[..., 0, :-1]], axis=-1)
    return array.stack([superdiag, diagonals[..., 1, :], subdiag], axis=-2)


# Public functions -----------------------------------------------------------------------------


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solves systems with tridiagonal matrices.

    Args:
      diagonals: the superdiagonal, the diagonal and the subdiagonal: in three rows ("compact"), as
        a list ("sequence") or within whole matrices ("matrix").
      rhs: right-hand sides in columns, or one of them as a vector.
      partial_pivoting: whether rows are swapped to divide by larger numbers.
      perturb_singular: whether zeros that would be divided by become tiny numbers.
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is True.")
    compact = _diagonals_of(diagonals, diagonals_format)
    rhs = convert_to_tensor(rhs)
    is_vector = _check_system(compact, rhs)
    if is_vector:
        rhs = array.expand_dims(casts.conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = array.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = casts.conj(rhs)
    _check_counts(compact, rhs)
    result = TridiagonalSolve(
        compact,
        rhs,
        partial_pivoting=partial_pivoting,
        perturb_singular=perturb_singular,
        name=name,
    )
    if is_vector:
        return array.squeeze(result, -1)
    return array.matrix_transpose(result) if transpose_rhs else result


def _diagonals_of(diagonals: Any, kind: str) -> Tensor:
    readers: dict[str, Callable[[Any], Tensor]] = {
        "compact": convert_to_tensor,
        "sequence": _of_sequence,
        "matrix": _of_matrix,
    }
    if kind not in readers:
        raise ValueError(
            f"Unrecognized diagonals_format: {kind} (known formats: {', '.join(readers)})"
        )
    return readers[kind](diagonals)


def _of_sequence(diagonals: Any) -> Tensor:
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = (convert_to_tensor(diagonal) for diagonal in diagonals)
    length = dimension_value(main.shape[-1])
    below = _with_length(below, length, "subdiagonal", [1, 0])
    above = _with_length(above, length, "superdiagonal", [0, 1])
    return array.stack([above, main, below], axis=-2)


def _with_length(diagonal: Any, length: int | None, what: str, padding: list[int]) -> Tensor:
    """A diagonal beside the main one, which may come without the entry outside of the matrix."""
    own = dimension_value(diagonal.shape[-1])
    if not own or not length or own == length:
        return diagonal
    if own != length - 1:
        raise ValueError(f"Expected {what} to have length {length} or {length - 1}, got {own}.")
    return array.pad(diagonal, [[0, 0]] * (diagonal.shape.ndims - 1) + [padding])


def _of_matrix(diagonals: Any) -> Tensor:
    diagonals = convert_to_tensor(diagonals)
    rows, cols = dimension_value(diagonals.shape[-2]), dimension_value(diagonals.shape[-1])
    if rows and cols and rows != cols:
        raise ValueError(
            f"Expected last two dimensions of diagonals to be same, got {cols} and {rows}"
        )
    if not (rows or cols):
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    return array.matrix_diag_part(diagonals, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")


def _check_system(diagonals: Any, rhs: Any) -> bool:
    """Checks the ranks of a system; whether its right-hand side is a vector."""
    rank, rhs_rank = diagonals.shape.ndims, rhs.shape.ndims
    if not rank or rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if rhs_rank is None or rank - rhs_rank not in (0, 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}")
    if dimension_value(diagonals.shape[-2]) not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {diagonals.shape[-2]}")
    if not diagonals.shape[:-2].is_compatible_with(rhs.shape[: rank - 2]):
        raise ValueError(
            f"Batch shapes {diagonals.shape[:-2]} and {rhs.shape[: rank - 2]} are incompatible"
        )
    return bool(rhs_rank == rank - 1)


def _check_counts(diagonals: Any, rhs: Any) -> None:
    left, right = dimension_value(diagonals.shape[-1]), dimension_value(rhs.shape[-2])
    if left and right and left != right:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{left} and {right}"
        )


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The products of tridiagonal matrices with `rhs`; `diagonals` as for `tridiagonal_solve`."""
    if diagonals_format == "sequence":
        above, main, below = diagonals
    elif diagonals_format in ("compact", "matrix"):
        if diagonals_format == "matrix":
            diagonals = _of_known_matrix(diagonals)
        above, main, below = (diagonals[..., i, :] for i in range(3))
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [array.expand_dims(diagonal, -2) for diagonal in (above, main, below)]
    return TridiagonalMatMul(*rows, rhs, name=name)


def _of_known_matrix(diagonals: Any) -> Tensor:
    diagonals = convert_to_tensor(diagonals)
    if not (dimension_value(diagonals.shape[-1]) and dimension_value(diagonals.shape[-2])):
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    return _of_matrix(diagonals)
