"""One network in one framework on a device: `python -m benchmarks.gpu.worker MODEL FRAMEWORK`."""

from __future__ import annotations

import argparse
import sys
from importlib import metadata
from time import perf_counter
from typing import Any

from benchmarks.gpu.contest import MODELS, VARIANTS, build
from benchmarks.gpu.programs import DeviceProgram
from benchmarks.worker import serve, take_stdout

_CHECK_STEPS = 3


class GpuWorker:
    """Answers the runner's requests; each public method is one."""

    def __init__(self, program: DeviceProgram) -> None:
        self._program = program

    def check(self) -> dict[str, Any]:
        """The loss at the initial values, and after a few steps. To be asked first."""
        losses = [self._program.observe() for _ in range(_CHECK_STEPS + 1)]
        return {"observed": [losses[0], losses[-1]]}

    def run(self, bursts: int, steps: int) -> dict[str, Any]:
        """Seconds a step, by burst: as many steps in a row as a burst has, then a wait."""
        step, wait = self._program.step, self._program.wait
        seconds = []
        for _ in range(bursts):
            wait()
            start = perf_counter()
            for _ in range(steps):
                step()
            issued = perf_counter()
            wait()
            end = issued if self._program.host_bound else perf_counter()
            seconds.append((end - start) / steps)
        return {"seconds": seconds}


def _version(framework: str) -> str:
    try:
        return metadata.version(framework.partition("-")[0])
    except metadata.PackageNotFoundError:
        return "working tree"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("framework", choices=VARIANTS)
    parser.add_argument("--variant", default="")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()

    def start() -> tuple[GpuWorker, str]:
        program = build(
            options.model, options.framework, options.variant, options.device, tiny=options.tiny
        )
        return GpuWorker(program), _version(options.framework)

    serve(start, sys.stdin, take_stdout())


if __name__ == "__main__":
    main()
