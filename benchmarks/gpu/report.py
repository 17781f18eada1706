"""The run as Markdown: milliseconds a step, and Penstock's ratio to the fastest peer."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.gpu.contest import NULL
from benchmarks.results import ModelResult, rows
from benchmarks.table import cell_text, markdown_table, notes, ratio_text, title_of, versions


def report(results: Sequence[ModelResult], frameworks: Sequence[str], device: str) -> str:
    header = ["ms a step", *map(title_of, frameworks), "÷ fastest peer"]
    lines = []
    for row in rows(results):
        fastest = row.fastest_peer()
        ratio = None if fastest is None else row.ratio_to(fastest)
        cells = [cell_text(row.cells.get(name)) for name in frameworks]
        lines.append([row.title, *cells, ratio_text(ratio)])
    networks = [result for result in results if result.model != NULL]
    parts = [
        markdown_table(header, lines),
        "\n".join(f"- {note}" for note in [*notes(results), *map(_losses, networks)]),
        f"Median (and least) of the bursts. {device}. {versions(results)}",
    ]
    return "\n\n".join(parts)


def _losses(result: ModelResult) -> str:
    shown = [
        f"{title_of(m.framework)} {m.variant} {m.observed[0]:.5g}, {m.observed[-1]:.5g}"
        for m in result.measurements
    ]
    return f"{result.title}: losses before the first step and after three: {'; '.join(shown)}."
