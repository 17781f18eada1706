"""Runs models in Penstock and its peers and prints how they compare: `python -m benchmarks.run`."""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.contestant import Contestant, WorkerError
from benchmarks.frameworks import FRAMEWORKS, default_peers_directory
from benchmarks.model import Model
from benchmarks.models import MODELS
from benchmarks.noise import NoiseMeter
from benchmarks.results import Measurement, ModelResult, as_json, find_disagreement
from benchmarks.table import report


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class ModelRun:
    """One model in all frameworks that have it.

    1. Only one worker computes at any time: each is started, checked and warmed up alone, and in a
       round they take turns.
    2. A framework that fails at any point leaves the run with its message, and the others go on.
    """

    def __init__(self, name: str, model: Model, options: argparse.Namespace) -> None:
        self._name = name
        self._model = model
        self._options = options
        self._steps = options.steps or model.steps
        self.result = ModelResult(name, model.title)
        self.noise = NoiseMeter()

    def run(self) -> ModelResult:
        with ExitStack() as workers:
            contestants = [
                contestant
                for framework in self._options.frameworks
                if framework in self._model.builders
                and (contestant := self._best_variant(framework, workers)) is not None
            ]
            self._compare_observations()
            self._take_turns(contestants)
            if self._model.memory:
                self._measure_memory(contestants)
        return self.result

    def _best_variant(self, framework: str, workers: ExitStack) -> Contestant | None:
        """The framework's fastest variant in a trial; the other variants' workers are ended."""
        trials: list[tuple[float, Contestant, Measurement]] = []
        for variant in self._model.variants_of(framework):
            label = f"{self._name}: {framework} {variant}".rstrip()
            say(f"{label}: starting")
            with ExitStack() as stack:
                try:
                    contestant = stack.enter_context(self._start(framework, variant))
                    contestant.await_ready()
                    observed = contestant.check()
                    contestant.run(self._steps)
                    seconds = median(contestant.run(self._steps))
                except (WorkerError, FileNotFoundError) as error:
                    say(f"{label}: failed: {error}")
                    self.result.failures[framework] = str(error)
                    continue
                say(f"{label}: ready, {seconds * 1e3:.3g} ms a step")
                measurement = Measurement(variant, contestant.version, observed)
                if trials and trials[0][0] <= seconds:
                    continue
                workers.push(stack.pop_all())
                trials[:0] = [(seconds, contestant, measurement)]
        if not trials:
            return None
        for _, slower, _ in trials[1:]:
            slower.__exit__()
        self.result.failures.pop(framework, None)
        _, contestant, self.result.measurements[framework] = trials[0]
        return contestant

    def _start(self, framework: str, variant: str) -> Contestant:
        options = self._options
        return Contestant(
            self._name, framework, variant, threads=options.threads, peers=options.peers
        )

    def _compare_observations(self) -> None:
        observed = {name: m.observed for name, m in self.result.measurements.items()}
        self.result.disagreement = find_disagreement(observed, self._model.tolerance)
        if self.result.disagreement:
            say(f"{self._name}: THE FRAMEWORKS DISAGREE {self.result.disagreement}")

    def _take_turns(self, contestants: list[Contestant]) -> None:
        for number in range(self._options.rounds):
            say(f"{self._name}: round {number + 1} of {self._options.rounds}")
            # Each round starts with another framework, lest one always follows the same neighbour.
            first = number % max(1, len(contestants))
            for contestant in contestants[first:] + contestants[:first]:
                sleeping = [other.pid for other in contestants if other is not contestant]
                with self.noise.slot(contestant.pid, sleeping):
                    seconds = contestant.run(self._steps)
                self.result.measurements[contestant.framework].seconds += seconds
        say(f"{self._name}: {self.noise.summary()}")

    def _measure_memory(self, contestants: list[Contestant]) -> None:
        for contestant in contestants:
            measurement = self.result.measurements[contestant.framework]
            measurement.peak_bytes = contestant.memory(self._steps)


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
    """Returns 1 if a framework failed or the frameworks disagree, so that no one trusts the table."""
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
