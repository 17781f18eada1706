"""What differentiates Python functions: `tf.contrib.eager.gradients_function` and its kin."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from penstock import nest
from penstock.gradient_tape import GradientTape
from penstock.ir.convert import convert_to_tensor
from penstock.ops.identity import identity

__all__ = [
    "gradients_function",
    "implicit_grad",
    "implicit_val_and_grad",
    "make_vjp",
    "val_and_grad_function",
]

Function = Callable[..., Any]


def implicit_val_and_grad(f: Function) -> Function:
    """A function that gives `f`'s value and (gradient, variable) for each variable that it reads.

    >>> value, grads_and_vars = tfe.implicit_value_and_gradients(loss)(x, y)
    >>> optimizer.apply_gradients(grads_and_vars)
    """

    @functools.wraps(f)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        _check_result(f, value)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        found = tape.gradient(value, list(variables))
        return value, list(zip(found, variables, strict=True))

    return differentiated


def implicit_grad(f: Function) -> Function:
    """A function that gives (gradient, variable) for each variable that `f` reads."""
    both = implicit_val_and_grad(f)

    @functools.wraps(f)
    def differentiated(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = both(*args, **kwargs)[1]
        return found

    return differentiated


def val_and_grad_function(f: Function, params: Sequence[Any] | None = None) -> Function:
    """A function that gives `f`'s value and its gradients by the arguments.

    Args:
      params: the arguments, by position or by name, to differentiate by; all of them if None.
    """

    @functools.wraps(f)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        weights = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        value, pull_back = make_vjp(f, params)(*args)
        return value, pull_back(dy=weights)

    return differentiated


def gradients_function(f: Function, params: Sequence[Any] | None = None) -> Function:
    """A function that gives the gradients of `f` by its arguments; see `val_and_grad_function`.

    >>> tfe.gradients_function(lambda x: x * x)(3.0)
    [<tf.Tensor: 6.0>]
    """
    both = val_and_grad_function(f, params)

    @functools.wraps(f)
    def differentiated(*args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = both(*args, **kwargs)[1]
        return found

    return differentiated


def make_vjp(f: Function, params: Sequence[Any] | None = None, persistent: bool = True) -> Function:
    """A function that gives `f`'s value, and a function from its gradient to the arguments'."""

    @functools.wraps(f)
    def evaluated(*args: Any, **kwargs: Any) -> tuple[Any, Function]:
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        given = list(args)
        positions = _positions(f, params, args)
        for i in positions:
            given[i] = identity(convert_to_tensor(args[i]))  # what is given twice is two arguments
        sources = [given[i] for i in positions]
        with GradientTape(persistent=persistent) as tape:
            tape.watch(sources)
            value = f(*given)
            _check_result(f, value)
            value = nest.map_structure(identity, value)

        def pull_back(dy: Any = None) -> list[Any]:
            found: list[Any] = tape.gradient(value, sources, output_gradients=dy)
            return found

        return value, pull_back

    return evaluated


def _check_result(f: Function, value: Any) -> None:
    if value is None:
        name = getattr(f, "__name__", repr(f))
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value "
            f"from {name}?"
        )


def _positions(f: Function, params: Sequence[Any] | None, args: Sequence[Any]) -> list[int]:
    """The positions of the arguments by which to differentiate."""
    if params is None:
        return list(range(len(args)))
    if all(isinstance(each, str) for each in params):
        names = list(inspect.signature(f).parameters)
        return [names.index(each) for each in params]
    if all(isinstance(each, int) for each in params):
        return list(params)
    raise ValueError(f"params must be all strings or all integers; got {params}.")
