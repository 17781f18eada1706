"""Minimisation by an algorithm outside of the graph, which asks a session for values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock import logging

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]

#: A function of the vector that holds all variables.
VectorFunction = Callable[[Any], Any]


class ExternalOptimizerInterface:
    """What an algorithm outside of the graph needs; a subclass writes `_minimize`.

    Args:
      loss: The scalar to be minimized.
      var_list: The variables to change; all trainable ones if None.
      equalities: Scalars that are to be zero.
      inequalities: Scalars that are not to be negative.
      var_to_bounds: Pairs (low, high) by variable, which broadcast to its shape.
      **optimizer_kwargs: For `_minimize`.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[Any, Any] | None = None,
        **optimizer_kwargs: Any,
    ):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = list(tf.trainable_variables() if var_list is None else var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [tf.placeholder(v.dtype.base_dtype) for v in self._vars]
        self._var_updates = [
            v.assign(tf.reshape(value, v.shape))
            for v, value in zip(self._vars, self._update_placeholders, strict=True)
        ]
        of_loss, of_equalities, of_inequalities = (
            [self._gradients(scalar) for scalar in scalars]
            for scalars in ([loss], self._equalities, self._inequalities)
        )
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._pack(of_loss[0])
        self._packed_equality_grads = [self._pack(g) for g in of_equalities]
        self._packed_inequality_grads = [self._pack(g) for g in of_inequalities]
        sizes = (math.prod(v.shape.as_list()) for v in self._vars)
        ends = itertools.accumulate(sizes, initial=0)
        self._packing_slices = [slice(*pair) for pair in itertools.pairwise(ends)]

    def _bounds(self, given: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
        packed: list[tuple[Any, Any]] = []
        for variable in self._vars:
            sides = given.get(variable, (-np.inf, np.inf))
            shape = variable.shape.as_list()
            low, high = (np.broadcast_to(np.asarray(side), shape).flat for side in sides)
            packed.extend(zip(low, high, strict=True))
        return packed

    def _gradients(self, scalar: Any) -> list[Any]:
        # An algorithm wants numbers for each variable, also where nothing depends on it.
        gradients = tf.gradients(scalar, self._vars)
        return [
            tf.zeros_like(variable) if gradient is None else gradient
            for variable, gradient in zip(self._vars, gradients, strict=True)
        ]

    @classmethod
    def _pack(cls, tensors: Sequence[Any]) -> Any:
        """All entries of the tensors in one vector."""
        if not tensors:
            return None
        flat = [tf.reshape(tensor, [-1]) for tensor in tensors]
        return flat[0] if len(flat) == 1 else tf.concat(flat, 0)

    def minimize(
        self,
        session: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Runs the algorithm to its end; the variables then have the values that it found.

        Args:
          session: The session; the default one if None.
          feed_dict: Fed whenever a value is computed.
          fetches: Computed with each loss, for `loss_callback`.
          step_callback: Called at each step with the vector of all variables.
          loss_callback: Called with the values of `fetches` whenever the loss was computed.
          **run_kwargs: For the `session.run` that sets the variables.
        """
        session = session or tf.get_default_session()
        feeds, extra = dict(feed_dict or {}), list(fetches or [])

        def functions(tensors: Sequence[Any]) -> list[VectorFunction]:
            return self._make_eval_funcs(tensors, session, feeds, extra)

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=self._make_eval_func(
                [self._loss, self._packed_loss_grad],
                session,
                feeds,
                extra,
                loss_callback or (lambda *values: None),
            ),
            equality_funcs=functions(self._equalities),
            equality_grad_funcs=functions(self._packed_equality_grads),
            inequality_funcs=functions(self._inequalities),
            inequality_grad_funcs=functions(self._packed_inequality_grads),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [found[part] for part in self._packing_slices]
        updates = dict(zip(self._update_placeholders, values, strict=True))
        session.run(self._var_updates, feed_dict=updates, **run_kwargs)

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: VectorFunction,
        equality_funcs: Sequence[VectorFunction],
        equality_grad_funcs: Sequence[VectorFunction],
        inequality_funcs: Sequence[VectorFunction],
        inequality_grad_funcs: Sequence[VectorFunction],
        packed_bounds: list[tuple[Any, Any]] | None,
        step_callback: Callable[..., Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        """The vector that the algorithm found, from the vector `initial_val` on."""
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method."
        )

    def _make_eval_func(
        self,
        tensors: Any,
        session: Any,
        feed_dict: Mapping[Any, Any],
        fetches: Sequence[Any],
        callback: Callable[..., Any] | None = None,
    ) -> VectorFunction:
        """A function that computes the tensors for a vector of all variables."""
        asked = tensors if isinstance(tensors, list) else [tensors]

        def evaluate(x: Any) -> Any:
            feeds = {
                variable: x[part].reshape(variable.shape.as_list())
                for variable, part in zip(self._vars, self._packing_slices, strict=True)
            }
            feeds.update(feed_dict)
            values = session.run([*asked, *fetches], feed_dict=feeds)
            if callback is not None:
                callback(*values[len(asked) :])
            return values[: len(asked)]

        return evaluate

    def _make_eval_funcs(
        self,
        tensors: Sequence[Any],
        session: Any,
        feed_dict: Mapping[Any, Any],
        fetches: Sequence[Any],
        callback: Callable[..., Any] | None = None,
    ) -> list[VectorFunction]:
        return [
            self._make_eval_func(tensor, session, feed_dict, fetches, callback)
            for tensor in tensors
        ]


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimises with `scipy.optimize.minimize`, by default with L-BFGS-B.

    Further arguments are SciPy's: `method="SLSQP"`, `options={"maxiter": 100}`.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: VectorFunction,
        equality_funcs: Sequence[VectorFunction],
        equality_grad_funcs: Sequence[VectorFunction],
        inequality_funcs: Sequence[VectorFunction],
        inequality_grad_funcs: Sequence[VectorFunction],
        packed_bounds: list[tuple[Any, Any]] | None,
        step_callback: Callable[..., Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        own = {
            "jac": True,
            "callback": step_callback,
            "method": optimizer_kwargs.get("method", self._DEFAULT_METHOD),
            "constraints": [
                *_constraints("eq", equality_funcs, equality_grad_funcs),
                *_constraints("ineq", inequality_funcs, inequality_grad_funcs),
            ],
            "bounds": packed_bounds,
        }
        _reject_own_arguments(optimizer_kwargs, own)
        minimize = _scipy_minimize()
        start = initial_val.astype(np.float64)
        result = minimize(_in_doubles(loss_grad_func), start, **{**own, **optimizer_kwargs})
        _log_end(result)
        return result["x"]


def _in_doubles(function: VectorFunction) -> VectorFunction:
    # SciPy's compiled algorithms take nothing else.
    return lambda x: [np.asarray(value, np.float64) for value in function(x)]


def _constraints(
    kind: str, functions: Sequence[VectorFunction], gradients: Sequence[VectorFunction]
) -> list[dict[str, Any]]:
    return [
        {"type": kind, "fun": _in_doubles(function), "jac": _in_doubles(gradient)}
        for function, gradient in zip(functions, gradients, strict=True)
    ]


def _reject_own_arguments(given: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    for name in own:
        if name not in given or name == "method":
            continue
        if name == "bounds":
            raise ValueError("Bounds must be set using the var_to_bounds argument")
        raise ValueError(
            f"Optimizer keyword arg '{name}' is set automatically and cannot be injected manually"
        )


def _scipy_minimize() -> Callable[..., Any]:
    try:
        from scipy.optimize import minimize
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "tf.contrib.opt.ScipyOptimizerInterface needs SciPy: pip install 'penstock[scipy]'",
            name=error.name,
        ) from error
    return minimize


def _log_end(result: Any) -> None:
    lines = [
        "Optimization terminated with:",
        f"  Message: {result.message}",
        f"  Objective function value: {result.fun:f}",
    ]
    # Not all methods count.
    if hasattr(result, "nit"):
        lines.append(f"  Number of iterations: {result.nit:d}")
    if hasattr(result, "nfev"):
        lines.append(f"  Number of functions evaluations: {result.nfev:d}")
    logging.info("\n".join(lines))
