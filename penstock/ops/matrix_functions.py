"""Functions of matrices: exponentials, logarithms, square roots."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX
from penstock.ops import array, binary, casts, elementwise, reductions
from penstock.ops.comparison import logical_and
from penstock.ops.conditionals import cond
from penstock.ops.linear_systems import matrix_solve
from penstock.ops.loops import while_loop
from penstock.ops.matmul import matmul
from penstock.ops.matrix_shapes import square, with_batch
from penstock.ops.select import where_v2
from penstock.shapes import Shape

__all__ = ["matrix_square_root"]

_TYPES = types(dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128)

MatrixExponential = op("MatrixExponential(input: T) -> output: T", T=_TYPES)
MatrixLogarithm = op("MatrixLogarithm(input: T) -> output: T", T=COMPLEX)
MatrixSquareRoot = op("MatrixSquareRoot(input: T) -> output: T", T=_TYPES)


@MatrixExponential.shape
@MatrixLogarithm.shape
@MatrixSquareRoot.shape
def _(op: Operation, x: Shape) -> Shape:
    batch, n = square(x)
    return with_batch(batch, n, n)


@MatrixSquareRoot.gradient
def _(op: Operation, grad: Any) -> Any:
    """Solves the Sylvester equation dA = R dR + dR R, written out as one linear system."""
    root = op.outputs[0]
    sizes: Any = array.shape(root)
    n, batch = sizes[-1], sizes[:-2]
    identity = array.eye(n, dtype=root.dtype, batch_shape=batch)
    system = _kronecker(identity, array.matrix_transpose(root)) + _kronecker(root, identity)
    column = array.concat([batch, [n * n], [1]], 0)
    solved = matrix_solve(system, array.reshape(array.matrix_transpose(grad), column))
    return array.matrix_transpose(array.reshape(solved, sizes))


def _kronecker(a: Any, b: Any) -> Any:
    """The Kronecker products of two batches of square matrices of one size."""
    sizes: Any = array.shape(a)
    batch, n = sizes[:-2], sizes[-1]
    spread_a = array.reshape(a, array.concat([batch, [n, 1, n, 1]], 0))
    spread_b = array.reshape(b, array.concat([batch, [1, n, 1, n]], 0))
    product: Any = spread_a
    return array.reshape(product * spread_b, array.concat([batch, [n * n, n * n]], 0))


def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithms of complex matrices."""
    return MatrixLogarithm(input, name=name)


def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """The principal square roots of matrices: `root @ root = input`."""
    return MatrixSquareRoot(input, name=name)


# Exponentials ---------------------------------------------------------------------------------

# Padé approximants of the exponential by their degree: the coefficients of their numerators.
_PADE: dict[int, tuple[float, ...]] = {
    3: (120.0, 60.0, 12.0, 1.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0),
    9: (
        17643225600.0,
        8821612800.0,
        2075673600.0,
        302702400.0,
        30270240.0,
        2162160.0,
        110880.0,
        3960.0,
        90.0,
        1.0,
    ),
    13: (
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ),
}
# Up to which norm of a matrix each degree is exact enough (Higham, 2005); beyond the last one
# the matrix is halved until it is small enough.
_BOUNDS: dict[Any, tuple[tuple[int, float], ...]] = {
    dtypes.float32: ((3, 4.258730016922831e-1), (5, 1.880152677804762), (7, 3.925724783138660)),
    dtypes.float64: (
        (3, 1.495585217958292e-2),
        (5, 2.539398330063230e-1),
        (7, 9.504178996162932e-1),
        (9, 2.097847961257068),
        (13, 5.371920351148152),
    ),
}


def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, by scaling, Padé approximation and squaring."""
    with name_scope(name, "matrix_exponential", [input]):
        x: Any = convert_to_tensor(input, name="input")
        if not (x.dtype.is_floating or x.dtype.is_complex):
            raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype}")
        if x.dtype == dtypes.float16:
            return casts.cast(expm(casts.cast(x, dtypes.float32)), dtypes.float16)
        if x._shape is not None and len(x._shape) >= 2 and 0 in x._shape[-2:]:
            return array.identity(x)
        real = x.dtype.real_dtype
        bounds = _BOUNDS[dtypes.float64 if real == dtypes.float64 else dtypes.float32]
        norms: Any = reductions.reduce_max(
            reductions.reduce_sum(elementwise.abs(x), axis=-2, keepdims=True),
            axis=[-2, -1],
            keepdims=True,
        )
        largest = bounds[-1][1]
        halvings: Any = elementwise.floor(elementwise.log(norms / largest) / np.log(2.0))
        halvings = binary.maximum(halvings + 1.0, array.zeros_like(norms))
        scale = casts.cast(binary.pow(casts.cast(2.0, real), halvings), x.dtype)
        result = _solved(*_best_approximant(x, x / scale, norms, bounds), norms)
        result = _squared(result, halvings)
        result.set_shape(x.shape)
        return result


def _approximant(x: Any, degree: int) -> tuple[Any, Any]:
    """The odd and the even part of the numerator: the approximant is (e + o) / (e - o)."""
    coefficients = [np.array(c, x.dtype.as_numpy_dtype) for c in _PADE[degree]]
    sizes: Any = array.shape(x)
    power: Any = array.eye(sizes[-1], batch_shape=sizes[:-2], dtype=x.dtype)
    square_: Any = matmul(x, x)
    odd, even = coefficients[1] * power, coefficients[0] * power
    for i in range(2, degree, 2):
        power = matmul(power, square_)
        even += coefficients[i] * power
        odd += coefficients[i + 1] * power
    return matmul(x, odd), even


def _best_approximant(x: Any, scaled: Any, norms: Any, bounds: Any) -> tuple[Any, Any]:
    """For each matrix the approximant of the smallest degree that is exact enough."""
    odd, even = _approximant(scaled, bounds[-1][0])
    for degree, bound in reversed(bounds[:-1]):
        smaller_odd, smaller_even = _approximant(x, degree)
        fits = norms < bound
        odd, even = where_v2(fits, smaller_odd, odd), where_v2(fits, smaller_even, even)
    return odd, even


def _solved(odd: Any, even: Any, norms: Any) -> Any:
    """The approximant; not a number where the matrices are not finite and have none."""
    return cond(
        elementwise.is_finite(reductions.reduce_max(norms)),
        lambda: matrix_solve(even - odd, even + odd),
        lambda: array.fill(array.shape(even), np.array(np.nan, even.dtype.as_numpy_dtype)),
    )


def _squared(x: Any, counts: Any) -> Any:
    """Squares each matrix as often as it was halved."""
    most = reductions.reduce_max(counts)

    def step(i: Any, value: Any) -> Any:
        return i + 1.0, where_v2(i < counts, matmul(value, value), value)

    # The count of a matrix that is not finite isn't either: nothing is squared then.
    finite = elementwise.is_finite(most)
    _, result = while_loop(
        lambda i, _: logical_and(finite, i < most), step, [array.zeros_like(most), x]
    )
    return result
