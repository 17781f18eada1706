"""What becomes of operators that are adjoined, inverted, factored, multiplied or divided.

A rule is registered for a class, or a pair of classes; the one nearest to the operators' own
classes in their order of inheritance is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from penstock.ir.name_scope import name_scope

Rule = Callable[..., Any]


class Registry:
    """The rules of one operation."""

    def __init__(self, operation: str):
        self.operation = operation
        self.rules: dict[tuple[type, ...], Rule] = {}

    def register(self, *classes: type) -> Callable[[Rule], Rule]:
        """Registers the decorated function for operators of these classes."""

        def add(rule: Rule) -> Rule:
            if not callable(rule):
                raise TypeError(f"a rule must be callable, received: {rule}")
            if classes in self.rules:
                names = ", ".join(cls.__name__ for cls in classes)
                raise ValueError(f"{self.operation}({names}) has already been registered.")
            self.rules[classes] = rule
            return rule

        return add

    def find(self, *classes: type) -> Rule | None:
        """The rule for these classes or the nearest ones that they inherit from."""
        lines = [list(enumerate(cls.__mro__)) for cls in classes]
        nearest = sorted(itertools.product(*lines), key=lambda steps: sum(i for i, _ in steps))
        for steps in nearest:
            rule = self.rules.get(tuple(cls for _, cls in steps))
            if rule is not None:
                return rule
        return None

    def apply(self, *operators: Any, name: str | None = None) -> Any:
        classes = [type(operator) for operator in operators]
        rule = self.find(*classes)
        if rule is None:
            listed = ", ".join(map(str, classes))
            raise ValueError(f"No {self.operation.lower()} registered for {listed}")
        with name_scope(name, self.operation):
            return rule(*operators)


ADJOINT = Registry("Adjoint")
CHOLESKY = Registry("Cholesky")
INVERSE = Registry("Inverse")
MATMUL = Registry("Matmul")
SOLVE = Registry("Solve")

adjoint, cholesky, inverse = ADJOINT.apply, CHOLESKY.apply, INVERSE.apply
matmul, solve = MATMUL.apply, SOLVE.apply
RegisterAdjoint, RegisterCholesky = ADJOINT.register, CHOLESKY.register
RegisterInverse = INVERSE.register
RegisterMatmul, RegisterSolve = MATMUL.register, SOLVE.register

# TensorFlow's names for the rules themselves.
_ADJOINTS, _CHOLESKY_DECOMPS, _INVERSES = ADJOINT.rules, CHOLESKY.rules, INVERSE.rules
_MATMUL, _SOLVE = MATMUL.rules, SOLVE.rules
_registered_adjoint, _registered_cholesky = ADJOINT.find, CHOLESKY.find
_registered_inverse = INVERSE.find
_registered_matmul, _registered_solve = MATMUL.find, SOLVE.find
