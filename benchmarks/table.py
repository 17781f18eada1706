"""The run as Markdown: the table of rows, notes on what is special, and the targets."""

from collections.abc import Iterable, Sequence

from benchmarks.frameworks import FRAMEWORKS
from benchmarks.results import PENSTOCK, Cell, ModelResult, Row
from benchmarks.results import rows as rows_of
from benchmarks.targets import Target, judge


def number(value: float) -> str:
    """Three significant digits, whole numbers above a hundred."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:#.3g}".rstrip(".")


def cell_text(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    if cell.least is None:
        return number(cell.value)
    return f"{number(cell.value)} ({number(cell.least)})"


def ratio_text(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


def title_of(framework: str) -> str:
    return FRAMEWORKS[framework].title


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---"] + ["--:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])


def main_table(rows: Sequence[Row], frameworks: Sequence[str]) -> str:
    header = ["", *map(title_of, frameworks), "÷ TensorFlow", "÷ fastest peer"]
    lines = []
    for row in rows:
        fastest = row.fastest_peer()
        to_fastest = None if fastest is None else row.ratio_to(fastest)
        lines.append(
            [
                f"{row.title}, {row.unit}",
                *(cell_text(row.cells.get(name)) for name in frameworks),
                ratio_text(row.ratio_to("tensorflow")),
                ratio_text(to_fastest),
            ]
        )
    return markdown_table(header, lines)


def target_text(target: Target, unit: str) -> tuple[str, str]:
    """The limit in words, and the format of the number measured against it."""
    if target.against is None:
        return f"≤ {number(target.limit)} {unit}", f"{{:.0f}} {unit}"
    against = title_of(target.against) if target.against in FRAMEWORKS else f"the {target.against}"
    return f"≤ {target.limit:g} × {against}", "{:.2f}"


def target_table(rows: Sequence[Row]) -> str:
    lines = []
    for target, row, value in judge(rows):
        limit, form = target_text(target, row.unit)
        if value is None:
            lines.append([row.title, limit, "–", "not measured"])
        else:
            met = "met" if value <= target.limit else "missed"
            lines.append([row.title, limit, form.format(value), met])
    return markdown_table(["target", "limit", "measured", ""], lines) if lines else ""


def notes(results: Sequence[ModelResult]) -> list[str]:
    """Which variants counted, what failed, and where the frameworks disagree."""
    lines = []
    for result in results:
        variants = [
            f"{title_of(framework)} {measurement.variant}"
            for framework, measurement in result.best().items()
            if measurement.variant
        ]
        if variants:
            lines.append(f"{result.title}: the fastest variants are {', '.join(variants)}.")
        for failure in result.failures:
            name = f"{title_of(failure.framework)} {failure.variant}".rstrip()
            lines.append(f"{result.title}: {name} failed: {failure.message}")
        if result.disagreement:
            lines.append(f"**{result.title}: the frameworks disagree** {result.disagreement}.")
    return lines


def versions(results: Sequence[ModelResult]) -> str:
    found = {m.framework: m.version for result in results for m in result.measurements}
    return ", ".join(f"{title_of(framework)} {version}" for framework, version in found.items())


def report(results: Sequence[ModelResult], frameworks: Sequence[str]) -> str:
    """The whole run: a median over all steps, in parentheses the fastest single step."""
    rows = rows_of(results)
    parts = [
        main_table(rows, frameworks),
        "\n".join(f"- {note}" for note in notes(results)),
        target_table(rows) if PENSTOCK in frameworks else "",
        f"Median (and least) of the steps. {versions(results)}",
    ]
    return "\n\n".join(part for part in parts if part)
