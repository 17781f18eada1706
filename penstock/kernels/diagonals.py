"""Kernels of diagonals and bands of matrices.

A band's elements are addressed by index arithmetic: entry (row, col) of a matrix is on diagonal
col - row, at position min(row, col) along it.
"""

import math

import torch

from penstock import errors, shapes
from penstock.kernels.known_inputs import known_list, known_number
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed
from penstock.ops.diagonals import band, longest_diagonal, matrix_size

# Tensors of rank 2k ---------------------------------------------------------------------------


@kernel("Diag", fresh=True)
def _(node):
    def run(x):
        if x.dim() == 0:
            message = "Input must be at least rank 1, got 0"
            raise errors.InvalidArgumentError(None, None, message)
        return torch.diag(x.reshape(-1)).reshape(x.shape + x.shape)

    return run


@kernel("DiagPart")
def _(node):
    def run(x):
        half = x.dim() // 2
        for i in range(half):
            if x.shape[i] != x.shape[half + i]:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Invalid shape {shapes.text(tuple(x.shape))}: dimensions {i} and {half + i} "
                    "do not match.",
                )
        count = math.prod(x.shape[:half])
        return x.reshape(count, count).diagonal().reshape(x.shape[:half])

    return run


# Bands ----------------------------------------------------------------------------------------


def _check_dimensions(name, value, least):
    if value.dim() < least:
        found = shapes.text(tuple(value.shape))
        message = f"{name} must be at least {least}-dim, received shape: {found}"
        raise errors.InvalidArgumentError(None, None, message)


@kernel("MatrixBandPart", fresh=True)
def _(node):
    def run(x, num_lower, num_upper):
        _check_dimensions("input", x, 2)
        for name, limit in (("num_lower", num_lower), ("num_upper", num_upper)):
            if limit.dim():
                message = f"{name} must be scalar, got shape {shapes.text(tuple(limit.shape))}"
                raise errors.InvalidArgumentError(None, None, message)
        lower, upper = num_lower.item(), num_upper.item()
        for name, limit, size, what in (
            ("num_lower", lower, x.shape[-2], "rows"),
            ("num_upper", upper, x.shape[-1], "columns"),
        ):
            if limit > size:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"{name} must be negative or less or equal to number of {what} ({size}) got: "
                    f"{limit}",
                )
        result = as_signed(x)
        if lower >= 0:
            result = result.triu(-lower)
        if upper >= 0:
            result = result.tril(upper)
        return result.view(x.dtype) if lower >= 0 or upper >= 0 else x.clone()

    return run


def _diagonal_lengths(diagonals, rows, cols):
    """How many elements each diagonal has."""
    return torch.minimum(rows + diagonals.clamp(max=0), cols - diagonals.clamp(min=0))


def _offsets(diagonals, rows, cols, length, align):
    """How far the first element of each diagonal stands from the left of a row of `length`."""
    above, below = align.split("_")
    missing = length - _diagonal_lengths(diagonals, rows, cols)
    is_right = (
        (diagonals >= 0) if above == "RIGHT" else torch.zeros_like(diagonals, dtype=torch.bool)
    )
    if below == "RIGHT":
        is_right = is_right | (diagonals <= 0)
    return missing * is_right


def _places_of_matrix(rows, cols, lower, upper, length, align, device):
    """For each entry of a matrix: whether the band holds it, and its place in the diagonals."""
    row = torch.arange(rows, device=device).unsqueeze(1)
    col = torch.arange(cols, device=device)
    diagonal = col - row
    inside = (diagonal >= lower) & (diagonal <= upper)
    along = torch.minimum(row, col) + _offsets(diagonal, rows, cols, length, align)
    place = (upper - diagonal) * length + along
    return inside, torch.where(inside, place, 0)


def _places_of_diagonals(rows, cols, lower, upper, length, align, device):
    """For each entry of the diagonals: whether it holds an element, and its place in the matrix."""
    diagonal = torch.arange(upper, lower - 1, -1, device=device).unsqueeze(1)
    along = torch.arange(length, device=device)
    along = along - _offsets(diagonal, rows, cols, length, align)
    inside = (along >= 0) & (along < _diagonal_lengths(diagonal, rows, cols))
    row = along + (-diagonal).clamp(min=0)
    col = along + diagonal.clamp(min=0)
    return inside, torch.where(inside, row * cols + col, 0)


def _pick(x, places):
    """The elements of the last dimension at `places`, a matrix of positions."""
    picked = as_signed(x).index_select(-1, places.reshape(-1)).view(x.dtype)
    return picked.reshape(x.shape[:-1] + places.shape)


def _from_diagonals(diagonals, lower, upper, rows, cols, align, others):
    """Matrices with a band of diagonals, and the values of `others` elsewhere."""
    several = lower < upper
    batch = diagonals.shape[: -2 if several else -1]
    length = diagonals.shape[-1]
    inside, places = _places_of_matrix(rows, cols, lower, upper, length, align, diagonals.device)
    if not length:
        return others.expand((*batch, rows, cols)).clone()
    flat = diagonals.reshape((*batch, -1))
    return torch.where(inside, _pick(flat, places), others)


def _to_diagonals(x, lower, upper, align, padding):
    rows, cols = x.shape[-2:]
    length = longest_diagonal(rows, cols, lower, upper)
    inside, places = _places_of_diagonals(rows, cols, lower, upper, length, align, x.device)
    if not rows * cols:
        shape = (*x.shape[:-2], upper - lower + 1, length)
        found = padding.expand(shape).clone()
    else:
        found = torch.where(inside, _pick(x.reshape((*x.shape[:-2], -1)), places), padding)
    return found.squeeze(-2) if lower == upper else found


def _band_reader(node, env):
    known = known_list(node, env, 2 if "Set" in node.type else 1)
    if known is not None:
        fixed = band(known if isinstance(known, list) else [known])
        return lambda _: fixed
    return lambda k: band(k.reshape(-1).tolist())


def _alignment(node):
    return node.attrs.get("align", "LEFT_LEFT")


@kernel("MatrixDiag", fresh=True)
def _(node):
    def run(diagonal):
        _check_dimensions("diagonal", diagonal, 1)
        return torch.diag_embed(diagonal)

    return run


@kernel("MatrixDiagV2", "MatrixDiagV3", fresh=True)
def _(node, env):
    read, align = _band_reader(node, env), _alignment(node)
    known = known_number(node, env, 4)

    def run(diagonals, k, num_rows, num_cols, padding):
        lower, upper = read(k)
        size = num_rows.item(), num_cols.item()
        filler = padding.item() if known is None else known
        if lower == upper == 0 and size == (-1, -1) and filler == 0:
            return torch.diag_embed(diagonals)
        rows, cols = matrix_size(diagonals.shape[-1], lower, upper, *size)
        return _from_diagonals(diagonals, lower, upper, rows, cols, align, padding)

    return run


@kernel("MatrixDiagPart")
def _(node):
    def run(x):
        _check_dimensions("input", x, 2)
        return x.diagonal(0, -2, -1)

    return run


@kernel("MatrixDiagPartV2", "MatrixDiagPartV3")
def _(node, env):
    read, align = _band_reader(node, env), _alignment(node)

    def run(x, k, padding):
        lower, upper = read(k)
        if lower == upper:
            longest_diagonal(*x.shape[-2:], lower, upper)
            return x.diagonal(lower, -2, -1)
        return _to_diagonals(x, lower, upper, align, padding)

    return run


def _set(x, diagonals, lower, upper, align):
    rows, cols = x.shape[-2:]
    length = longest_diagonal(rows, cols, lower, upper)
    several = (upper - lower + 1,) if lower < upper else ()
    wanted = (*x.shape[:-2], *several, length)
    if tuple(diagonals.shape) != wanted:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape"
            "[:-1] is not equal to the longests diagonal in range [lower_diag_index:"
            f"upper_diag_index].\nInput shape: {shapes.text(tuple(x.shape))}\nDiagonal shape: "
            f"{shapes.text(tuple(diagonals.shape))}\nExpected diagonal shape: "
            f"{shapes.text(wanted)}",
        )
    if lower == upper:
        result = x.clone()
        result.diagonal(lower, -2, -1).copy_(diagonals)
        return result
    return _from_diagonals(diagonals, lower, upper, rows, cols, align, x)


@kernel("MatrixSetDiag", fresh=True)
def _(node):
    def run(x, diagonal):
        _check_dimensions("input", x, 2)
        _check_dimensions("diagonal", diagonal, 1)
        return _set(x, diagonal, 0, 0, "LEFT_LEFT")

    return run


@kernel("MatrixSetDiagV2", "MatrixSetDiagV3", fresh=True)
def _(node, env):
    read, align = _band_reader(node, env), _alignment(node)
    return lambda x, diagonals, k: _set(x, diagonals, *read(k), align)
