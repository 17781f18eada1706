"""Tracing the steps that a program runs: which of them, how long, and what they did."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Form:
    """One form of `Session.run`: what it fetches, how often and how long it ran."""

    label: str
    number: int
    runs: int = 0
    wall: int = 0  # nanoseconds, of all runs
    traced: list[TracedRun] = field(default_factory=list)


@dataclass
class TracedRun:
    """A run with its trace."""

    number: int  # among all runs of the program
    wall: int
    trace: Any


class ProgramProfile:
    """Traces steps while it listens; `with ProgramProfile(…) as profile: …`.

    Args:
      wants: from the number of a run in the program (from 1), and its number within its form, to
        whether it is traced.
    """

    def __init__(self, wants: Callable[[int, int], bool]):
        self._wants = wants
        self.forms: dict[int, Form] = {}
        self.runs = 0
        self._lock = threading.Lock()
        self._kept: list[Any] = []  # the steps: their ids are the keys of the forms

    def __enter__(self) -> ProgramProfile:
        from penstock.runtime import observation

        observation.listen(self)
        return self

    def __exit__(self, *error: object) -> None:
        from penstock.runtime import observation

        observation.listen(None)

    def run(self, step: Any, feeds: Sequence[Any], timeout: float | None) -> tuple[Any, ...]:
        """Runs a step of a session, with a trace if it is wanted."""
        from penstock.runtime.tracing import Trace

        with self._lock:
            form = self._form(step)
            self.runs += 1
            form.runs += 1
            number, is_traced = self.runs, self._wants(self.runs, form.runs)
        began = time.perf_counter_ns()
        trace = Trace() if is_traced else None
        if trace is None:
            results = step.run_unseen(feeds, timeout)
        else:
            results = step.run_recorded(feeds, trace, timeout)
        took = time.perf_counter_ns() - began
        with self._lock:
            form.wall += took
            if trace is not None:
                form.traced.append(TracedRun(number, took, trace))
        return tuple(results)

    def _form(self, step: Any) -> Form:
        form = self.forms.get(id(step))
        if form is None:
            self._kept.append(step)
            form = self.forms[id(step)] = Form(_label(step), len(self.forms) + 1)
        return form

    def traced_forms(self) -> list[Form]:
        """The forms with traces, those that took longest first."""
        traced = [form for form in self.forms.values() if form.traced]
        return sorted(traced, key=lambda form: -form.wall)


def _label(step: Any) -> str:
    graph = step.placed
    names = [edge.node.name.removeprefix("_feed/") for edge in graph.fetches]
    names += [node.name for node in graph.targets]
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
