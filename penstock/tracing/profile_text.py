"""The profile of a program as text."""

from __future__ import annotations

from penstock.tracing.profiled_program import Form, ProgramProfile
from penstock.tracing.step_report import (
    Bar,
    bars_of,
    bytes_text,
    line_of,
    op_of,
    scope_totals,
    table,
    time_text,
    totals,
)


def report(profiled: ProgramProfile, top: int = 15) -> str:
    """The forms of `Session.run`, and for the slowest where time and memory went."""
    forms = sorted(profiled.forms.values(), key=lambda form: -form.wall)
    if not forms:
        return "penstock profile: the program ran no steps"
    parts = [_forms(forms, profiled.runs, top)]
    traced = profiled.traced_forms()
    if not traced:
        parts.append("No run was traced: none came often enough. --skip 0 traces first runs, too.")
    for form in traced[:3]:
        parts.append(_form(form, top))
    return "\n\n".join(parts)


def _forms(forms: list[Form], runs: int, top: int) -> str:
    lines = [f"{'step':<48} {'runs':>7} {'time':>10} {'time/run':>10} {'traced':>7}"]
    for form in forms[:top]:
        lines.append(
            f"{form.label[:48]:<48} {form.runs:>7} {time_text(form.wall):>10} "
            f"{time_text(form.wall / form.runs):>10} {len(form.traced):>7}"
        )
    return f"{runs} runs of {len(forms)} forms\n" + "\n".join(lines)


def _form(form: Form, top: int) -> str:
    bars = [bar for run in form.traced for bar in bars_of(run.trace.events)]
    runs = len(form.traced)
    peak = max(run.trace.peak_bytes for run in form.traced)
    wall = sum(run.wall for run in form.traced) / runs
    inside = sum(bar.own for bar in bars) / runs
    head = (
        f"== {form.label}: {runs} traced, {time_text(wall)} a run ({time_text(inside)} in nodes), "
        f"values take {bytes_text(peak)} at most"
    )
    return "\n\n".join([head, *_tables(bars, runs, top)])


def _tables(bars: list[Bar], runs: int, top: int) -> list[str]:
    whole = sum(bar.own for bar in bars)
    return [
        table("by op", totals(bars, op_of), runs, whole, top),
        table("by name scope (with what is in it)", scope_totals(bars), runs, whole, top),
        table("by line of the program", totals(bars, line_of), runs, whole, top),
    ]
