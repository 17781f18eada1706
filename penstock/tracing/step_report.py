"""Where the time and memory of traced steps went: by op, by name scope, by the user's line."""

from __future__ import annotations

import linecache
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.ir.operation import Operation


class Bar(NamedTuple):
    """A line of a plan in time, in nanoseconds. `own` is its time without the bars inside of it."""

    event: Any
    depth: int
    own: int


@dataclass
class Total:
    """What many bars took together."""

    count: int = 0
    own: int = 0  # nanoseconds
    waited: int = 0
    allocated: int = 0  # bytes

    def add(self, bar: Bar) -> None:
        self.count += 1
        self.own += bar.own
        self.waited += bar.event.waited
        self.allocated += sum(output.allocated for output in bar.event.outputs)


Rows = list[tuple[str, Total]]


def bars_of(events: Iterable[Any]) -> list[Bar]:
    """Events with their nesting: a loop's bar holds those of its body."""
    by_thread: dict[int, list[Any]] = defaultdict(list)
    for event in events:
        by_thread[event.thread].append(event)
    found: list[Bar] = []
    for row in by_thread.values():
        found += _nested(row)
    return sorted(found, key=lambda bar: bar.event.begin)


def _nested(events: list[Any]) -> list[Bar]:
    events = sorted(events, key=lambda event: (event.begin, -event.end))
    own = [event.end - event.begin for event in events]
    depths = []
    around: list[int] = []  # the numbers of the events that hold the present one
    for number, event in enumerate(events):
        while around and events[around[-1]].end <= event.begin:
            around.pop()
        if around:
            own[around[-1]] -= event.end - event.begin
        depths.append(len(around))
        around.append(number)
    return [
        Bar(event, depth, max(0, time))
        for event, depth, time in zip(events, depths, own, strict=True)
    ]


# What bars are summed up by ---------------------------------------------------------------------


def op_of(bar: Bar) -> str:
    return str(bar.event.node.type)


def line_of(bar: Bar) -> str:
    """The user's line that made the node, as `train.py:41  loss = …`."""
    origin = bar.event.node.origin
    if origin is None or origin._line is None:
        return "(no line of the program)"
    return line_text(origin)


def line_text(operation: Operation) -> str:
    """A user's line with its text."""
    line = operation._line
    if line is None:
        return ""
    code, number = line
    text = linecache.getline(code.co_filename, number).strip()
    return f"{os.path.basename(code.co_filename)}:{number}  {text[:70]}".rstrip()


def scopes_of(bar: Bar) -> list[str]:
    """The name scopes of a node, from the outermost."""
    parts = bar.event.node.name.split("/")[:-1]
    return ["/".join(parts[:length]) for length in range(1, len(parts) + 1)] or ["(no scope)"]


def totals(bars: Iterable[Bar], key: Callable[[Bar], str]) -> Rows:
    """Bars summed up, those that took longest first."""
    found: dict[str, Total] = defaultdict(Total)
    for bar in bars:
        found[key(bar)].add(bar)
    return sorted(found.items(), key=lambda item: -item[1].own)


def scope_totals(bars: Iterable[Bar], least: float = 0.01) -> Rows:
    """Scopes with all that is in them, as a tree: inner ones indented below outer ones.

    A scope with less than the share `least` of all time is left out.
    """
    found: dict[str, Total] = defaultdict(Total)
    whole = 0
    for bar in bars:
        whole += bar.own
        for scope in scopes_of(bar):
            found[scope].add(bar)
    children: dict[str, list[str]] = defaultdict(list)
    for scope, total in found.items():
        if total.own >= least * whole:
            children[scope.rpartition("/")[0]].append(scope)
    result: Rows = []

    def add(parent: str) -> None:
        for scope in sorted(children[parent], key=lambda name: -found[name].own):
            depth = scope.count("/")
            result.append(("  " * depth + scope.rpartition("/")[2], found[scope]))
            add(scope)

    add("")
    return result


# Text -------------------------------------------------------------------------------------------


def time_text(nanoseconds: float) -> str:
    """`1.25 ms`: a time with a unit."""
    if nanoseconds >= 1e9:
        return f"{nanoseconds / 1e9:.2f} s"
    return f"{nanoseconds / 1e6:.2f} ms" if nanoseconds >= 1e6 else f"{nanoseconds / 1e3:.0f} us"


def bytes_text(size: float) -> str:
    """`3.2 MB`: a size with a unit."""
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def table(title: str, rows: Rows, runs: int, whole: int, top: int = 15) -> str:
    """A table of totals as means over runs, with their shares of the time of all nodes."""
    whole = whole or 1
    lines = [
        f"{title:<48} {'time/run':>10} {'share':>7} {'waits':>10} {'allocates':>10} {'calls':>7}"
    ]
    for name, total in rows[:top]:
        waits = time_text(total.waited / runs) if total.waited else ""
        memory = bytes_text(total.allocated / runs) if total.allocated else ""
        lines.append(
            f"{name[:48]:<48} {time_text(total.own / runs):>10} {total.own / whole:>7.1%} "
            f"{waits:>10} {memory:>10} {total.count / runs:>7.4g}"
        )
    if len(rows) > top:
        lines.append(f"({len(rows) - top} more)")
    return "\n".join(lines)
