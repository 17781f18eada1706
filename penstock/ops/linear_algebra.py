"""Functions of linear algebra that are made of ops of several kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import aggregates, array, binary, casts, elementwise, reductions
from penstock.ops.control import control_dependencies
from penstock.ops.decompositions import cholesky
from penstock.ops.linear_systems import matrix_triangular_solve
from penstock.ops.matmul import matmul
from penstock.ops.rank_assertions import assert_rank_at_least
from penstock.ops.select import where_v2
from penstock.ops.spectral_decompositions import svd
from penstock.ops.value_assertions import assert_equal
from penstock.shapes import dimension_value

__all__: list[str] = []


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The products of matrices with the vectors in the last dimension of `b`."""
    with name_scope(name, "MatVec", [a, b]):
        product = matmul(
            a,
            array.expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return array.squeeze(product, axis=-1)


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithms of the determinants of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        diagonal = casts.real(array.matrix_diag_part(cholesky(matrix)))
        return 2.0 * reductions.reduce_sum(elementwise.log(diagonal), axis=[-1])


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norms (see `tf.norm`), and the norms."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        norms = aggregates.norm(tensor, ord, axis, keepdims=True)
        norms = casts.cast(norms, tensor.dtype)
        return tensor / norms, norms


# Singular values ------------------------------------------------------------------------------


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The numbers of singular values above `tol`, by default above rounding errors."""
    with name_scope(name or "matrix_rank"):
        a = convert_to_tensor(a, dtype_hint=dtypes.float32, name="a")
        a = _checked(a, _matrix_assertions(a, validate_args))
        values: Any = svd(a, compute_uv=False)
        if tol is None:
            inner = a.shape[-2:]
            if inner.is_fully_defined():
                longest: Any = np.max(inner.as_list())
            else:
                sizes: Any = array.shape(a)
                longest = reductions.reduce_max(sizes[-2:])
            eps = np.finfo(a.dtype.as_numpy_dtype).eps
            unit = eps * casts.cast(longest, a.dtype)
            tol = unit * reductions.reduce_max(values, axis=-1, keepdims=True)
        return reductions.reduce_sum(casts.cast(values > tol, dtypes.int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverses of matrices.

    `rcond` says which part of the largest singular value is as good as zero.
    """
    with name_scope(name or "pinv"):
        a = convert_to_tensor(a, name="a")
        a = _checked(a, _matrix_assertions(a, validate_args))
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            rcond = 10.0 * _longest_side(a) * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reductions.reduce_max(s, axis=-1)
        # Divided by infinity, what is as good as zero stays zero, in gradients too.
        s = where_v2(s > array.expand_dims(cutoff, -1), s, np.array(np.inf, dtype))
        result = matmul(v / array.expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.ndims is not None:
            result.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return result


def _longest_side(a: Any) -> Any:
    sides = [dimension_value(a.shape[axis]) for axis in (-2, -1)]
    if None not in sides:
        return float(max(sides))
    sizes: Any = array.shape(a)
    rows, cols = (
        sizes[axis] if side is None else side for axis, side in zip((-2, -1), sides, strict=True)
    )
    return casts.cast(binary.maximum(rows, cols), a.dtype)


def _checked(x: Tensor, assertions: list[Operation]) -> Tensor:
    if not assertions:
        return x
    with control_dependencies(assertions):
        return array.identity(x)


def _matrix_assertions(a: Tensor, validate_args: bool) -> list[Operation]:
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    rank = a.shape.ndims
    if rank is not None and rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {rank}).")
    if rank is not None or not validate_args:
        return []
    message = "Input `a` must have at least 2 dimensions."
    return [assert_rank_at_least(a, rank=2, message=message)]


# LU factors -----------------------------------------------------------------------------------


def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of `A @ x = rhs`, of which `tf.linalg.lu(A)` gave the factors."""
    with name_scope(name or "lu_solve"):
        lower_upper, perm = _lu_tensors(lower_upper, perm)
        rhs = convert_to_tensor(rhs, dtype_hint=lower_upper.dtype, name="rhs")
        assertions = _lu_assertions(lower_upper, perm, validate_args)
        assertions += _rhs_assertions(lower_upper, rhs, validate_args)
        lower_upper, perm, rhs = (_checked(x, assertions) for x in (lower_upper, perm, rhs))
        if rhs.shape.ndims == 2 and perm.shape.ndims == 1:
            permuted = array.gather(rhs, perm, axis=-2)
        else:
            permuted = _permuted_rows(rhs, perm)
        forward = matrix_triangular_solve(_lower_factor(lower_upper), permuted)
        return matrix_triangular_solve(lower_upper, forward, lower=False)


def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of matrices of which `tf.linalg.lu` gave the factors."""
    with name_scope(name or "lu_matrix_inverse"):
        lower_upper, perm = _lu_tensors(lower_upper, perm)
        assertions = _lu_assertions(lower_upper, perm, validate_args)
        lower_upper, perm = (_checked(x, assertions) for x in (lower_upper, perm))
        sizes: Any = array.shape(lower_upper)
        identity = array.eye(sizes[-1], batch_shape=sizes[:-2], dtype=lower_upper.dtype)
        return lu_solve(lower_upper, perm, rhs=identity, validate_args=False)


def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices of which `tf.linalg.lu` gave the factors."""
    with name_scope(name or "lu_reconstruct"):
        lower_upper, perm = _lu_tensors(lower_upper, perm)
        assertions = _lu_assertions(lower_upper, perm, validate_args)
        lower_upper, perm = (_checked(x, assertions) for x in (lower_upper, perm))
        sizes: Any = array.shape(lower_upper)
        lower = _lower_factor(lower_upper, sizes)
        product = matmul(lower, array.matrix_band_part(lower_upper, num_lower=0, num_upper=-1))
        if lower_upper.shape.ndims == 2:
            result = array.gather(product, array.invert_permutation(perm))
        else:
            order = casts.cast(_argsort(perm), dtypes.int32)
            result = array.reshape(_permuted_rows(product, order), sizes)
        result.set_shape(lower_upper.shape)
        return result


def _lu_tensors(lower_upper: Any, perm: Any) -> tuple[Any, Any]:
    return (
        convert_to_tensor(lower_upper, dtype_hint=dtypes.float32, name="lower_upper"),
        convert_to_tensor(perm, dtype_hint=dtypes.int32, name="perm"),
    )


def _lower_factor(lower_upper: Any, sizes: Any = None) -> Tensor:
    lower = array.matrix_band_part(lower_upper, num_lower=-1, num_upper=0)
    sizes = array.shape(lower_upper) if sizes is None else sizes
    return array.matrix_set_diag(lower, array.ones(sizes[:-1], dtype=lower_upper.dtype))


def _argsort(perm: Any) -> Tensor:
    """The inverses of permutations in the last dimension: their positions in order."""
    from penstock.ops.topk import top_k

    sizes: Any = array.shape(perm)
    return top_k(-perm, k=sizes[-1])[1]


def _permuted_rows(rhs: Any, perm: Any) -> Tensor:
    """Row perm[..., i] of `rhs` as row i; batches broadcast."""
    sizes: Any = array.shape(rhs)
    permutations: Any = array.shape(perm)
    batch = array.broadcast_dynamic_shape(sizes[:-2], permutations[:-1])
    rows, cols = sizes[-2], sizes[-1]
    whole: Any = array.concat([batch, [rows, cols]], axis=0)
    flat = array.reshape(array.broadcast_to(rhs, whole), [-1, rows, cols])
    order = array.reshape(array.broadcast_to(perm, whole[:-1]), [-1, rows])
    count = reductions.reduce_prod(batch)
    batches: Any = array.expand_dims(array.range(count), 1)
    places = array.stack([array.broadcast_to(batches, [count, rows]), order], axis=-1)
    return array.reshape(array.gather_nd(flat, places), whole)


def _lu_assertions(lower_upper: Any, perm: Any, validate_args: bool) -> list[Operation]:
    assertions: list[Operation] = []
    message = "Input `lower_upper` must have at least 2 dimensions."
    if lower_upper.shape.ndims is not None:
        if lower_upper.shape.ndims < 2:
            raise ValueError(message)
    elif validate_args:
        assertions.append(assert_rank_at_least(lower_upper, rank=2, message=message))
    message = "`rank(lower_upper)` must equal `rank(perm) + 1`"
    if lower_upper.shape.ndims is not None and perm.shape.ndims is not None:
        if lower_upper.shape.ndims != perm.shape.ndims + 1:
            raise ValueError(message)
    elif validate_args:
        ranks: list[Any] = [array.rank(lower_upper), array.rank(perm)]
        assertions.append(assert_equal(ranks[0], ranks[1] + 1, message=message))
    message = "`lower_upper` must be square"
    if lower_upper.shape[:-2].is_fully_defined():
        if lower_upper.shape[-2] != lower_upper.shape[-1]:
            raise ValueError(message)
    elif validate_args:
        sizes: Any = array.shape(lower_upper)
        assertions.append(assert_equal(sizes[-2], sizes[-1], message=message))
    return assertions


def _rhs_assertions(lower_upper: Any, rhs: Any, validate_args: bool) -> list[Operation]:
    message = "Input `rhs` must have at least 2 dimensions."
    if rhs.shape.ndims is not None:
        if rhs.shape.ndims < 2:
            raise ValueError(message)
    elif validate_args:
        return [assert_rank_at_least(rhs, rank=2, message=message)]
    message = "`lower_upper.shape[-1]` must equal `rhs.shape[-1]`."
    known = None not in (dimension_value(lower_upper.shape[-1]), dimension_value(rhs.shape[-2]))
    if known and lower_upper.shape[-1] != rhs.shape[-2]:
        raise ValueError(message)
    if known or not validate_args:
        return []
    sizes: list[Any] = [array.shape(lower_upper), array.shape(rhs)]
    return [assert_equal(sizes[0][-1], sizes[1][-2], message=message)]
