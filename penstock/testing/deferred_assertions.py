"""Assertions in the body of a function: they are made when the function runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.tensor import Tensor
from penstock.ops.script import py_func
from penstock.ops.variables import Variable


def py_func_if_in_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is; where a body is being built, a node that calls it with the values."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(get_default_graph(), FunctionGraph):
            return f(*args, **kwargs)
        places = [i for i, arg in enumerate(args) if isinstance(arg, (Tensor, Variable))]

        def with_values(*values: Any) -> Any:
            complete = list(args)
            for place, value in zip(places, values, strict=True):
                complete[place] = value
            return f(*complete, **kwargs)

        return py_func(with_values, [args[place] for place in places], [])

    return decorated
