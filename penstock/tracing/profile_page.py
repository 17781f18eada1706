"""The profile of a program as one HTML page, with nothing to load: a timeline, a flame, tables."""

from __future__ import annotations

import html
import json
from importlib import resources
from typing import Any

from penstock.tracing.profiled_program import Form, ProgramProfile, TracedRun
from penstock.tracing.step_report import Bar, Rows, bars_of, line_of, op_of, scope_totals, totals

_MOST_FORMS = 8
_MOST_BARS = 20_000


def page(script: str, profiled: ProgramProfile) -> str:
    """The page of a program's profile."""
    template = resources.files("penstock.tracing").joinpath("profile_page.html").read_text("utf-8")
    forms = profiled.traced_forms()[:_MOST_FORMS]
    data = {**summary(profiled), "pictures": [_picture(form) for form in forms]}
    # A name in the data must not be able to end the script element.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return template.replace("{{title}}", html.escape(script)).replace("{{data}}", text)


def summary(profiled: ProgramProfile) -> dict[str, Any]:
    """The numbers of the tables: times in nanoseconds and sizes in bytes, as means over runs."""
    return {
        "runs": profiled.runs,
        "forms": [
            {"label": form.label, "runs": form.runs, "wall": form.wall, "traced": len(form.traced)}
            for form in sorted(profiled.forms.values(), key=lambda form: -form.wall)
        ],
        "steps": [_step(form) for form in profiled.traced_forms()[:_MOST_FORMS]],
    }


def _step(form: Form) -> dict[str, Any]:
    bars = [bar for run in form.traced for bar in bars_of(run.trace.events)]
    runs = len(form.traced)
    return {
        "label": form.label,
        "runs": runs,
        "wall": sum(run.wall for run in form.traced) / runs,
        "own": sum(bar.own for bar in bars) / runs,
        "peak": max(run.trace.peak_bytes for run in form.traced),
        "left_out": sum(run.trace.left_out for run in form.traced),
        "by_op": _rows(totals(bars, op_of), runs),
        "by_scope": _rows(scope_totals(bars), runs),
        "by_line": _rows(totals(bars, line_of), runs),
    }


def _rows(found: Rows, runs: int) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "time": total.own / runs,
            "waited": total.waited / runs,
            "allocated": total.allocated / runs,
            "calls": total.count / runs,
        }
        for name, total in found
    ]


def _picture(form: Form) -> dict[str, Any]:
    """The bars of the run that took the median time."""
    run = sorted(form.traced, key=lambda run: run.wall)[len(form.traced) // 2]
    bars = bars_of(run.trace.events)
    shown = bars
    if len(bars) > _MOST_BARS:
        longest = sorted(bars, key=lambda bar: bar.event.begin - bar.event.end)[:_MOST_BARS]
        shown = sorted(longest, key=lambda bar: bar.event.begin)
    return {
        "label": form.label,
        "run": run.number,
        "hidden": len(bars) - len(shown),
        **_bars(run, shown),
    }


def _bars(run: TracedRun, bars: list[Bar]) -> dict[str, Any]:
    begin = min((bar.event.begin for bar in bars), default=0)
    words = _Numbered()
    threads = _Numbered()
    rows = [
        [
            bar.event.node.name,
            words(op_of(bar)),
            words(line_of(bar)),
            bar.event.begin - begin,
            bar.event.end - bar.event.begin,
            bar.own,
            bar.event.waited,
            threads(str(bar.event.thread)),
            bar.depth,
            sum(output.allocated for output in bar.event.outputs),
            bar.event.in_use,
        ]
        for bar in bars
    ]
    return {"bars": rows, "words": words.all, "threads": len(threads.all), "wall": run.wall}


class _Numbered:
    """Gives each text a number: the page holds it once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]
