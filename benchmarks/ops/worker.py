"""One framework that runs the graphs of ops: `python -m benchmarks.ops.worker FRAMEWORK`.

It speaks the protocol of `benchmarks/worker.py`. A graph that fails does not end it.
"""

import argparse
import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.frameworks import FRAMEWORKS, session_config
from benchmarks.worker import limit_cpus, serve, take_stdout, version_of


class OpWorker:
    """Answers the runner's requests; each public method is one."""

    def __init__(self, tf: Any, threads: int) -> None:
        self._tf = tf
        self._config = session_config(tf, threads)
        # The graph runs as it is written, on both sides.
        options = self._config.graph_options
        options.optimizer_options.opt_level = tf.OptimizerOptions.L0
        options.rewrite_options.disable_meta_optimizer = True
        self._session: Any = None
        self._targets: list[str] = []
        self._rest: list[list[str]] = []
        self._steps: list[Callable[[], Any]] = []

    def load(
        self, path: str, initializers: list[list[str]], targets: list[str], rest: list[list[str]]
    ) -> dict[str, Any]:
        """Makes a session of a graph, and says how long a step of one copy takes."""
        self.drop()
        graph = self._tf.Graph()
        self._targets, self._rest = targets, rest
        try:
            with graph.as_default():
                definition = self._tf.GraphDef.FromString(Path(path).read_bytes())
                self._tf.import_graph_def(definition, name="")
            self._session = self._tf.Session(graph=graph, config=self._config)
            for stage in initializers:
                self._session.run(_operations(graph, stage))
            self.prepare(1)
            start = perf_counter()
            self._steps[0]()
            return {"seconds": perf_counter() - start}
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}

    def prepare(self, copies: int) -> dict[str, Any]:
        """Makes the steps of so many copies, and runs each once."""
        rest = [name for names in self._rest[:copies] for name in names]
        graph = self._session.graph
        self._steps = [
            self._session.make_callable(_operations(graph, names))
            for names in (self._targets[:copies], rest)
        ]
        for step in self._steps:
            step()
        return {}

    def run(self, seconds: float) -> dict[str, Any]:
        """Times steps with and without the op in turns: for so long, and at least once."""
        times: list[list[float]] = [[], []]
        end = perf_counter() + seconds
        while not times[0] or perf_counter() < end:
            for step, taken in zip(self._steps, times, strict=True):
                start = perf_counter()
                step()
                taken.append(perf_counter() - start)
        return {"full": times[0], "rest": times[1]}

    def drop(self) -> dict[str, Any]:
        """Frees the graph and its memory."""
        self._steps = []
        if self._session is not None:
            self._session.close()
            self._session = None
            gc.collect()
        return {}


def _operations(graph: Any, names: Sequence[str]) -> list[Any]:
    return [graph.get_operation_by_name(name) for name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", choices=("penstock", "tensorflow"))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    def start() -> tuple[OpWorker, str]:
        limit_cpus(options.threads)
        framework = FRAMEWORKS[options.framework].load(options.threads)
        gc.collect()
        gc.freeze()  # later collections look at the graphs alone
        return OpWorker(framework, options.threads), version_of(framework)

    serve(start, sys.stdin, take_stdout())


if __name__ == "__main__":
    main()
