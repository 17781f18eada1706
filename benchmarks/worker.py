"""One model in one framework, in its own process: `python -m benchmarks.worker MODEL FRAMEWORK`.

The runner writes requests to the worker's stdin and reads answers from its stdout, one JSON object
a line. Between requests the worker sleeps. The first line it writes is {"version": …} once the
model stands, or {"error": …}.
"""

import argparse
import gc
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from benchmarks.frameworks import FRAMEWORKS
from benchmarks.model import Model, Program
from benchmarks.models import MODELS

WARM_UP_SECONDS = 4.0
DISTRIBUTIONS = ("penstock", "tensorflow-cpu", "tensorflow", "torch", "jax")


def take_stdout() -> TextIO:
    """A writer to stdout for answers alone: whatever else prints goes to stderr from now on."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return answers


def limit_cpus(threads: int) -> None:
    """Leaves this process as many CPUs as threads, which is where each framework looks."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def version_of(framework: Any) -> str:
    for name in DISTRIBUTIONS:
        if name.partition("-")[0] == framework.__name__.partition(".")[0]:
            try:
                return metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    return "working tree"


def memory_bytes(field: str) -> int:
    """A size in /proc/self/status: VmRSS is what is resident, VmHWM the most that ever was."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/self/status has no {field}")


class Worker:
    """Answers the runner's requests; each public method is one."""

    def __init__(self, model: Model, program: Program, bytes_before: int) -> None:
        self._model = model
        self._program = program
        self._bytes_before = bytes_before

    def check(self) -> dict[str, Any]:
        """Observes the initial state and the state after a few steps. To be asked first."""
        replay = self._program.replay or self._program.step
        observed = [self._program.observe()]
        for _ in range(self._model.check_steps):
            replay()
        if self._model.check_steps:
            observed.append(self._program.observe())
        return {"observed": observed}

    def run(self, steps: int) -> dict[str, Any]:
        step = self._program.step
        seconds = []
        for _ in range(steps):
            start = perf_counter()
            step()
            seconds.append(perf_counter() - start)
        return {"seconds": seconds}

    def warm_up(self, steps: int) -> dict[str, Any]:
        """A round of steps, and as many more as fill some seconds; then waits for compilers.

        Each framework gets the same time. Where one compiles in a thread of its own beside the
        steps (Penstock does), the steps that count begin when that has ended, as they do with
        those that compile before the first step.
        """
        end = perf_counter() + WARM_UP_SECONDS
        seconds = self.run(steps)["seconds"]
        while perf_counter() < end:
            seconds += self.run(1)["seconds"]
        for thread in threading.enumerate():
            if thread.name == "penstock-fusion":
                thread.join()
        return {"seconds": seconds}

    def memory(self, steps: int) -> dict[str, Any]:
        """The most memory a step needs beyond what the bare framework needs."""
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM starts anew from here
        self.run(steps)
        return {"bytes": memory_bytes("VmHWM") - self._bytes_before}


def serve(start: Callable[[], tuple[Any, str]], requests: TextIO, answers: TextIO) -> None:
    """Starts the worker and answers requests until they end; an error ends the worker."""
    try:
        worker, version = start()
        print(json.dumps({"version": version}), file=answers)
        for line in requests:
            request = json.loads(line)
            answer = getattr(worker, request.pop("do"))(**request)
            print(json.dumps(answer), file=answers)
    except Exception as error:
        traceback.print_exc()
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        print(json.dumps({"error": message}), file=answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--variant", default="")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    def start() -> tuple[Worker, str]:
        limit_cpus(options.threads)
        model = MODELS[options.model]
        framework = FRAMEWORKS[options.framework].load(options.threads)
        bytes_before = memory_bytes("VmRSS")
        program = model.builders[options.framework](framework, options.variant)
        return Worker(model, program, bytes_before), version_of(framework)

    serve(start, sys.stdin, take_stdout())


if __name__ == "__main__":
    main()
