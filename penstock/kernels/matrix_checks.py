"""What kernels of matrices check before ATen runs, which would broadcast, and of its results."""

import torch

from penstock import dtypes, errors

_NARROW = (dtypes.float16, dtypes.bfloat16)


def invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def in_single_precision(node, function):
    """A function of tensors that computes in float32 where ATen lacks it for a node's half type."""
    if node.inputs[0].dtype not in _NARROW:
        return function

    def run(*tensors):
        narrow = tensors[0].dtype
        wide = [x.float() if x.dtype is narrow else x for x in tensors]
        result = function(*wide)
        if isinstance(result, torch.Tensor):
            return result.to(narrow)
        return [x.to(narrow) if x.is_floating_point() else x for x in result]

    return run


def require_matrices(x):
    if x.dim() < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.dim()}")


def require_square(x):
    require_matrices(x)
    if x.shape[-1] != x.shape[-2]:
        raise invalid(f"Input matrix must be square, got {list(x.shape)}")


def require_system(matrix, rhs, *, is_square=True, broadcasts=False):
    """Checks that `matrix @ x = rhs` has shapes of a system of equations."""
    require_square(matrix) if is_square else require_matrices(matrix)
    require_matrices(rhs)
    if not broadcasts and matrix.dim() != rhs.dim():
        raise invalid("All input tensors must have the same rank.")
    if not broadcasts and matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid("All input tensors must have the same outer dimensions.")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise invalid(
            f"Input matrix and rhs are incompatible: {list(matrix.shape)} and {list(rhs.shape)}"
        )


def all_nonzero(diagonals):
    """Whether no entry is zero or not a number."""
    return bool((diagonals.abs() > 0).all())
