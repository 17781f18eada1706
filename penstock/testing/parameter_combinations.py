"""Tests that are run for combinations of parameters: TensorFlow's `test_combinations`.

`generate` runs a test once for each combination. `TestCombination` objects say which of them are
run, what becomes of their arguments, and in which `with` blocks they run.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, ClassVar

__all__ = [
    "NamedObject",
    "OptionalParameter",
    "ParameterModifier",
    "TestCombination",
    "combine",
    "generate",
    "times",
]

Combination = dict[str, Any]


class TestCombination:
    """How the tests of `generate` are run; a subclass overrides what it has a say in."""

    __test__: ClassVar[bool] = False  # it is no test itself

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """Whether a combination is run and, if not, why."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """What changes the arguments of a test."""
        return []

    def context_managers(self, kwargs: Combination) -> list[AbstractContextManager[Any]]:
        """The `with` blocks around a test."""
        return []


class ParameterModifier:
    """Changes arguments before a test gets them; those of one kind and name count as one.

    Args:
      parameter_name: the one parameter that it is for, if it is.
    """

    #: An argument that this takes the place of is left out.
    DO_NOT_PASS_TO_THE_TEST: ClassVar[Any] = object()

    def __init__(self, parameter_name: str | None = None):
        self._parameter_name = parameter_name

    def modified_arguments(
        self, kwargs: Combination, requested_parameters: Sequence[str]
    ) -> Combination:
        """What is to be changed in a combination for a test with such parameters."""
        return {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parameter_name == other._parameter_name

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """An argument that a test need not take."""

    def modified_arguments(
        self, kwargs: Combination, requested_parameters: Sequence[str]
    ) -> Combination:
        if self._parameter_name is None or self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: self.DO_NOT_PASS_TO_THE_TEST}


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


# Combinations -------------------------------------------------------------------------------------


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
        found.append(merged)
    return found


# Tests --------------------------------------------------------------------------------------------


def generate(
    combinations: list[Combination], test_combinations: Sequence[TestCombination] = ()
) -> Callable[..., Any]:
    """Decorator of a test method, or of a class, that runs it for each combination."""
    rules = tuple(test_combinations)

    def decorate(target: Any) -> Any:
        if not isinstance(target, type):
            return _expanded(target, combinations, rules)
        for name, method in list(vars(target).items()):
            if name.startswith("test") and inspect.isfunction(method):
                _expand_in(target, name, _run_by(method, rules), combinations)
        return target

    return decorate


def _expand_in(
    cls: Any, name: str, method: Callable[..., Any], combinations: list[Combination]
) -> None:
    """Replaces a method of a class, which is made already, by one for each combination."""
    delattr(cls, name)
    for suffix, combination in _named(combinations):

        def case(self: Any, combination: Combination = combination) -> None:
            method(self, **combination)

        case.__name__ = f"{name}{suffix}"
        setattr(cls, case.__name__, case)


def _expanded(
    method: Callable[..., Any], combinations: list[Combination], rules: Sequence[TestCombination]
) -> Any:
    from absl.testing import parameterized

    cases = [{"testcase_name": name, **each} for name, each in _named(combinations)]
    expand: Callable[..., Any] = parameterized.named_parameters
    return expand(*cases)(_run_by(method, rules))


def _run_by(method: Callable[..., Any], rules: Sequence[TestCombination]) -> Callable[..., None]:
    """A test method that is skipped, given its arguments and surrounded as the rules say."""
    taken = [name for name in inspect.signature(method).parameters if name != "self"]

    @functools.wraps(method)
    def run(self: Any, **kwargs: Any) -> None:
        verdicts = [rule.should_execute_combination(dict(kwargs)) for rule in rules]
        reasons = [f" - {reason}" for is_run, reason in verdicts if not is_run]
        if reasons:
            self.skipTest("\n".join(reasons))
        with ExitStack() as blocks:
            for rule in rules:
                for block in rule.context_managers(dict(kwargs)):
                    blocks.enter_context(block)
            method(self, **_arguments(kwargs, taken, rules))

    return run


def _arguments(
    kwargs: Combination, taken: Sequence[str], rules: Sequence[TestCombination]
) -> Combination:
    given = dict(kwargs)
    modifiers = dict.fromkeys(each for rule in rules for each in rule.parameter_modifiers())
    for modifier in modifiers:
        for name, value in modifier.modified_arguments(dict(kwargs), taken).items():
            if value is ParameterModifier.DO_NOT_PASS_TO_THE_TEST:
                given.pop(name, None)
            else:
                given[name] = value
    omitted, surplus = set(taken) - set(given), set(given) - set(taken)
    if omitted:
        raise ValueError(
            f"The test requires parameters whose arguments were not passed: {omitted} ."
        )
    if surplus:
        raise ValueError(f"The test does not take parameters that were passed : {surplus} .")
    return given


def _named(combinations: list[Combination]) -> Iterator[tuple[str, Combination]]:
    """The combinations with a name for each: two may look alike."""
    names: dict[str, int] = {}
    for combination in combinations:
        name = _suffix(combination)
        names[name] = names.get(name, 0) + 1
        yield (name if names[name] == 1 else f"{name}_{names[name]}"), combination


def _suffix(combination: Combination) -> str:
    words = []
    for index, (name, value) in enumerate(combination.items()):
        text = re.sub("0[xX][0-9a-fA-F]+", str(index), str(value))
        words += ["".join(filter(str.isalnum, part)) for part in (name, text)]
    return "_test_" + "_".join(words)
