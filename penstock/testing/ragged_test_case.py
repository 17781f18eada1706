"""`RaggedTensorTestCase`: what tests of ragged tensors compare with, in older releases."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.ragged.conversion import is_ragged
from penstock.testing.test_util import TensorFlowTestCase


def _ragged_rank(value: Any) -> int:
    return int(value.ragged_rank) if is_ragged(value) else 0


class RaggedTensorTestCase(TensorFlowTestCase):
    """A test case that compares ragged tensors with nested lists."""

    def assertRaggedEqual(self, a: Any, b: Any) -> None:
        """Two values, ragged or not, are equal as nested lists."""
        self.assertEqual(self._GetPyList(a), self._GetPyList(b))
        self._assert_same_rank(a, b)

    def assertRaggedAlmostEqual(self, a: Any, b: Any, places: int = 7) -> None:
        """Two values, ragged or not, are almost equal as nested lists."""
        self.assertNestedListAlmostEqual(self._GetPyList(a), self._GetPyList(b), places)
        self._assert_same_rank(a, b)

    def _assert_same_rank(self, a: Any, b: Any) -> None:
        if not (isinstance(a, (list, tuple)) or isinstance(b, (list, tuple))):
            self.assertEqual(_ragged_rank(a), _ragged_rank(b))

    def assertNestedListAlmostEqual(
        self, a: Any, b: Any, places: int = 7, context: str = "value"
    ) -> None:
        """Two nested lists have the same form and almost the same numbers."""
        self.assertEqual(type(a), type(b))
        if not isinstance(a, (list, tuple)):
            text = f"{a} != {b} within {places} places at {context}"
            self.assertAlmostEqual(a, b, places, text)
            return
        self.assertEqual(len(a), len(b), f"Length differs for {context}")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            self.assertNestedListAlmostEqual(x, y, places, f"{context}[{i}]")

    def eval_to_list(self, tensor: Any) -> Any:
        """The value of a tensor or ragged tensor as nested lists."""
        value = self.evaluate(tensor)
        if is_ragged(value):
            return value.to_list()
        return value.tolist() if isinstance(value, np.ndarray) else value
