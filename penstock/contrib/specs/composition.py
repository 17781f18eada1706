"""Functions that are put together by operators: the grammar of specs."""

from __future__ import annotations

import importlib
import operator
import re
import sys
from collections.abc import Callable as AnyCallable
from collections.abc import Mapping, Sequence
from typing import Any

QUOTED = re.compile(r'"([^"\\]|\\.)*"|' + r"'([^'\\]|\\.)*'")
KEYWORDS = re.compile(r"\b(import|while|def|exec)\b")

_debugging = False


def check_keywords(spec: str) -> None:
    """Raises ValueError if a spec is more than assignments of expressions."""
    found = KEYWORDS.search(QUOTED.sub("", spec))
    if found:
        raise ValueError(f"keyword '{found.group(1)}' found in spec")


def get_positional(
    args: Sequence[Any], kw: Mapping[str, Any], kw_overrides: bool = False
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Moves keywords `_0`, `_1`, … to their places among the positional arguments.

    Args:
      kw_overrides: whether they win over arguments that are there.
    """
    placed = {int(key[1:]): value for key, value in kw.items() if key.startswith("_")}
    if not placed:
        return args, kw
    merged = list(args) + [None] * (max(placed) + 1 - len(args))
    for index, value in placed.items():
        if kw_overrides or merged[index] is None:
            merged[index] = value
    return merged, {key: value for key, value in kw.items() if not key.startswith("_")}


class Composable:
    """What `|` puts behind each other, `**` repeats, `+` and `*` combine by their results."""

    def funcall(self, x: Any) -> Any:
        """The result for an input."""
        raise NotImplementedError

    def __or__(self, f: Composable) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Composable) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Composable) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        assert n >= 0
        if n == 0:
            return Function(lambda x, *args, **kw: x)
        result: Composable = self
        for _ in range(n - 1):
            result = Composition(result, self)
        return result


class Callable(Composable):
    """A plain function of one argument."""

    def __init__(self, f: AnyCallable[[Any], Any]):
        self.f = f

    def funcall(self, x: Any) -> Any:
        return self.f(x)


class Operator(Composable):
    """An operator between the results of other functions."""

    def __init__(self, op: AnyCallable[..., Any], *args: Composable):
        self.op = op
        self.funs = args

    def funcall(self, x: Any) -> Any:
        return self.op(*[each.funcall(x) for each in self.funs])


class Function(Composable):
    """A function of an input and more; calling it gives it more arguments, `funcall` the input."""

    def __init__(self, f: AnyCallable[..., Any], *args: Any, **kw: Any):
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f = f
        self.args = list(args)
        self.kw = kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        args, kw = get_positional(self.args, self.kw)
        if _debugging:
            sys.stdout.write(f"DEBUG: {self.f} {x} {args} {kw}\n")
        return self.f(x, *args, **kw)


class Composition(Composable):
    """One function after the other."""

    def __init__(self, f: Composable, g: Composable):
        self.f = f
        self.g = g

    def funcall(self, x: Any) -> Any:
        return self.g.funcall(self.f.funcall(x))


def External(module_name: str, function_name: str) -> Function:
    """A function of a module, by their names."""
    return Function(getattr(importlib.import_module(module_name), function_name))


def Import(statements: str) -> Function:
    """The function that Python statements bind to `f`."""
    names: dict[str, Any] = {}
    exec(statements, names)
    if "f" not in names:
        raise ValueError(f'failed to define "f": {statements}')
    return Function(names["f"])


def debug(mode: bool = True) -> None:
    """Has every function that is called printed, or no more."""
    global _debugging
    _debugging = mode
