"""The kernel of products of a sparse matrix and a dense one."""

import torch

from penstock.kernels.registry import kernel
from penstock.kernels.sparse_rows import brackets, invalid

_FEW = 4096  # products that index_add_ sums faster
_SUMMED = frozenset({torch.float32, torch.float64})  # the types of weighted sums of rows


@kernel("SparseTensorDenseMatMul", fresh=True)
def _(node):
    adjoint_a, adjoint_b = node.attrs["adjoint_a"], node.attrs["adjoint_b"]

    def run(indices, values, shape, b):
        _check(indices, values, shape, b)
        rows, columns = indices.t().contiguous()
        height, width = shape.tolist()
        if adjoint_a:
            rows, columns, values = columns, rows, values.conj().resolve_conj()
            height, width = width, height
        if adjoint_b:
            b = b.mH
        if b.shape[0] != width:
            raise invalid(
                "Cannot multiply A and B because inner dimension does not match: "
                f"{width} vs. {b.shape[0]}.  Did you forget a transpose?  Dimensions of A: "
                f"[{height}, {width}).  Dimensions of B: {brackets(b.shape)}"
            )
        _check_bounds(rows, columns, height, width, adjoint_a)
        return _product(rows, columns, values, height, b)

    return run


def _check(indices, values, shape, b):
    for part, name, rank in (
        (b, "b", 2),
        (shape, "a_shape", 1),
        (values, "a_values", 1),
        (indices, "a_indices", 2),
    ):
        if part.dim() != rank:
            wanted = "matrix" if rank == 2 else "vector"
            raise invalid(f"Tensor '{name}' is not a {wanted}")
    if len(shape) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements")
    if len(values) != len(indices):
        raise invalid("Number of rows of a_indices does not match number of entries in a_values")
    if indices.shape[1] != 2:
        raise invalid("Number of columns of a_indices does not match number of entries in a_shape")


def _check_bounds(rows, columns, height, width, adjoint_a):
    if not len(rows):
        return
    named = ((rows, height, "m", 0), (columns, width, "k", 1))
    for numbers, limit, letter, axis in named:
        low, high = torch.aminmax(numbers)
        if int(low) < 0 or int(high) >= limit:
            place = int(((numbers < 0) | (numbers >= limit)).nonzero()[0])
            column = 1 - axis if adjoint_a else axis
            raise invalid(
                f"{letter} ({int(numbers[place])}) from index[{place},{column}] out of bounds "
                f"(>={limit})"
            )


def _product(rows, columns, values, height, b):
    """Each row of the result is a weighted sum of rows of `b`."""
    if len(rows) * b.shape[1] > _FEW and values.dtype in _SUMMED:
        return _weighted_sums(rows, columns, values, height, b)
    result = torch.zeros((height, b.shape[1]), dtype=values.dtype, device=values.device)
    return result.index_add_(0, rows.long(), values.unsqueeze(1) * b.index_select(0, columns))


def _weighted_sums(rows, columns, values, height, b):
    if not bool((rows[1:] >= rows[:-1]).all()):
        order = rows.argsort(stable=True)
        rows, columns, values = rows[order], columns[order], values[order]
    starts = torch.searchsorted(rows, torch.arange(height, dtype=rows.dtype, device=rows.device))
    mode_of_sums = 0
    sums, *_ = torch.embedding_bag(
        b.contiguous(),
        columns,
        starts.to(columns.dtype),
        False,
        mode_of_sums,
        False,
        values,
    )
    return sums
