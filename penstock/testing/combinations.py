"""Tests that are run for combinations of parameters: TensorFlow's `framework.combinations`.

    @combinations.generate(combinations.combine(mode=["graph"], size=[1, 2]))
    def testSomething(self, size): ...

Penstock runs graphs: combinations of eager execution or of the second API are left out.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from penstock.ir.graph import Graph

__all__ = ["NamedObject", "combine", "generate", "times"]

Combination = dict[str, Any]


class NamedObject:
    """A value with a name, which the name of a test is made of."""

    def __init__(self, name: str, obj: Any):
        self._name = name
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


def combine(**kwargs: Any) -> list[Combination]:
    """All combinations of one value for each name; a value that is no list stands alone."""
    names = sorted(kwargs)
    choices = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [OrderedDict(zip(names, values, strict=True)) for values in itertools.product(*choices)]


def times(*combined: list[Combination]) -> list[Combination]:
    """All combinations of one combination of each list."""
    found: list[Combination] = []
    for parts in itertools.product(*combined):
        names = [name for part in parts for name in part]
        if len(set(names)) != len(names):
            raise ValueError(f"Keys need to not overlap: {names}")
        merged: Combination = OrderedDict()
        for part in parts:
            merged.update(part)
        found.append(OrderedDict(sorted(merged.items())))
    return found


def _is_run(combination: Combination) -> bool:
    return combination.get("mode", "graph") == "graph" and combination.get("tf_api_version") != 2


def _suffix(combination: Combination) -> str:
    words = []
    for name, value in combination.items():
        text = getattr(value, "__name__", repr(value))
        words += [re.sub("[^A-Za-z0-9]", "", str(part)) for part in (name, text)]
    return "_test_" + "_".join(word for word in words if word)


def generate(combinations: list[Combination], test_combinations: Any = ()) -> Callable[..., Any]:
    """Decorator of a test method, or of a class, that runs it for each combination."""
    chosen = [combination for combination in combinations if _is_run(combination)]

    def decorate(target: Any) -> Any:
        if not isinstance(target, type):
            return _expanded(target, chosen)
        for name, method in list(vars(target).items()):
            if name.startswith("test") and callable(method):
                _expand_in(target, name, method, chosen)
        return target

    return decorate


def _expand_in(
    cls: Any, name: str, method: Callable[..., Any], combinations: list[Combination]
) -> None:
    """Replaces a method of a class, which is made already, by one for each combination."""
    delattr(cls, name)
    run = _in_own_graph(method)
    for suffix, combination in _named(combinations):

        def case(self: Any, combination: Combination = combination) -> None:
            run(self, **combination)

        case.__name__ = f"{name}{suffix}"
        setattr(cls, case.__name__, case)


def _expanded(method: Callable[..., Any], combinations: list[Combination]) -> Any:
    from absl.testing import parameterized

    if not combinations:
        return unittest.skip("has no combination for graphs")(method)
    cases = [{"testcase_name": name, **each} for name, each in _named(combinations)]
    expand: Callable[..., Any] = parameterized.named_parameters
    return expand(*cases)(_in_own_graph(method))


def _in_own_graph(method: Callable[..., Any]) -> Callable[..., None]:
    """A test method in a graph of its own, which need not take what was said of the mode."""
    accepted = inspect.signature(method).parameters

    @functools.wraps(method)
    def run(self: Any, **kwargs: Any) -> None:
        for name in ("mode", "tf_api_version"):
            if name not in accepted:
                kwargs.pop(name, None)
        with Graph().as_default():
            method(self, **kwargs)

    return run


def _named(combinations: list[Combination]) -> Iterator[tuple[str, Combination]]:
    """The combinations with a name for each: two may look alike."""
    names: dict[str, int] = {}
    for combination in combinations:
        name = _suffix(combination)
        names[name] = names.get(name, 0) + 1
        yield (name if names[name] == 1 else f"{name}_{names[name]}"), combination
