"""Checks of combiners: TensorFlow's `keras.layers.preprocessing.preprocessing_test_utils`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock.testing.test_case import TensorFlowTestCase


class PreprocessingLayerTest(TensorFlowTestCase):
    """Assertions that a combiner gives the same in whatever way its data is cut."""

    def assertAllCloseOrEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Asserts that structures have close numbers and equal strings."""
        if isinstance(a, Mapping):
            self.assertEqual(len(a), len(b))
            for key, value in a.items():
                self.assertAllCloseOrEqual(value, b[key], f"{msg} ({key})" if msg else None)
        elif isinstance(a, list | tuple):
            self.assertEqual(len(a), len(b))
            for one, other in zip(a, b, strict=True):
                self.assertAllCloseOrEqual(one, other, msg)
        elif np.issubdtype(a.dtype, np.number):
            self.assertAllClose(a, b, msg=msg)
        else:
            self.assertAllEqual(a, b, msg=msg)

    def assert_extracted_output_equal(
        self, combiner: Any, acc1: Any, acc2: Any, msg: str | None = None
    ) -> None:
        """Asserts that two accumulators give the same results."""
        self.assertAllCloseOrEqual(combiner.extract(acc1), combiner.extract(acc2), msg=msg)

    def validate_accumulator_computation(self, combiner: Any, data: Any, expected: Any) -> None:
        """Asserts that parts of data, merged in several ways, give what all of it gives."""
        if len(data) < 4:
            raise AssertionError("Data must have at least 4 elements.")
        first, second, rest = (np.array(part) for part in (data[:1], data[1:2], data[2:]))
        compute, merge = combiner.compute, combiner.merge
        merged = merge([compute(first), compute(second), compute(rest)])
        others = {
            "at once": compute(data),
            "in another order": merge([compute(second), compute(rest), compute(first)]),
            "nested merges": merge([compute(second), merge([compute(rest), compute(first)])]),
            "nested computations": compute(first, compute(second, compute(rest))),
            "both": merge([compute(first), compute(second, compute(rest))]),
        }
        for way, other in others.items():
            self.assertAllCloseOrEqual(merged, other, msg=f"Merged {way} the data differs")
        self.assertAllCloseOrEqual(expected, merged)

    def validate_accumulator_extract(self, combiner: Any, data: Any, expected: Any) -> None:
        """Asserts the results of data."""
        self.assertAllCloseOrEqual(expected, combiner.extract(combiner.compute(data)))

    def validate_accumulator_extract_and_restore(
        self, combiner: Any, data: Any, expected: Any
    ) -> None:
        """Asserts that an accumulator comes back of its results."""
        accumulator = combiner.compute(data)
        restored = combiner.restore(combiner.extract(accumulator))
        self.assert_extracted_output_equal(combiner, accumulator, restored)
        self.assertAllCloseOrEqual(expected, combiner.extract(restored))

    def validate_accumulator_serialize_and_deserialize(
        self, combiner: Any, data: Any, expected: Any
    ) -> None:
        """Asserts that an accumulator comes back of its bytes."""
        accumulator = combiner.compute(data)
        back = combiner.deserialize(combiner.serialize(accumulator))
        self.assertAllCloseOrEqual(accumulator, back)

    def validate_accumulator_uniqueness(self, combiner: Any, data: Any) -> None:
        """Asserts that each computation makes an accumulator of its own."""
        self.assertIsNot(combiner.compute(data), combiner.compute(data))
