"""The base classes for benchmarks and for statistics of datasets."""

from __future__ import annotations

import unittest

import pytest

import penstock as tf
from penstock.testing.dataset_benchmark import DatasetBenchmarkBase
from penstock.testing.dataset_statistics_case import StatsDatasetTestBase


def test_a_benchmark_reports_the_time_of_an_element():
    reports = []

    class Measured(DatasetBenchmarkBase):
        def report_benchmark(self, **report):
            reports.append(report)

    with tf.Graph().as_default():
        numbers = tf.data.Dataset.range(100)
        Measured().run_and_report_benchmark(numbers, 50, "numbers", iters=2, extras={"a": 1})
    (report,) = reports
    assert report.pop("wall_time") > 0
    assert report == {"iters": 2, "name": "numbers", "extras": {"a": 1, "num_elements": 50}}


def _outcome(body) -> unittest.TestResult:
    result = unittest.TestResult()
    type("Case", (StatsDatasetTestBase,), {"test": body})("test").run(result)
    return result


def _sized(case, count=2):
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.bytes_produced_stats("size"))
    dataset = case.datasetExperimentalStats(dataset.prefetch(1), aggregator)
    next_element = case.getNext(dataset, requires_initialization=True)
    for _ in range(count):
        case.evaluate(next_element())
    return case.getHandle(aggregator)


def test_statistics_that_are_right_pass():
    def body(case):
        handle = _sized(case)
        case.assertStatisticsHasRange(handle, "size", 8, 8)
        case.assertStatisticsHasCount(handle, "size", 2, greater_than=True)
        name = case.regexForNodeName("PrefetchDataset", "buffer_capacity")
        case.assertStatisticsHasScalarValue(handle, name, 1)
        case.assertStatisticsContains(handle, case.regexForNodeName("PrefetchDataset"))
        case.parallelCallsStats(
            lambda: tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x), 2),
            {"ParallelMapDataset"},
            3,
            function_processing_time=True,
        )

    assert _outcome(body).wasSuccessful()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda case, handle: case.assertStatisticsHasCount(handle, "size", 100),
        lambda case, handle: case.assertStatisticsHasSum(handle, "size", 1),
        lambda case, handle: case.assertStatisticsHasRange(handle, "size", 9, 10),
        lambda case, handle: case.assertStatisticsContains(handle, "sizes"),
        lambda case, handle: case.assertStatisticsHasScalarValue(handle, "size", 1),
    ],
)
def test_statistics_that_are_wrong_fail(wrong):
    result = _outcome(lambda case: wrong(case, _sized(case)))
    assert len(result.failures) == 1 and not result.errors
