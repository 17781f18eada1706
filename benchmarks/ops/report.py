"""What is printed: a line per measurement, and the whole as Markdown."""

import os
import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.ops.explanations import WHY
from benchmarks.ops.families import FAMILIES
from benchmarks.ops.results import SIDES, Result, Results
from benchmarks.ops.trial import SIZES
from benchmarks.ops.unmeasured import unmeasured
from benchmarks.table import number

LARGE = SIZES[-1]
BAD = 2.0  # the ratio from which an explanation is due
UNKNOWN = "not looked into yet"


def line(result: Result) -> str:
    """One measurement for the terminal."""
    start = f"{result.op_type:36} {result.size:>8}"
    if result.ratio is None:
        return f"{start}  failed: {result.failure}"
    times = [f"{result.seconds(side) * 1e6:>10.1f}" for side in SIDES]
    why = WHY.get(result.op_type, UNKNOWN) if result.ratio > BAD else ""
    return f"{start} {times[0]} µs {times[1]} µs {result.ratio:>7.2f}  {why}".rstrip()


def report(results: Results) -> str:
    """All tables: a summary, each family, and the ops that have no time."""
    everything = list(results.measured.values())
    parts = ["# Ops against TensorFlow's kernels", _heading(results), _summary(everything)]
    for family, table in FAMILIES.items():
        if measured := results.of(list(table)):
            title = family.replace("_", " ").capitalize()
            parts += [f"## {title}", _table(measured)]
    failures = [f"- `{r.op_type}`, {r.size:,}: {r.failure}" for r in everything if r.failure]
    if failures:
        parts += ["## Failed", "\n".join(failures)]
    parts += ["## Not measured", _not_measured()]
    return "\n\n".join(parts) + "\n"


def _heading(results: Results) -> str:
    versions = results.versions
    return (
        f"{date.today():%d %B %Y}; {_processor()}, {os.cpu_count()} CPUs; "
        f"threads on both sides: {results.threads}; "
        f"{platform.system()}, Python {platform.python_version()}; "
        f"Penstock {versions['penstock']}, TensorFlow {versions['tensorflow']}. "
        "Written by `python -m benchmarks.ops --results FILE --markdown FILE`.\n\n"
        "Microseconds of one op on inputs of about 1,000 and 1,000,000 elements, and the ratio "
        "of Penstock's time to TensorFlow's: below 1 Penstock is faster. `Why` explains a ratio "
        f"above {BAD:g} at 1,000,000 elements."
    )


def _processor() -> str:
    for text in Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            return text.partition(":")[2].strip()
    return platform.machine()


def _summary(results: Sequence[Result]) -> str:
    lines = [
        "| elements | ops | median ratio | up to 1 | up to 2 | above 2 |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for size in SIZES:
        ratios = sorted(r.ratio for r in results if r.size == size and r.ratio is not None)
        if not ratios:
            continue
        within = [sum(ratio <= limit for ratio in ratios) for limit in (1.0, BAD)]
        middle = ratios[len(ratios) // 2]
        counts = [within[0], within[1] - within[0], len(ratios) - within[1]]
        cells = [f"{size:,}", str(len(ratios)), f"{middle:.2f}", *map(str, counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _table(results: Sequence[Result]) -> str:
    by_op: dict[str, dict[int, Result]] = {}
    for result in results:
        by_op.setdefault(result.op_type, {})[result.size] = result
    sizes = [f"Penstock {size:,} | TensorFlow | ratio" for size in SIZES]
    lines = [f"| op | {' | '.join(sizes)} | why |", "|---|" + "--:|" * 3 * len(SIZES) + "---|"]
    for op_type, by_size in by_op.items():
        cells = [cell for size in SIZES for cell in _cells(by_size.get(size))]
        large = by_size.get(LARGE)
        bad = large is not None and large.ratio is not None and large.ratio > BAD
        lines.append(
            f"| `{op_type}` | {' | '.join(cells)} | {WHY.get(op_type, UNKNOWN) if bad else ''} |"
        )
    return "\n".join(lines)


def _cells(result: Result | None) -> list[str]:
    if result is None or result.ratio is None:
        return ["–"] * 3
    times = [number(result.seconds(side) * 1e6) for side in SIDES]
    ratio = f"{result.ratio:.2f}"
    return [*times, f"**{ratio}**" if result.ratio > BAD else ratio]


def _not_measured() -> str:
    by_reason: dict[str, list[str]] = {}
    for op_type, reason in unmeasured().items():
        by_reason.setdefault(reason, []).append(f"`{op_type}`")
    return "\n".join(f"- {reason}: {', '.join(ops)}." for reason, ops in by_reason.items())
