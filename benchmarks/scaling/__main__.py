"""Simulates large clusters and writes docs/scaling.md with its plots.

    python -m benchmarks.scaling

It takes some minutes; what it computes depends on the parameters and seeds alone, not on the
machine that it runs on.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.scaling import page
from benchmarks.scaling.null_steps import MODELS, NullModel, NullSteps
from benchmarks.scaling.training import Outcome, Training

DOCS = Path(__file__).parents[2] / "docs"
NULL_WORKERS = (1, 2, 5, 10, 25, 50, 100)
WORKERS = (25, 50, 100, 200, 1000)
BACKUPS = range(6)
AGGREGATED = 50


def null_step(model: NullModel, workers: int) -> float:
    seconds = NullSteps(model, workers).median_seconds()
    print(f"{model.name}, {workers} workers: {seconds:.4f} s", flush=True)
    return seconds


def training(workers: int, aggregated: int | None, rounds: int) -> Outcome:
    outcome = Training(workers, aggregated, rounds).outcome()
    print(f"{workers} workers, {aggregated} together: {outcome.median:.3f} s", flush=True)
    return outcome


def main() -> None:
    with ProcessPoolExecutor() as pool:
        # The longest first.
        together = [pool.submit(training, n, n, 4 if n >= 1000 else 16) for n in reversed(WORKERS)]
        each = [pool.submit(training, n, None, 2 if n >= 1000 else 4) for n in reversed(WORKERS)]
        spared = [pool.submit(training, AGGREGATED + n, AGGREGATED, 60) for n in BACKUPS]
        nulls = {
            model.name: [pool.submit(null_step, model, n) for n in NULL_WORKERS] for model in MODELS
        }
        times = {name: [run.result() for run in runs] for name, runs in nulls.items()}
        backups = [run.result() for run in spared]
        trainings = [
            (n, a.result(), s.result())
            for n, a, s in zip(WORKERS, reversed(each), reversed(together), strict=True)
        ]
    (DOCS / "images").mkdir(exist_ok=True)
    for name, plot in page.plots(NULL_WORKERS, times, trainings, backups).items():
        (DOCS / "images" / name).write_text(plot, encoding="utf-8")
    text = page.text(NULL_WORKERS, times, trainings, backups, AGGREGATED)
    (DOCS / "scaling.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
