"""Assertions on lines that a debugger shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["assert_array_lines_close", "assert_lines_equal_ignoring_whitespace"]

_BETWEEN_VALUES = re.compile(r"array|[()\[\]|,]")


def assert_lines_equal_ignoring_whitespace(
    test: Any, expected_lines: Sequence[str], actual_lines: Sequence[str]
) -> None:
    """Asserts that lines are the same but for spaces.

    Args:
      test: the test case.
    """
    test.assertEqual(
        len(expected_lines),
        len(actual_lines),
        f"Mismatch in the number of lines: {len(expected_lines)} vs {len(actual_lines)}",
    )
    for expected, actual in zip(expected_lines, actual_lines, strict=True):
        test.assertEqual("".join(expected.split()), "".join(actual.split()))


def assert_array_lines_close(test: Any, expected_array: Any, array_lines: Sequence[str]) -> None:
    """Asserts that the numbers in the text of an array are close to those expected.

    Args:
      test: the test case; it has `assertAllClose`.
      expected_array: of any shape.
    """
    numbers = [
        float(word) for line in array_lines for word in _BETWEEN_VALUES.sub(" ", line).split()
    ]
    test.assertAllClose(np.array(expected_array).flatten(), numbers)
