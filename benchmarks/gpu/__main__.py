"""Compares training steps on a GPU: `python -m benchmarks.gpu --json FILE --markdown FILE`.

Results are written after each network, so that a run which is cut short leaves what it has.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import monotonic

from benchmarks.contestant import AnsweringProcess, WorkerError
from benchmarks.frameworks import default_peers_directory, interpreter
from benchmarks.gpu.contest import MODELS, NULL, VARIANTS, title_of, variants_of
from benchmarks.gpu.report import report
from benchmarks.results import Failure, Measurement, ModelResult, as_json, find_disagreement
from benchmarks.run import names, say

# TF32 has ten bits of fraction, and frameworks add its products in different orders.
_TOLERANCE = {"cuda": 2e-2, "cpu": 1e-4}
_NULL_STEPS = 200  # fewer than a GPU's queue of kernels holds, so that issuing them never waits


class GpuContestant(AnsweringProcess):
    """One framework's worker for one network on a device."""

    def __init__(
        self, model: str, framework: str, variant: str, options: argparse.Namespace
    ) -> None:
        self.variant = variant
        command = ["benchmarks.gpu.worker", model, framework, "--variant", variant]
        command += ["--device", options.device] + ["--tiny"] * options.tiny
        super().__init__(
            framework,
            command,
            python=_python(framework, options.peers),
            environment=_environment(options.device),
        )

    def check(self) -> list[float]:
        return self.ask(do="check")["observed"]

    def run(self, bursts: int, steps: int) -> list[float]:
        return self.ask(do="run", bursts=bursts, steps=steps)["seconds"]


def _python(framework: str, peers: Path) -> Path:
    """This Python where it has the framework, else that of the peer's environment."""
    if importlib.util.find_spec(framework.partition("-")[0]) is not None:
        return Path(sys.executable)
    return interpreter(framework, peers)


def _environment(device: str) -> dict[str, str]:
    """The workers' environment: JAX takes memory as it needs it, since others need some, too."""
    settings = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    if device == "cpu":
        settings |= {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
    return settings


class GpuModelRun:
    """One network in all frameworks.

    1. Only one worker uses the device at any time: each is checked and warmed up alone (compilers
       and cuDNN choose by measuring), and in a round they take turns.
    2. A worker that fails leaves the run with its message; its framework's next variant is tried.
    """

    def __init__(self, model: str, options: argparse.Namespace, deadline: float) -> None:
        self._model = model
        self._options = options
        self._deadline = deadline
        self._steps = _NULL_STEPS if model == NULL else options.steps
        self._measured: dict[GpuContestant, Measurement] = {}
        self._result = ModelResult(model, title_of(model) + ", tiny" * options.tiny)

    def run(self) -> ModelResult:
        with ExitStack() as workers:
            for framework in self._options.frameworks:
                self._enter_framework(framework, workers)
            observed = {
                f"{m.framework} {m.variant}".rstrip(): m.observed for m in self._measured.values()
            }
            tolerance = _TOLERANCE[self._options.device]
            self._result.disagreement = find_disagreement(observed, tolerance)
            if self._result.disagreement:
                say(f"{self._model}: THE FRAMEWORKS DISAGREE {self._result.disagreement}")
            for number in range(self._options.rounds):
                self._round(number)
        self._result.measurements += self._measured.values()
        return self._result

    def _enter_framework(self, framework: str, workers: ExitStack) -> None:
        for variant in variants_of(self._model, framework):
            if monotonic() > self._deadline:
                self._fail(framework, variant, TimeoutError("no time was left for it"))
                return
            entered = self._enter(framework, variant, workers)
            if entered and not self._options.all_variants:
                return

    def _enter(self, framework: str, variant: str, workers: ExitStack) -> bool:
        start = monotonic()
        try:
            contestant = workers.enter_context(
                GpuContestant(self._model, framework, variant, self._options)
            )
            version = contestant.await_ready()
            measurement = Measurement(framework, variant, version, contestant.check())
            warm_up = contestant.run(2, self._steps)
        except (WorkerError, FileNotFoundError) as error:
            self._fail(framework, variant, error)
            return False
        self._measured[contestant] = measurement
        took = f"{median(warm_up) * 1e3:.3g} ms a step, ready after {monotonic() - start:.0f} s"
        say(f"{self._model}: {framework} {variant}: {took}")
        return True

    def _fail(self, framework: str, variant: str, error: Exception) -> None:
        self._result.failures.append(Failure(framework, variant, str(error)))
        say(f"{self._model}: {framework} {variant}: failed: {error}")

    def _round(self, number: int) -> None:
        turns = list(self._measured)
        # Each round starts with another worker, lest one always follows the same neighbour.
        first = number % max(1, len(turns))
        for contestant in turns[first:] + turns[:first]:
            try:
                taken = contestant.run(self._options.bursts, self._steps)
                self._measured[contestant].seconds += taken
            except WorkerError as error:
                del self._measured[contestant]
                self._fail(contestant.framework, contestant.variant, error)


def device_name(device: str) -> str:
    """The GPU in words, with what its users need to know to repeat a run."""
    import torch

    if device == "cpu":
        return "CPU"
    return f"{torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}"


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    known = list(VARIANTS)
    parser.add_argument("--models", type=lambda text: names(MODELS, text), default=list(MODELS))
    parser.add_argument("--frameworks", type=lambda text: names(known, text), default=known)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bursts", type=int, default=3, help="measurements a round")
    parser.add_argument("--steps", type=int, default=10, help="steps a measurement")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="narrow networks, to try it out")
    parser.add_argument("--all-variants", action="store_true", help="each framework's other forms")
    parser.add_argument("--limit", type=float, default=500, help="seconds; then starts no more")
    parser.add_argument("--peers", type=Path, default=default_peers_directory())
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here, too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the report; returns 1 if it is not to be trusted: a failure, or a disagreement."""
    options = parse_options(arguments)
    deadline = monotonic() + options.limit
    device = device_name(options.device)
    results: list[ModelResult] = []
    text = ""
    for model in options.models:
        results.append(GpuModelRun(model, options, deadline).run())
        text = report(results, options.frameworks, device)
        if options.markdown:
            options.markdown.write_text(text + "\n")
        if options.json:
            content = {"device": device, "models": as_json(results)}
            options.json.write_text(json.dumps(content, indent=1))
    print(text)
    return int(any(result.failures or result.disagreement for result in results))


if __name__ == "__main__":
    sys.exit(main())
