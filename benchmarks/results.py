"""What a run measured, and the comparisons drawn from it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from statistics import median
from typing import Any

PENSTOCK = "penstock"


@dataclass
class Measurement:
    """One framework's numbers for one model, in one variant."""

    framework: str
    variant: str
    version: str
    observed: list[float]
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int | None = None


@dataclass(frozen=True)
class Failure:
    """Why a framework has no numbers for a model."""

    framework: str
    variant: str
    message: str


@dataclass
class ModelResult:
    """One model's numbers, of every framework and variant."""

    model: str
    title: str
    measurements: list[Measurement] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    disagreement: str | None = None

    def best(self) -> dict[str, Measurement]:
        """Each framework's fastest variant, the one that counts."""
        timed = [m for m in self.measurements if m.seconds]
        # The fastest comes last and so replaces the others of its framework.
        timed.sort(key=lambda m: median(m.seconds), reverse=True)
        return {m.framework: m for m in timed}


@dataclass(frozen=True)
class Cell:
    """A number of the table; `least` is the best single step where the number is a median."""

    value: float
    least: float | None = None


@dataclass(frozen=True)
class Row:
    """A line of the table: one quantity, in one unit, for every framework that has it."""

    name: str
    title: str
    unit: str
    cells: Mapping[str, Cell]

    def ratio_to(self, framework: str) -> float | None:
        """Penstock's number divided by another framework's."""
        if PENSTOCK not in self.cells or framework not in self.cells:
            return None
        return self.cells[PENSTOCK].value / self.cells[framework].value

    def fastest_peer(self) -> str | None:
        """The framework with the smallest number, Penstock aside."""
        peers = [name for name in self.cells if name != PENSTOCK]
        return min(peers, key=lambda name: self.cells[name].value, default=None)


def rows(results: Sequence[ModelResult]) -> list[Row]:
    """Every model's times and, where they were measured, its peaks of memory."""
    made = []
    for result in results:
        best = result.best()
        times = {
            name: Cell(median(m.seconds) * 1e3, min(m.seconds) * 1e3) for name, m in best.items()
        }
        made.append(Row(result.model, result.title, "ms", times))
        peaks = {
            name: Cell(m.peak_bytes / 2**20) for name, m in best.items() if m.peak_bytes is not None
        }
        if peaks:
            title = f"{result.title}: peak memory"
            made.append(Row(f"{result.model}_memory", title, "MiB", peaks))
    return made


def find_disagreement(observed: Mapping[str, Sequence[float]], tolerance: float) -> str | None:
    """Says how the frameworks' observations differ by more than the tolerance, if they do."""
    for position, values in enumerate(zip(*observed.values(), strict=True)):
        allowed = tolerance * max(abs(value) for value in values)
        if not all(map(isfinite, values)) or max(values) - min(values) > allowed:
            shown = ", ".join(
                f"{name} {value:.6g}" for name, value in zip(observed, values, strict=True)
            )
            when = "before the first step" if position == 0 else "after the steps of the check"
            return f"{when}: {shown} (relative tolerance {tolerance:g})"
    return None


def as_json(results: Sequence[ModelResult]) -> list[dict[str, Any]]:
    """The results with every step's time, for a file."""
    return [asdict(result) for result in results]
