"""Tests that are run for combinations of parameters."""

from __future__ import annotations

import unittest
from typing import Any

import pytest
from absl.testing import parameterized

import penstock as tf
from penstock.testing import combinations


def test_combinations_of_combinations() -> None:
    first = combinations.combine(mode=["graph", "eager"], loss="sum")
    both = combinations.times(combinations.combine(kind=[1, 2]), first)
    assert len(both) == 4 and list(both[0]) == ["kind", "loss", "mode"]
    with pytest.raises(ValueError, match="overlap"):
        combinations.times(first, first)


def test_methods_of_a_class_are_run_for_each() -> None:
    seen: list[Any] = []

    @combinations.generate(combinations.combine(a=[1, 2], mode=["graph", "eager"]))
    class Combined(parameterized.TestCase):
        test_member = 0

        def test_it(self, a: int) -> None:
            eagerly = tf.executing_eagerly()
            seen.append((a, eagerly, eagerly or len(tf.get_default_graph().get_operations())))
            tf.constant(a)

        def helper(self) -> None:
            self.fail()

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Combined).run(result)
    assert result.wasSuccessful(), (result.errors, result.failures)
    assert sorted(seen) == [(1, False, 0), (1, True, True), (2, False, 0), (2, True, True)]
