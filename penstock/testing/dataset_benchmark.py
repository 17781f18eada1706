"""The class that benchmarks of datasets derive from: `DatasetBenchmarkBase`."""

from __future__ import annotations

import statistics
import time
from typing import Any

from penstock.client.session import Session
from penstock.data import nest
from penstock.data.dataset import DatasetV2, make_initializable_iterator
from penstock.testing.benchmark import Benchmark


class DatasetBenchmarkBase(Benchmark):
    """Measures how fast datasets give their elements."""

    def run_benchmark(
        self, dataset: DatasetV2, num_elements: int, iters: int = 1, warmup: bool = True
    ) -> float:
        """The seconds that one element takes: the median of `iters` runs of `num_elements`."""
        # All but the last are skipped, so that one step takes the time of all of them.
        iterator = make_initializable_iterator(dataset.skip(num_elements - 1))
        first = nest.flatten(iterator.get_next())[0]
        seconds = []
        for _ in range(iters):
            with Session() as session:
                if warmup:
                    session.run(iterator.initializer)
                    session.run(first)
                session.run(iterator.initializer)
                begin = time.perf_counter()
                session.run(first.op)
                seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds) / num_elements

    def run_and_report_benchmark(
        self,
        dataset: DatasetV2,
        num_elements: int,
        name: str,
        iters: int = 5,
        extras: dict[str, Any] | None = None,
        warmup: bool = True,
    ) -> None:
        """Runs a benchmark and reports it with the number of elements."""
        wall_time = self.run_benchmark(dataset, num_elements, iters, warmup)
        extras = {**(extras or {}), "num_elements": num_elements}
        self.report_benchmark(wall_time=wall_time, iters=iters, name=name, extras=extras)
