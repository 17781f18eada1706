"""The test case that tests of datasets derive from: `DatasetTestBase`."""

from __future__ import annotations

import re
from typing import Any

from penstock import dtypes, errors
from penstock.data import dataset as datasets
from penstock.data import nest, structure
from penstock.ir.composite import SparseTensor, SparseTensorValue
from penstock.ir.defaults import executing_eagerly
from penstock.ops.filling import zeros
from penstock.ops.tensor_array import TensorArray
from penstock.testing.combinations import combine
from penstock.testing.test_case import TensorFlowTestCase


class DatasetTestBase(TensorFlowTestCase):
    """Runs datasets and compares their elements."""

    def assert_op_cancelled(self, op: Any) -> None:
        with self.assertRaises(errors.CancelledError):
            self.evaluate(op)

    def assertValuesEqual(self, expected: Any, actual: Any) -> None:
        """Asserts that two components of elements are equal."""
        if isinstance(expected, (SparseTensor, SparseTensorValue)):
            for part in ("indices", "values", "dense_shape"):
                self.assertAllEqual(getattr(expected, part), getattr(actual, part))
        else:
            self.assertAllEqual(expected, actual)

    def getNext(
        self, dataset: Any, requires_initialization: bool = False, shared_name: str | None = None
    ) -> Any:
        """A function that gives the tensors of the next element."""
        if executing_eagerly():
            following = iter(dataset).get_next

            def next_value() -> Any:
                value = following()
                return value.stack() if isinstance(value, TensorArray) else value

            return next_value
        if requires_initialization:
            iterator = datasets.make_initializable_iterator(dataset, shared_name)
            self.evaluate(iterator.initializer)
        else:
            iterator = datasets.make_one_shot_iterator(dataset)
        element = iterator.get_next()

        def get_next() -> Any:
            return element.stack() if isinstance(element, TensorArray) else element

        return get_next

    def _compareOutputToExpected(
        self, result_values: Any, expected_values: Any, assert_items_equal: bool
    ) -> None:
        if assert_items_equal:
            self.assertItemsEqual(result_values, expected_values)
            return
        for result, expected in zip(result_values, expected_values, strict=False):
            nest.assert_same_structure(result, expected)
            pairs = zip(nest.flatten(result), nest.flatten(expected), strict=True)
            for value, wanted in pairs:
                self.assertValuesEqual(wanted, value)

    def assertDatasetProduces(
        self,
        dataset: Any,
        expected_output: Any = None,
        expected_shapes: Any = None,
        expected_error: Any = None,
        requires_initialization: bool = False,
        num_test_iterations: int = 1,
        assert_items_equal: bool = False,
        expected_error_iter: int = 1,
    ) -> None:
        """Asserts that a dataset gives these elements and then ends, or that it fails."""
        self.assertTrue(
            (expected_error is None) != (expected_output is None),
            "Exactly one of expected_output or expected error should be provided.",
        )
        if expected_error:
            with self.assertRaisesWithPredicateMatch(expected_error[0], expected_error[1]):
                get_next = self.getNext(dataset, requires_initialization)
                for _ in range(expected_error_iter):
                    self.evaluate(get_next())
            return
        if expected_shapes:
            self.assertEqual(expected_shapes, datasets.get_legacy_output_shapes(dataset))
        self.assertGreater(num_test_iterations, 0)
        for _ in range(num_test_iterations):
            get_next = self.getNext(dataset, requires_initialization)
            result = [self.evaluate(get_next()) for _ in range(len(expected_output))]
            self._compareOutputToExpected(result, expected_output, assert_items_equal)
            for _ in range(2):
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(get_next())

    def assertDatasetsEqual(self, dataset1: Any, dataset2: Any) -> None:
        """Asserts that two datasets give the same elements."""
        self.assertTrue(
            structure.are_compatible(
                datasets.get_structure(dataset1), datasets.get_structure(dataset2)
            )
        )
        types = nest.flatten(datasets.get_legacy_output_types(dataset1))
        next1, next2 = self.getNext(dataset1), self.getNext(dataset2)
        while True:
            try:
                first = nest.flatten(self.evaluate(next1()))
            except errors.OutOfRangeError:
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(next2())
                return
            second = nest.flatten(self.evaluate(next2()))
            for dtype, a, b in zip(types, first, second, strict=True):
                if isinstance(a, SparseTensorValue) or dtype == dtypes.string:
                    self.assertValuesEqual(a, b)
                else:
                    self.assertAllClose(a, b)

    def assertDatasetsRaiseSameError(
        self, dataset1: Any, dataset2: Any, exception_class: Any, replacements: Any = None
    ) -> None:
        """Asserts that two datasets fail with the same message, but for replacements in it."""
        next1, next2 = self.getNext(dataset1), self.getNext(dataset2)
        with self.assertRaises(exception_class) as caught:
            self.evaluate(next1())
        message = caught.exception.message
        for old, new, count in replacements or []:
            message = message.replace(old, new, count)
        with self.assertRaisesRegex(exception_class, re.escape(message)):
            self.evaluate(next2())

    def structuredDataset(
        self, dataset_structure: Any, shape: Any = None, dtype: Any = dtypes.int64
    ) -> Any:
        """A dataset of zeros in a structure, in which None stands for a tensor."""
        if dataset_structure is None:
            return datasets.Dataset.from_tensors(zeros(shape or [], dtype=dtype))
        parts = [self.structuredDataset(part, shape, dtype) for part in dataset_structure]
        return datasets.Dataset.zip(tuple(parts))

    def structuredElement(
        self, element_structure: Any, shape: Any = None, dtype: Any = dtypes.int64
    ) -> Any:
        """Zeros in a structure, in which None stands for a tensor."""
        if element_structure is None:
            return zeros(shape or [], dtype=dtype)
        return tuple(self.structuredElement(part, shape, dtype) for part in element_structure)


def default_test_combinations() -> list[dict[str, Any]]:
    """The ways in which TensorFlow runs tests of datasets."""
    return combine(tf_api_version=[1, 2], mode=["eager", "graph"])


def graph_only_combinations() -> list[dict[str, Any]]:
    """The same for tests of graphs alone."""
    return combine(tf_api_version=[1, 2], mode=["graph"])


def eager_only_combinations() -> list[dict[str, Any]]:
    """The same for tests of eager execution alone."""
    return combine(tf_api_version=[1, 2], mode=["eager"])


def v1_only_combinations() -> list[dict[str, Any]]:
    """The same for tests of the first API alone."""
    return combine(tf_api_version=[1], mode=["eager", "graph"])


def v2_only_combinations() -> list[dict[str, Any]]:
    """The same for tests of the second API alone."""
    return combine(tf_api_version=[2], mode=["eager", "graph"])
