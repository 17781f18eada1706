"""The test case for statistics of pipelines: `StatsDatasetTestBase`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from penstock import errors, proto
from penstock.data.experimental.statistics import StatsAggregator
from penstock.data.options import Options
from penstock.testing.dataset_test_case import DatasetTestBase


class StatsDatasetTestBase(DatasetTestBase):
    """Compares what a `StatsAggregator` has added up.

    The methods take what `getHandle` gives, a serialized Summary, and the pattern of a tag;
    `num_events` and `offset` concern event files, which TensorFlow 1.x does not write.
    """

    def datasetExperimentalStats(
        self, dataset: Any, aggregator: Any, prefix: str = "", counter_prefix: str = ""
    ) -> Any:
        """A dataset whose statistics go to an aggregator."""
        options = Options()
        options.experimental_stats.aggregator = aggregator
        options.experimental_stats.prefix = prefix
        options.experimental_stats.counter_prefix = counter_prefix
        options.experimental_stats.latency_all_edges = False
        return dataset.with_options(options)

    def regexForNodeName(self, op_name: str, stats_type: str = "") -> str:
        """The pattern of the tags of a dataset."""
        return rf"{op_name}/_\d+" + (f"::{stats_type}" if stats_type else "")

    def getHandle(self, aggregator: StatsAggregator) -> bytes:
        summary: bytes = self.evaluate(aggregator.get_summary())
        return summary

    def _value(self, handle: bytes, tag: str) -> Any:
        summary = proto.Summary.FromString(handle)
        for value in summary.value:
            if re.match(tag, value.tag):
                return value
        self.fail(f"Expected tag {tag!r} not found in summary {summary!r}")

    def assertStatisticsContains(
        self, handle: bytes, tag: str, num_events: int = -1, offset: int = 0
    ) -> None:
        self._value(handle, tag)

    def assertStatisticsHasCount(
        self,
        handle: bytes,
        tag: str,
        count: float,
        num_events: int = -1,
        greater_than: bool = False,
        offset: int = 0,
    ) -> None:
        """Asserts how many numbers a histogram has; with `greater_than`, at least how many."""
        found = self._value(handle, tag).histo.num
        if greater_than:
            self.assertGreaterEqual(found, count)
        else:
            self.assertEqual(count, found)

    def assertStatisticsHasSum(
        self, handle: bytes, tag: str, expected_value: float, num_events: int = -1, offset: int = 0
    ) -> None:
        self.assertEqual(expected_value, self._value(handle, tag).histo.sum)

    def assertStatisticsHasScalarValue(
        self, handle: bytes, tag: str, expected_value: float, num_events: int = -1, offset: int = 0
    ) -> None:
        self.assertEqual(expected_value, self._value(handle, tag).simple_value)

    def assertStatisticsHasRange(
        self,
        handle: bytes,
        tag: str,
        min_value: float,
        max_value: float,
        num_events: int = -1,
        offset: int = 0,
    ) -> None:
        """Asserts that all numbers of a histogram are between two others."""
        histogram = self._value(handle, tag).histo
        self.assertLessEqual(min_value, histogram.min)
        self.assertGreaterEqual(max_value, histogram.max)

    def parallelCallsStats(
        self,
        dataset_fn: Callable[[], Any],
        dataset_names: Iterable[str],
        num_output: int,
        function_processing_time: bool = False,
        check_elements: bool = True,
    ) -> None:
        """Asserts that datasets record how busy their threads are and how long calls take."""
        aggregator = StatsAggregator()
        dataset = self.datasetExperimentalStats(dataset_fn(), aggregator)
        next_element = self.getNext(dataset, requires_initialization=True)
        times = r"(.*)::execution_time$"
        for number in range(num_output):
            value = self.evaluate(next_element())
            if check_elements:
                self.assertAllEqual(np.full(number, number, np.int64), value)
            handle = self.getHandle(aggregator)
            for name in dataset_names:
                if function_processing_time:
                    self.assertStatisticsHasCount(handle, times, number + 1.0, greater_than=True)
                tag = self.regexForNodeName(name, "thread_utilization")
                self.assertStatisticsContains(handle, tag)
        with self.assertRaises(errors.OutOfRangeError):
            self.evaluate(next_element())
        if function_processing_time:
            handle = self.getHandle(aggregator)
            self.assertStatisticsHasCount(handle, times, float(num_output), greater_than=True)
