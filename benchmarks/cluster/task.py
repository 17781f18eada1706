"""One process of a cluster: `python -m benchmarks.cluster.task FRAMEWORK CLUSTER ROLE INDEX`.

The roles are ps, worker and client. It answers the runner's requests as `benchmarks.worker` does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

from benchmarks.cluster import mnist
from benchmarks.cluster.rows import ROWS, Step
from benchmarks.frameworks import FRAMEWORKS
from benchmarks.worker import serve, take_stdout, version_of

_BUILDERS = {row.name: row.build for row in ROWS}


class Training:
    """A thread that runs steps while it is let.

    A synchronous step may have to wait for the other worker's, which comes in the next turn only.
    """

    def __init__(self, step: Step) -> None:
        self._step = step
        self._count = 0
        self._may_run = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while self._may_run.wait():
            self._step()
            self._count += 1

    def run(self, seconds: float) -> int:
        before = self._count
        self._may_run.set()
        sleep(seconds)
        self._may_run.clear()
        return self._count - before


class Task:
    """What runs in one process; each public method is a request."""

    def __init__(self, tf: Any, cluster: dict[str, list[str]], role: str, index: int):
        self._tf = tf
        self._cluster = cluster
        self._index = index
        self._server = None
        if role != "client":
            self._server = tf.train.Server(cluster, job_name=role, task_index=index)
        self._step: Step | None = None
        self._training: Training | None = None
        self._close: Callable[[], None] = lambda: None

    def build(self, row: str) -> dict[str, Any]:
        """Makes a row's graph and session; runs its step for the first time."""
        tf = self._tf
        with tf.Graph().as_default():
            if self._server is not None:
                synchronous = row == "mnist_sync"
                step = mnist.build(
                    tf, self._cluster, self._index, self._server.target, synchronous=synchronous
                )
                self._training = Training(step)
            else:
                self._step = _BUILDERS[row](tf, self._session)
                self._step()
        return {}

    def _session(self) -> Any:
        session = self._tf.Session(f"grpc://{self._cluster['worker'][0]}")
        self._close = session.close
        return session

    def run(self, steps: int) -> dict[str, Any]:
        assert self._step is not None
        seconds = []
        for _ in range(steps):
            start = perf_counter()
            self._step()
            seconds.append(perf_counter() - start)
        return {"seconds": seconds}

    def train(self, seconds: float) -> dict[str, Any]:
        """Trains for some time; how many steps that were."""
        assert self._training is not None
        return {"steps": self._training.run(seconds)}

    def drop(self) -> dict[str, Any]:
        """Ends the row's session, and clears the state of all tasks."""
        self._close()
        self._step = None
        self._tf.Session.reset(f"grpc://{self._cluster['worker'][0]}")
        return {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("cluster", type=json.loads)
    parser.add_argument("role", choices=("ps", "worker", "client"))
    parser.add_argument("index", type=int)
    options = parser.parse_args()

    def start() -> tuple[Task, str]:
        framework = FRAMEWORKS[options.framework].load(2)
        task = Task(framework, options.cluster, options.role, options.index)
        return task, version_of(framework)

    serve(start, sys.stdin, take_stdout())
    os._exit(0)  # servers and training go on until then, and an orderly end would wait for them


if __name__ == "__main__":
    main()
