"""Lanczos' bidiagonalization: a large operator in a few of its own directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.solvers.operators import l2norm, l2normalize
from penstock.ir.tensor import Tensor

__all__ = ["bidiag_matmul", "lanczos_bidiag"]

_LOST = 0.7071  # a vector that lost so much of its length is made orthogonal once more


class LanczosBidiagState(NamedTuple):
    """The directions as columns, and the two diagonals of the operator among them."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def lanczos_bidiag(
    operator: Any,
    k: int,
    orthogonalize: bool = True,
    starting_vector: Any = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:
    """k steps of the bidiagonalization `A V = U B` of an operator of `tf.contrib.solvers.util`.

    Args:
      orthogonalize: whether each direction is made orthogonal to all before, against rounding.
      starting_vector: the first direction; random by default.
    """
    with tf.name_scope(name):
        if starting_vector is None:
            starting_vector = tf.random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        first, _ = l2normalize(starting_vector)
        u = _array(k + 1, operator.dtype, "u").write(0, tf.squeeze(first))
        others = [_array(k, operator.dtype, part) for part in ("v", "alpha", "beta")]
        step = _step(operator, orthogonalize)
        start = tf.constant(0, dtype=tf.int32)
        _, found = tf.while_loop(lambda i, _: i < k, step, [start, LanczosBidiagState(u, *others)])
        return LanczosBidiagState(
            tf.matrix_transpose(found.u.stack()),
            tf.matrix_transpose(found.v.stack()),
            found.alpha.stack(),
            found.beta.stack(),
        )


def _array(size: int, dtype: Any, name: str) -> Any:
    return tf.TensorArray(dtype=dtype, size=size, tensor_array_name=name, clear_after_read=False)


def _column(array: Any, i: Any) -> Tensor:
    column: Tensor = tf.expand_dims(array.read(i), -1)
    return column


def _step(operator: Any, orthogonalize: bool) -> Any:
    def step(i: Any, state: LanczosBidiagState) -> Any:
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        size = r.get_shape()
        r = tf.cond(i > 0, lambda: r - state.beta.read(i - 1) * _column(state.v, i - 1), lambda: r)
        r.set_shape(size)
        v, alpha = _orthogonal(i - 1, state.v, r) if orthogonalize else l2normalize(r)
        p = operator.apply(v) - alpha * u
        u, beta = _orthogonal(i, state.u, p) if orthogonalize else l2normalize(p)
        return i + 1, LanczosBidiagState(
            state.u.write(i + 1, tf.squeeze(u)),
            state.v.write(i, tf.squeeze(v)),
            state.alpha.write(i, alpha),
            state.beta.write(i, beta),
        )

    return step


def _orthogonal(count: Any, basis: Any, vector: Tensor) -> Any:
    """A vector without its parts along the first columns, of length 1, and its length before."""
    made, length = _without_parts(count, basis, vector)
    return tf.cond(
        length < _LOST * l2norm(vector),
        lambda: _without_parts(count, basis, vector),
        lambda: (made, length),
    )


def _without_parts(count: Any, basis: Any, vector: Tensor) -> Any:
    size = vector.get_shape()

    def without_one(j: Any, basis: Any, rest: Tensor) -> Any:
        direction = _column(basis, j)
        rest -= tf.matmul(direction, rest, adjoint_a=True) * direction
        rest.set_shape(size)
        return j + 1, basis, rest

    start = tf.constant(0, dtype=tf.int32)
    _, _, rest = tf.while_loop(lambda j, *_: j < count, without_one, [start, basis, vector])
    return l2normalize(rest)


def bidiag_matmul(
    matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False, name: str = "bidiag_matmul"
) -> Tensor:
    """A matrix times the lower bidiagonal matrix of two diagonals, or times its adjoint."""
    with tf.name_scope(name):
        diagonal = tf.expand_dims(alpha, 0)
        if not adjoint_b:
            product: Tensor = matrix[:, :-1] * diagonal + matrix[:, 1:] * tf.expand_dims(beta, 0)
            return product
        shifted = matrix[:, :-1] * tf.expand_dims(beta[:-1], 0)
        nothing = tf.zeros_like(matrix[:, :1])
        product = matrix * diagonal + tf.concat([nothing, shifted], 1)
        return product
