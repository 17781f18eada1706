"""Tests that are run for combinations of parameters: TensorFlow's `framework.combinations`.

@combinations.generate(combinations.combine(mode=["graph", "eager"], size=[1, 2]))
def testSomething(self, size): ...
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from penstock.internal_paths.graph_mode import eager_mode
from penstock.ir.graph import Graph
from penstock.testing import parameter_combinations
from penstock.testing.parameter_combinations import (
    Combination,
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    combine,
    times,
)

__all__ = [
    "EagerGraphCombination",
    "NamedObject",
    "TFVersionCombination",
    "combine",
    "generate",
    "times",
]


class EagerGraphCombination(TestCombination):
    """Runs a test in the mode that the argument `mode` says: "graph" or "eager"."""

    def context_managers(self, kwargs: Combination) -> list[AbstractContextManager[Any]]:
        mode = kwargs.get("mode", "graph")
        if mode == "eager":
            return [eager_mode()]
        if mode == "graph":
            return [Graph().as_default()]
        raise ValueError(f"'mode' has to be either 'eager' or 'graph' and not {mode}")

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """Skips tests of the second API, by the argument `tf_api_version`."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        if kwargs.get("tf_api_version") == 2:
            return False, "Skipping a TF2 test when TF2 is not enabled."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("tf_api_version")]


generate = functools.partial(
    parameter_combinations.generate,
    test_combinations=(EagerGraphCombination(), TFVersionCombination()),
)
