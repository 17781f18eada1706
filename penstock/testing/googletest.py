"""The test runner: absl's, with flags and benchmarks as TensorFlow's programs expect them."""

from __future__ import annotations

import os
import sys
from typing import Any

from absl.testing import absltest
from absl.testing.absltest import *  # noqa: F403

from penstock.platform import app
from penstock.testing.benchmark import TensorFlowBenchmark as Benchmark
from penstock.testing.benchmark import benchmarks_main
from penstock.testing.stub_out import StubOutForTesting
from penstock.testing.temp_dir import get_temp_dir

__all__ = [
    "Benchmark",
    "GetTempDir",
    "StatefulSessionAvailable",
    "StubOutForTesting",
    "g_main",
    "main",
    "test_src_dir_path",
]

GetTempDir = get_temp_dir


def g_main(argv: Any) -> None:
    """Runs the tests of the program's module."""
    absltest.main(argv=argv)


def main(argv: list[str] | None = None) -> None:  # type: ignore[no-redef]
    """Runs the tests of the program, or its benchmarks if `--benchmarks=REGEX` asks for them."""
    benchmarks_main(lambda: app.run(main=g_main, argv=sys.argv if argv is None else argv))


def test_src_dir_path(relative_path: str) -> str:
    """The path of a file of the source tree: in TEST_SRCDIR, or else in the package."""
    sources = os.environ.get("TEST_SRCDIR")
    if sources is None:
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        return os.path.join(package, relative_path)
    return os.path.join(sources, "org_tensorflow/tensorflow", relative_path)


# Not a test, though its name says so.
test_src_dir_path.__test__ = False  # type: ignore[attr-defined]


def StatefulSessionAvailable() -> bool:
    return False
