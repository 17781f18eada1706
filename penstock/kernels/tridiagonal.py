"""Kernels of tridiagonal matrices.

Elimination goes row by row; each row is worked on in all systems and right-hand sides at once.
"""

import torch

from penstock.kernels.matrix_checks import all_nonzero, invalid, require_matrices
from penstock.kernels.registry import kernel


@kernel("TridiagonalMatMul", fresh=True)
def _(node):
    def run(above, main, below, rhs):
        for row in (above, main, below):
            if row.dim() < 2 or row.shape[-2] != 1 or row.shape[-1] != rhs.shape[-2]:
                raise invalid(
                    f"a diagonal of shape {list(row.shape)} does not fit a rhs of {list(rhs.shape)}"
                )
        above, main, below = above.mT, main.mT, below.mT
        result = main * rhs
        result[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
        result[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
        return result

    return run


@kernel("TridiagonalSolve", fresh=True)
def _(node):
    pivots, perturbs = node.attrs["partial_pivoting"], node.attrs["perturb_singular"]
    if perturbs and not pivots:
        raise invalid("Setting perturb_singular requires also setting partial_pivoting.")

    def run(diagonals, rhs):
        _check(diagonals, rhs)
        if diagonals.shape[-1] == 0:
            return rhs.clone()
        above, main, below = diagonals.unbind(-2)
        eliminate = _eliminated_with_swaps if pivots else _eliminated
        rows, sides = eliminate(above, main, below, rhs)
        if perturbs:
            rows = _perturbed(rows)
        elif not all_nonzero(torch.stack([row[0] for row in rows])):
            raise invalid(_failure(pivots, len(rows)))
        return torch.stack(_substituted(rows, sides), dim=-2)

    return run


def _check(diagonals, rhs):
    require_matrices(diagonals)
    if diagonals.shape[-2] != 3:
        raise invalid(
            "Expected diagonals to be provided as a matrix with 3 rows, got "
            f"{diagonals.shape[-2]} rows."
        )
    if diagonals.dim() != rhs.dim():
        raise invalid("All input tensors must have the same rank.")
    if diagonals.shape[:-2] != rhs.shape[:-2]:
        raise invalid("All input tensors must have the same outer dimensions.")
    if diagonals.shape[-1] != rhs.shape[-2]:
        raise invalid(
            "Expected the same number of left-hand sides and right-hand sides, got "
            f"{diagonals.shape[-1]} and {rhs.shape[-2]}."
        )


def _failure(pivots, size):
    if not pivots:
        return (
            "The matrix is either not invertible, or requires pivoting. Try setting "
            "partial_pivoting = True."
        )
    if size == 1:
        return "The matrix is not invertible: it is a scalar with value zero."
    return "The matrix is not invertible."


def _eliminated(above, main, below, rhs):
    """The rows of the upper factor (diagonal, next, the one after), and what rhs has become."""
    zero = torch.zeros_like(main[..., 0])
    rows, sides = [], [rhs[..., 0, :]]
    pivot = main[..., 0]
    for i in range(main.shape[-1] - 1):
        rows.append((pivot, above[..., i], zero))
        factor = below[..., i + 1] / pivot
        pivot = main[..., i + 1] - factor * above[..., i]
        sides.append(rhs[..., i + 1, :] - factor.unsqueeze(-1) * sides[i])
    rows.append((pivot, zero, zero))
    return rows, sides


def _eliminated_with_swaps(above, main, below, rhs):
    """As `_eliminated`, where the row below is taken first if its leading entry is larger."""
    zero = torch.zeros_like(main[..., 0])
    size = main.shape[-1]
    rows, sides = [], [rhs[..., 0, :]]
    current = (main[..., 0], above[..., 0] if size > 1 else zero)
    for i in range(size - 1):
        next_above = above[..., i + 1] if i + 2 < size else zero
        upper = (*current, zero)
        lower = (below[..., i + 1], main[..., i + 1], next_above)
        swap = upper[0].abs() < lower[0].abs()
        first = [torch.where(swap, b, a) for a, b in zip(upper, lower, strict=True)]
        second = [torch.where(swap, a, b) for a, b in zip(upper, lower, strict=True)]
        # A leading zero that no swap removes is found later: here it must not become a NaN.
        factor = second[0] / torch.where(first[0] == 0, 1, first[0])
        rows.append(tuple(first))
        current = (second[1] - factor * first[1], second[2] - factor * first[2])
        wide = swap.unsqueeze(-1)
        side, other = sides[i], rhs[..., i + 1, :]
        sides[i] = torch.where(wide, other, side)
        sides.append(torch.where(wide, side, other) - factor.unsqueeze(-1) * sides[i])
    rows.append((current[0], zero, zero))
    return rows, sides


def _perturbed(rows):
    """Rows whose pivots are at least a rounding error of the largest entry."""
    entries = torch.stack([torch.stack(row) for row in rows]).abs()
    largest = entries.amax(dim=(0, 1))
    info = torch.finfo(largest.dtype)
    least = (largest * info.eps).clamp(min=info.tiny)
    return [
        (torch.where(pivot.abs() < least, pivot + least, pivot), *others) for pivot, *others in rows
    ]


def _substituted(rows, sides):
    """Solves the upper triangular system from the last row up."""
    found = []
    for (pivot, following, second), side in zip(reversed(rows), reversed(sides), strict=True):
        if found:
            side = side - following.unsqueeze(-1) * found[-1]
        if len(found) > 1:
            side = side - second.unsqueeze(-1) * found[-2]
        found.append(side / pivot.unsqueeze(-1))
    return found[::-1]
