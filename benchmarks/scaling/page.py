"""The page about scaling: its tables and plots, around which `page.md` has the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from benchmarks.scaling.line_plot import line_plot, linear, logarithmic
from benchmarks.scaling.null_steps import SERVERS as NULL_SERVERS
from benchmarks.scaling.null_steps import Machine
from benchmarks.scaling.training import SERVERS, ImageModel, Outcome

Trainings = Sequence[tuple[int, Outcome, Outcome]]  # workers, asynchronous, synchronous


def text(
    counts: Sequence[int],
    nulls: Mapping[str, Sequence[float]],
    trainings: Trainings,
    backups: Sequence[Outcome],
    aggregated: int,
) -> str:
    """The page, in Markdown."""
    words = Template(Path(__file__).with_name("page.md").read_text(encoding="utf-8"))
    speedups = _speedups(backups, aggregated)
    spares = range(len(backups))
    return words.substitute(
        parameters=_parameters(),
        null_servers=NULL_SERVERS,
        servers=SERVERS,
        aggregated=aggregated,
        nulls=_null_table(counts, nulls),
        trainings=_training_table(trainings),
        backups=_backup_table(backups, speedups),
        shortest=min(spares, key=lambda spare: backups[spare].median),
        best=max(spares, key=lambda spare: speedups[spare]),
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "---:") -> str:
    lines = [head, [align] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _parameters() -> str:
    machine, model = Machine(), ImageModel()
    straggling = f"{model.straggles:.0%} of the steps take an exponential time"
    rows = {
        "interface of a machine, each way": f"{machine.bandwidth / 1e9:g} GB/s",
        "latency": f"{machine.latency * 1e6:g} µs, and a tenth of that at random",
        "handling a message": f"{machine.handling * 1e6:g} µs of the task's one core",
        "a small kernel": f"{machine.kernel * 1e6:g} µs",
        "reading variables": f"{machine.memory / 1e9:g} GB/s",
        "image model": f"{model.weights / 1e6:g} MB of weights, batches of {model.batch}",
        "a worker's computation": f"lognormal, median {model.compute:g} s, σ {model.spread:g}; "
        f"{straggling} of mean {model.straggle:g} s more",
        "adding up or applying gradients": f"{model.update / 1e9:g} GB/s in each server",
    }
    return _table(["assumed", ""], list(rows.items()), align="---")


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def _null_table(counts: Sequence[int], nulls: Mapping[str, Sequence[float]]) -> str:
    rows = [
        [str(count), *(_duration(times[i]) for times in nulls.values())]
        for i, count in enumerate(counts)
    ]
    return _table(["workers", *nulls], rows)


def _training_table(trainings: Trainings) -> str:
    rows = [
        [f"{count:,}", *(cell for outcome in outcomes for cell in _cells(outcome))]
        for count, *outcomes in trainings
    ]
    of_each = ("images/s", "median", "9 of 10")
    head = [f"{kind} {what}" for kind in ("async", "sync") for what in of_each]
    return _table(["workers", *head], rows)


def _cells(outcome: Outcome) -> list[str]:
    return [f"{outcome.images:,.0f}", f"{outcome.median:.2f} s", f"{outcome.slow:.2f} s"]


def _speedups(backups: Sequence[Outcome], aggregated: int) -> list[float]:
    """By how much steps are shorter, for as much work."""
    base = backups[0].median
    return [
        base / outcome.median * aggregated / (aggregated + spare)
        for spare, outcome in enumerate(backups)
    ]


def _backup_table(backups: Sequence[Outcome], speedups: Sequence[float]) -> str:
    rows = [
        [str(spare), *_cells(outcome)[1:], f"{speedup:.3f}"]
        for spare, (outcome, speedup) in enumerate(zip(backups, speedups, strict=True))
    ]
    return _table(["backup workers", "median", "9 of 10", "normalised speedup"], rows)


def plots(
    counts: Sequence[int],
    nulls: Mapping[str, Sequence[float]],
    trainings: Trainings,
    backups: Sequence[Outcome],
) -> dict[str, str]:
    """SVG files by name."""
    return {
        "scaling-null-steps.svg": _null_plot(counts, nulls),
        "scaling-training.svg": _training_plot(trainings),
        "scaling-backup-workers.svg": _backup_plot(backups),
    }


def _null_plot(counts: Sequence[int], nulls: Mapping[str, Sequence[float]]) -> str:
    lines = {
        name: [(count, count / seconds) for count, seconds in zip(counts, times, strict=True)]
        for name, times in nulls.items()
    }
    rates = [rate for points in lines.values() for _, rate in points]
    across = logarithmic("workers", counts)
    return line_plot("Null steps (simulated)", across, logarithmic("steps/s", rates), lines)


def _training_plot(trainings: Trainings) -> str:
    lines = {
        "asynchronous": [(count, each.images) for count, each, _ in trainings],
        "synchronous": [(count, together.images) for count, _, together in trainings],
    }
    most = max(rate for points in lines.values() for _, rate in points)
    across = logarithmic("workers", [count for count, _, _ in trainings])
    up = linear("images/s", 500.0 * -(-most // 500.0), 500.0)
    return line_plot("Training an image model (simulated)", across, up, lines)


def _backup_plot(backups: Sequence[Outcome]) -> str:
    lines = {
        "median": [(spare, outcome.median) for spare, outcome in enumerate(backups)],
        "9 of 10": [(spare, outcome.slow) for spare, outcome in enumerate(backups)],
    }
    longest = max(outcome.slow for outcome in backups)
    across = linear("backup workers", len(backups) - 1.0, 1.0)
    up = linear("seconds of a step", 0.5 * -(-longest // 0.5), 0.5)
    return line_plot("Backup workers (simulated)", across, up, lines)
