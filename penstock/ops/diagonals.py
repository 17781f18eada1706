"""Diagonals and bands of matrices.

A band is given by its lowest and its highest diagonal: 0 is the main one, positive numbers are
above it. Several diagonals at once stand in the rows of a matrix, the highest first, the shorter
ones padded on the side that `align` says.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec, attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING_COMPLEX, INDEX
from penstock.ops.filling import ones, zeros, zeros_like
from penstock.ops.joining import concat
from penstock.ops.shape_checks import merge_sizes, with_rank_at_least
from penstock.shapes import Shape

__all__ = [
    "diag",
    "diag_part",
    "eye",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
]

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
_ALIGN = attr("string", "RIGHT_LEFT", allowed=_ALIGNMENTS)

Diag = op("Diag(diagonal: T) -> output: T", T=types(FLOATING_COMPLEX, INDEX))
DiagPart = op("DiagPart(input: T) -> diagonal: T", T=types(FLOATING_COMPLEX, INDEX))
MatrixBandPart = op(
    "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T",
    Tindex=types(INDEX, default=dtypes.int64),
)
MatrixDiag = op("MatrixDiag(diagonal: T) -> output: T")
MatrixDiagV2 = op(
    "MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) "
    "-> output: T",
)
MatrixDiagV3 = op(
    "MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) "
    "-> output: T",
    align=_ALIGN,
)
MatrixDiagPart = op("MatrixDiagPart(input: T) -> diagonal: T")
MatrixDiagPartV2 = op("MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> diagonal: T")
MatrixDiagPartV3 = op(
    "MatrixDiagPartV3(input: T, k: int32, padding_value: T) -> diagonal: T", align=_ALIGN
)
MatrixSetDiag = op("MatrixSetDiag(input: T, diagonal: T) -> output: T")
MatrixSetDiagV2 = op("MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> output: T")
MatrixSetDiagV3 = op("MatrixSetDiagV3(input: T, diagonal: T, k: int32) -> output: T", align=_ALIGN)


# Tensors of rank 2k ---------------------------------------------------------------------------


@Diag.shape
def _(op: Operation, x: Shape) -> Shape:
    with_rank_at_least(x, 1)
    return None if x is None else x + x


@DiagPart.shape
def _(op: Operation, x: Shape) -> Shape:
    if x is None:
        return None
    if not x or len(x) % 2:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(x)}")
    half = len(x) // 2
    return tuple(map(merge_sizes, x[:half], x[half:]))


@Diag.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return diag_part(grad)


@DiagPart.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return diag(grad)


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank: zero but for `diagonal` at positions [i..., i...]."""
    return Diag(diagonal, name=name)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The elements at positions [i..., i...] of a tensor of even rank."""
    return DiagPart(input, name=name)


# Bands ----------------------------------------------------------------------------------------


@MatrixBandPart.shape
def _(op: Operation, x: Shape, num_lower: Shape, num_upper: Shape) -> Shape:
    return x


@MatrixBandPart.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [matrix_band_part(grad, op.inputs[1], op.inputs[2]), None, None]


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """The last two dimensions' matrices with zeros outside of a band around the main diagonal.

    The band has `num_lower` diagonals below and `num_upper` above it; a negative number is all.
    """
    return MatrixBandPart(input, num_lower, num_upper, name=name)


# Matrices of diagonals ------------------------------------------------------------------------


def band(k: list[int]) -> tuple[int, int]:
    """The lowest and the highest diagonal that a value of `k` names."""
    if not 1 <= len(k) <= 2:
        raise ValueError(f"diag_index must have only one or two elements, received {len(k)}")
    lower, upper = k[0], k[-1]
    if lower > upper:
        raise ValueError("lower_diag_index is greater than upper_diag_index")
    return lower, upper


def matrix_size(
    length: int, lower: int, upper: int, num_rows: int, num_cols: int
) -> tuple[int, int]:
    """The size of the matrix that holds diagonals of at most `length` elements; -1 is free."""
    min_rows, min_cols = length - min(upper, 0), length + max(lower, 0)
    if num_rows == num_cols == -1:
        return max(min_rows, min_cols), max(min_rows, min_cols)
    rows = min_rows if num_rows == -1 else num_rows
    cols = min_cols if num_cols == -1 else num_cols
    if rows < min_rows:
        raise ValueError("num_rows is too small")
    if cols < min_cols:
        raise ValueError("num_cols is too small.")
    if rows != min_rows and cols != min_cols:
        raise ValueError(
            "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and "
            "the length of the given diagonals.\n"
            f"num_rows = {rows} != min_num_rows = {min_rows}, num_cols = {cols} != min_num_cols = "
            f"{min_cols}"
        )
    return rows, cols


def longest_diagonal(rows: int, cols: int, lower: int, upper: int) -> int:
    """The length of the longest diagonal of a band; ValueError where the band lies outside."""
    for which, k in (("lower", lower), ("upper", upper)):
        if k != 0 and not -rows < k < cols:
            raise ValueError(
                f"{which}_diag_index is out of bound: {k}. It must be between {-rows} and {cols}"
            )
    return min(rows + min(upper, 0), cols - max(lower, 0))


def _known_band(op: Operation, index: int) -> tuple[int, int] | None:
    value = constant_value(op.inputs[index])
    return None if value is None else band(value.reshape(-1).tolist())


@MatrixDiag.shape
def _(op: Operation, x: Shape) -> Shape:
    with_rank_at_least(x, 1)
    return None if x is None else (*x, x[-1])


@MatrixDiagV2.shape
@MatrixDiagV3.shape
def _(op: Operation, x: Shape, *others: Shape) -> Shape:
    with_rank_at_least(x, 1)
    known = _known_band(op, 1)
    if x is None or known is None:
        return None
    lower, upper = known
    batch = x[:-1]
    if lower < upper:
        with_rank_at_least(x, 2)
        if x[-2] not in (None, upper - lower + 1):
            raise ValueError(
                "The number of rows of `diagonal` doesn't match the number of diagonals implied "
                f"from `d_lower` and `d_upper`.\nnum_diags = {upper - lower + 1}, d_lower = "
                f"{lower}, d_upper = {upper}, diagonal rows = {x[-2]}"
            )
        batch = x[:-2]
    rows, cols = (constant_value(tensor) for tensor in op.inputs[2:4])
    if x[-1] is None or rows is None or cols is None:
        return (*batch, None, None)
    return (*batch, *matrix_size(x[-1], lower, upper, int(rows), int(cols)))


@MatrixDiagPart.shape
def _(op: Operation, x: Shape) -> Shape:
    with_rank_at_least(x, 2)
    return None if x is None else (*x[:-2], _smaller(x[-2], x[-1]))


def _smaller(m: int | None, n: int | None) -> int | None:
    return None if m is None or n is None else min(m, n)


@MatrixDiagPartV2.shape
@MatrixDiagPartV3.shape
def _(op: Operation, x: Shape, *others: Shape) -> Shape:
    with_rank_at_least(x, 2)
    known = _known_band(op, 1)
    if x is None or known is None:
        return None
    rows, cols = x[-2:]
    lower, upper = known
    length = None
    if rows is not None and cols is not None:
        length = longest_diagonal(rows, cols, lower, upper)
    if lower == upper:
        return (*x[:-2], length)
    return (*x[:-2], upper - lower + 1, length)


@MatrixSetDiag.shape
def _(op: Operation, x: Shape, diagonal: Shape) -> Shape:
    with_rank_at_least(x, 2)
    with_rank_at_least(diagonal, 1)
    if x is not None and diagonal is not None:
        merge_sizes(_smaller(x[-2], x[-1]), diagonal[-1])
    return x


@MatrixSetDiagV2.shape
@MatrixSetDiagV3.shape
def _(op: Operation, x: Shape, diagonal: Shape, k: Shape) -> Shape:
    with_rank_at_least(diagonal, 1)
    return with_rank_at_least(x, 2)


@MatrixDiag.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return matrix_diag_part(grad)


@MatrixDiagV2.gradient
@MatrixDiagV3.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [matrix_diag_part(grad, k=op.inputs[1], align=_alignment(op)), None, None, None, None]


def _alignment(op: Operation) -> str:
    """Where shorter diagonals stand; before ops could be told, on the left."""
    return op.attrs.get("align", "LEFT_LEFT" if op.type.endswith("V2") else "RIGHT_LEFT")


@MatrixDiagPart.gradient
def _(op: Operation, grad: Tensor) -> Any:
    x = op.inputs[0]
    rows, cols = (x._shape or (None, None))[-2:]
    if rows is not None and rows == cols:
        return matrix_diag(grad)
    return matrix_set_diag(zeros_like(x), grad)


@MatrixDiagPartV2.gradient
@MatrixDiagPartV3.gradient
def _(op: Operation, grad: Tensor) -> Any:
    x, k = op.inputs[:2]
    align = _alignment(op)
    rows, cols = (x._shape or (None, None))[-2:]
    if rows is not None and cols is not None:
        matrix = matrix_diag(grad, k=k, num_rows=rows, num_cols=cols, align=align)
    else:
        matrix = matrix_set_diag(zeros_like(x), grad, k=k, align=align)
    return [matrix, None, None]


@MatrixSetDiag.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return _set_diag_gradient(op, grad, 0)


@MatrixSetDiagV2.gradient
@MatrixSetDiagV3.gradient
def _(op: Operation, grad: Tensor) -> Any:
    return [*_set_diag_gradient(op, grad, op.inputs[2]), None]


def _set_diag_gradient(op: Operation, grad: Tensor, k: Any) -> list[Tensor]:
    align = _alignment(op)
    diagonal = op.inputs[1]
    if diagonal.shape.is_fully_defined():
        nothing = zeros(diagonal.shape, grad.dtype)
    else:
        nothing = zeros_like(diagonal, grad.dtype)
    rest = matrix_set_diag(grad, nothing, k=k, align=align)
    return [rest, matrix_diag_part(grad, k=k, align=align)]


def _is_number(value: Any, number: int) -> bool:
    """Whether an argument has its default, so that the older op of the main diagonal suffices."""
    return isinstance(value, int) and value == number


def matrix_diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str | None = None,
) -> Tensor:
    """Matrices that hold the last dimension of `diagonal` on the main diagonal, or a band of
    diagonals `k = (lowest, highest)`, and `padding_value` elsewhere.

    The rows of a band start at the left, as in TensorFlow 1.15, unless `align` says otherwise
    ("RIGHT_LEFT" is the default of TensorFlow 2).
    """
    plain = _is_number(k, 0) and _is_number(padding_value, 0)
    if plain and _is_number(num_rows, -1) and _is_number(num_cols, -1):
        return MatrixDiag(diagonal, name=name)
    inputs = [diagonal, k, num_rows, num_cols]
    return _with_padding(MatrixDiagV2, MatrixDiagV3, inputs, padding_value, align, name)


def matrix_diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str | None = None,
) -> Tensor:
    """The main diagonals of matrices, or a band of diagonals `k = (lowest, highest)`."""
    if _is_number(k, 0) and _is_number(padding_value, 0):
        return MatrixDiagPart(input, name=name)
    return _with_padding(MatrixDiagPartV2, MatrixDiagPartV3, [input, k], padding_value, align, name)


def _with_padding(
    to_the_left: OpSpec,
    aligned: OpSpec,
    inputs: list[Any],
    padding: Any,
    align: str | None,
    name: str,
) -> Tensor:
    """Makes a node whose last input has the type of the first, be it a number of another kind."""
    if getattr(inputs[0], "dtype", None) == dtypes.bool:
        padding = bool(padding)
    if align is None:
        return to_the_left(*inputs, padding, name=name)
    return aligned(*inputs, padding, align=align, name=name)


def matrix_set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str | None = None
) -> Tensor:
    """Matrices `input` with `diagonal` on the main diagonal, or on a band of diagonals `k`."""
    if _is_number(k, 0):
        return MatrixSetDiag(input, diagonal, name=name)
    if align is None:
        return MatrixSetDiagV2(input, diagonal, k, name=name)
    return MatrixSetDiagV3(input, diagonal, k, align=align, name=name)


# Identity matrices ----------------------------------------------------------------------------


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """An identity matrix, or a batch of them; with `num_columns` not necessarily a square one."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None or num_columns == num_rows
        sizes = [num_rows, num_rows if is_square else num_columns]
        batch = [] if batch_shape is None else batch_shape
        if any(isinstance(value, Tensor) for value in (*sizes, batch)):
            diagonal_shape, matrix_shape = _symbolic_eye_shapes(sizes, batch, is_square)
        else:
            try:
                rows, cols = map(int, sizes)
            except (TypeError, ValueError):
                message = "num_rows and num_columns must be positive integer values."
                raise TypeError(f"{message} Got {sizes}") from None
            diagonal_shape, matrix_shape = [*batch, min(rows, cols)], [*batch, rows, cols]
        diagonal = ones(diagonal_shape, dtype)
        if is_square:
            return matrix_diag(diagonal)
        return matrix_set_diag(zeros(matrix_shape, dtype), diagonal)


def _symbolic_eye_shapes(sizes: list[Any], batch: Any, is_square: bool) -> tuple[Any, Any]:
    from penstock.ops.binary import minimum

    length = minimum(*sizes) if any(isinstance(size, Tensor) for size in sizes) else min(sizes)
    leading = convert_to_tensor(batch, dtypes.int32, name="shape")
    diagonal_shape = concat([leading, [length]], 0)
    return diagonal_shape, None if is_square else concat([leading, sizes], 0)
