"""`tf.test.Benchmark`, what it reports, and `StubOutForTesting`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock import proto
from penstock.testing import benchmark


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Reads the report of a benchmark from the file that it is written to."""
    monkeypatch.setenv(benchmark.TEST_REPORTER_TEST_ENV, f"{tmp_path}/report.")

    def read(name: str) -> Any:
        data = (tmp_path / f"report.{name}").read_bytes()
        (entry,) = proto.BenchmarkEntries.FromString(data).entry
        return entry

    return read


class Example(tf.test.Benchmark):
    def benchmarkAdd(self) -> dict[str, Any]:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32)
            extras = {"kind": "add", "n": 2}
            return self.run_op_benchmark(
                session, x + 1, feed_dict={x: 2.0}, min_iters=4, extras=extras, mbs=3
            )

    def benchmarkReport(self) -> None:
        metric = {"name": "m", "value": 1.0, "min_value": 0.5}
        self.report_benchmark(iters=7, wall_time=0.5, name="a/b", metrics=[metric])


def test_subclasses_are_registered_and_bases_are_not() -> None:
    registered = benchmark.GLOBAL_BENCHMARK_REGISTRY
    assert Example in registered
    assert tf.test.Benchmark not in registered and benchmark.Benchmark not in registered


def test_running_a_node(report: Any) -> None:
    values = Example().benchmarkAdd()
    entry = report("Example.benchmarkAdd")
    assert entry.iters == values["iters"] == 4
    assert entry.wall_time == values["wall_time"] > 0
    assert entry.throughput == pytest.approx(3 / entry.wall_time)
    assert entry.extras["kind"].string_value == "add" and entry.extras["n"].double_value == 2


def test_reporting(report: Any) -> None:
    Example().benchmarkReport()
    entry = report("Example.a__b")
    assert (entry.name, entry.iters, entry.wall_time) == ("Example.a/b", 7, 0.5)
    assert entry.metrics[0].min_value.value == 0.5 and not entry.metrics[0].HasField("max_value")
    with pytest.raises(OSError, match="File already exists"):
        Example().benchmarkReport()


def test_reports_are_printed_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Example().benchmarkReport()
    assert 'name: "Example.a/b"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"extras": [1]}, "extras must be a dict"),
        ({"metrics": {}}, "metrics must be a list"),
        ({"metrics": [{"value": 1}]}, "'name' field"),
        ({"metrics": [{"name": "m"}]}, "'value' field"),
    ],
)
def test_wrong_reports(arguments: dict[str, Any], message: str) -> None:
    class Wrong(tf.test.Benchmark):
        def benchmarkIt(self) -> None:
            self.report_benchmark(**arguments)

    try:
        with pytest.raises(TypeError, match=message):
            Wrong().benchmarkIt()
    finally:
        benchmark.GLOBAL_BENCHMARK_REGISTRY.discard(Wrong)


def test_choosing_by_name(report: Any) -> None:
    benchmark._run_benchmarks(r"test_benchmark\.Example\.benchmarkReport")
    assert report("Example.a__b").iters == 7
    with pytest.raises(FileNotFoundError):
        report("Example.benchmarkAdd")


def test_config() -> None:
    rewrites = tf.test.benchmark_config().graph_options.rewrite_options
    assert rewrites.dependency_optimization == proto.RewriterConfig.OFF


def test_stubs_are_put_and_taken_back() -> None:
    class Base:
        @staticmethod
        def fixed() -> int:
            return 1

        def method(self) -> int:
            return 2

    class Derived(Base):
        pass

    exists = os.path.exists
    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(os.path, "exists", lambda path: True)
        stubs.SmartSet(Derived, "fixed", staticmethod(lambda: 10))
        stubs.SmartSet(Derived(), "method", lambda self: 20)
        assert os.path.exists("/none")
        assert Base.fixed() == Derived().fixed() == 10 and Base().method() == 20
        with pytest.raises(AttributeError):
            stubs.SmartSet(Derived, "absent", 1)
    assert os.path.exists is exists
    assert Base.fixed() == Derived().fixed() == 1 and Base().method() == 2


def test_mock_is_pythons() -> None:
    from unittest import mock

    assert tf.test.mock is mock
