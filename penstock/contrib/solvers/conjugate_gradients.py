"""Conjugate gradients: for systems of equations, and for least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.solvers.operators import dot, l2norm_squared

__all__ = ["cgls", "conjugate_gradient"]


class CGState(NamedTuple):
    """Where a solver is: steps, solution, residual, direction, squared size of the residual."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _solved(
    state: CGState, goes_on: Callable[[CGState], Any], step: Callable[..., Any], max_iter: int
) -> CGState:
    def condition(i: Any, state: CGState) -> Any:
        return tf.logical_and(i < max_iter, goes_on(state))

    def body(i: Any, state: CGState) -> Any:
        return i + 1, CGState(i + 1, *step(state))

    _, state = tf.while_loop(condition, body, [state.i, state])
    x, r, p = (tf.squeeze(each) for each in (state.x, state.r, state.p))
    return CGState(state.i, x, r, p, state.gamma)


def _start(operator: Any, rhs: Any) -> Any:
    return tf.expand_dims(tf.zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype), -1)


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: Any = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solves `A x = rhs` for a symmetric positive definite operator.

    Args:
      operator: with `shape`, `dtype` and `apply`, which takes columns.
      rhs: a vector.
      preconditioner: an operator close to the inverse.
      x: where to start; zeros if None.
      tol: to which part of its length at the start the residual must shrink.
      max_iter: how many steps at most.
      name: of the scope.
    """
    prepared = preconditioner.apply if preconditioner is not None else (lambda r: r)

    def step(state: CGState) -> tuple[Any, ...]:
        z = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, z)
        r = state.r - alpha * z
        q = prepared(r)
        gamma = dot(r, q)
        return state.x + alpha * state.p, r, q + gamma / state.gamma * state.p, gamma

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        if x is None:
            x, r = _start(operator, rhs), rhs
        else:
            x = tf.expand_dims(x, -1)
            r = rhs - operator.apply(x)
        p = prepared(r)
        bound = tol * tf.norm(r)
        state = CGState(tf.constant(0, dtype=tf.int32), x, r, p, dot(r, p))
        return _solved(state, lambda state: tf.norm(state.r) > bound, step, max_iter)


def cgls(operator: Any, rhs: Any, tol: Any = 1e-6, max_iter: int = 20, name: str = "cgls") -> Any:
    """The least of `|A x - rhs|`.

    Args:
      operator: with `shape`, `dtype`, `apply` and `apply_adjoint`, which take columns.
      rhs: a vector.
      tol: to which part of its length at the start `A* (rhs - A x)` must shrink.
      max_iter: how many steps at most.
      name: of the scope.
    """

    def step(state: CGState) -> tuple[Any, ...]:
        q = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(q)
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = l2norm_squared(s)
        return state.x + alpha * state.p, r, s + gamma / state.gamma * state.p, gamma

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        s = operator.apply_adjoint(rhs)
        gamma = l2norm_squared(s)
        bound = tol * tol * gamma
        start = _start(operator, rhs)
        state = CGState(tf.constant(0, dtype=tf.int32), start, rhs, s, gamma)
        return _solved(state, lambda state: state.gamma > bound, step, max_iter)
