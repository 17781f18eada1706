"""Runs models in Penstock and its peers and prints how they compare: `python -m benchmarks.run`."""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import sleep

from benchmarks.contestant import Contestant, WorkerError
from benchmarks.frameworks import FRAMEWORKS, default_peers_directory
from benchmarks.model import Model
from benchmarks.models import MODELS
from benchmarks.noise import NoiseMeter
from benchmarks.results import (
    Failure,
    Measurement,
    ModelResult,
    as_json,
    find_disagreement,
)
from benchmarks.table import report

SETTLING = 0.02  # seconds; OpenMP's threads spin for a while after their last work


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class ModelRun:
    """One model in all frameworks that have it.

    1. Only one worker computes at any time: each is started, checked and warmed up alone, and in a
       round they take turns.
    2. A worker that fails at any point leaves the run with its message, and the others go on.
    """

    def __init__(self, name: str, model: Model, options: argparse.Namespace) -> None:
        self._name = name
        self._model = model
        self._options = options
        self._steps = options.steps or model.steps
        self._measured: dict[Contestant, Measurement] = {}
        self._result = ModelResult(name, model.title)

    def run(self) -> ModelResult:
        with ExitStack() as workers:
            for framework in self._options.frameworks:
                if framework in self._model.builders:
                    for variant in self._model.variants_of(framework):
                        self._enter(framework, variant, workers)
            self._compare_observations()
            self._take_turns()
            if self._model.memory:
                self._measure_memory()
        self._result.measurements += self._measured.values()
        return self._result

    def _enter(self, framework: str, variant: str, workers: ExitStack) -> None:
        """Starts a worker and takes it through everything that comes before the first round."""
        options = self._options
        label = f"{self._name}: {framework} {variant}".rstrip()
        say(f"{label}: starting")
        try:
            contestant = workers.enter_context(
                Contestant(
                    self._name, framework, variant, threads=options.threads, peers=options.peers
                )
            )
            version = contestant.await_ready()
            measurement = Measurement(framework, variant, version, contestant.check())
            warm_up = contestant.warm_up(self._steps)
        except (WorkerError, FileNotFoundError) as error:
            self._fail(framework, variant, error)
            return
        self._measured[contestant] = measurement
        say(f"{label}: ready, {median(warm_up) * 1e3:.3g} ms a step")

    def _fail(self, framework: str, variant: str, error: Exception) -> None:
        self._result.failures.append(Failure(framework, variant, str(error)))
        label = f"{self._name}: {framework} {variant}".rstrip()
        say(f"{label}: failed: {error}")

    def _compare_observations(self) -> None:
        observed = {
            f"{m.framework} {m.variant}".rstrip(): m.observed for m in self._measured.values()
        }
        self._result.disagreement = find_disagreement(observed, self._model.tolerance)
        if self._result.disagreement:
            say(f"{self._name}: THE FRAMEWORKS DISAGREE {self._result.disagreement}")

    def _take_turns(self) -> None:
        noise = NoiseMeter()
        for number in range(self._options.rounds):
            say(f"{self._name}: round {number + 1} of {self._options.rounds}")
            turns = list(self._measured)
            # Each round starts with another worker, lest one always follows the same neighbour.
            first = number % max(1, len(turns))
            for contestant in turns[first:] + turns[:first]:
                sleeping = [other.pid for other in turns if other is not contestant]
                sleep(SETTLING)
                with noise.slot(contestant.pid, sleeping):
                    self._take_turn(contestant)
        say(f"{self._name}: {noise.summary()}")

    def _take_turn(self, contestant: Contestant) -> None:
        try:
            self._measured[contestant].seconds += contestant.run(self._steps)
        except WorkerError as error:
            del self._measured[contestant]
            self._fail(contestant.framework, contestant.variant, error)

    def _measure_memory(self) -> None:
        for contestant, measurement in self._measured.items():
            try:
                measurement.peak_bytes = contestant.memory(self._steps)
            except WorkerError as error:
                self._fail(contestant.framework, contestant.variant, error)


def names(known: Sequence[str], text: str) -> list[str]:
    """Splits a comma-separated list and checks each name."""
    chosen = text.split(",")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"unknown: {', '.join(unknown)} (known: {', '.join(known)})"
        )
    return [name for name in known if name in chosen]


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare Penstock with its peers.")
    parser.add_argument(
        "--models", type=lambda text: names(list(MODELS), text), default=list(MODELS)
    )
    parser.add_argument(
        "--frameworks", type=lambda text: names(list(FRAMEWORKS), text), default=list(FRAMEWORKS)
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, help="steps a round, instead of each model's own")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", type=Path, default=default_peers_directory())
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every step's time")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here, too")
    options = parser.parse_args(arguments)
    options.peers = options.peers.expanduser().absolute()
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the report; returns 1 if it is not to be trusted: a failure, or a disagreement."""
    options = parse_options(arguments)
    results = [ModelRun(name, MODELS[name], options).run() for name in options.models]
    text = report(results, options.frameworks)
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")
    if options.json:
        content = {
            "machine": platform.processor() or platform.machine(),
            "models": as_json(results),
        }
        options.json.write_text(json.dumps(content, indent=1))
    return int(any(result.failures or result.disagreement for result in results))


if __name__ == "__main__":
    sys.exit(main())
