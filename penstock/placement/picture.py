"""A simulated execution as a picture: a row per device, as text for terminals and as SVG."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from string import ascii_letters

from penstock.placement.simulate import Bar, Schedule

_IDLE = "."
_OTHERS = "*"  # the op types for which no letter is left

# SVG: everything in pixels.
_ROW, _GAP, _TOP, _LEFT, _WIDTH, _LEGEND = 28, 8, 30, 190, 1000, 18
_TICKS = 5


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def seconds_by_type(schedule: Schedule) -> dict[str, float]:
    """How long the ops of each type work, the longest first."""
    found: dict[str, float] = defaultdict(float)
    for bar in schedule.bars:
        found[bar.node.type] += bar.end - bar.begin
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def as_text(schedule: Schedule, width: int = 72) -> str:
    """A line per device; each letter is the op type that has the most of its span of time."""
    if not schedule.makespan:
        return "nothing that takes time"
    totals = seconds_by_type(schedule)
    letters = dict(zip(totals, ascii_letters, strict=False))
    room = max(len(_short(device)) for device in schedule.devices)
    lines = []
    for device in schedule.devices:
        row = _row([bar for bar in schedule.bars if bar.device == device], schedule, letters, width)
        share = schedule.busy(device) / schedule.makespan
        lines.append(f"{_short(device):<{room}} |{row}| {share:4.0%} busy")
    shown = [f"{letters[kind]} {kind} {duration(totals[kind])}" for kind in list(totals)[:12]]
    if len(totals) > len(shown):
        shown.append(f"({len(totals) - len(shown)} more)")
    return "\n".join([*lines, *_wrapped(shown, max(room + width, 80))])


def _row(bars: list[Bar], schedule: Schedule, letters: dict[str, str], width: int) -> str:
    span = schedule.makespan / width
    columns: list[dict[str, float]] = [defaultdict(float) for _ in range(width)]
    for bar in bars:
        first = min(int(bar.begin / span), width - 1)
        last = min(int(bar.end / span), width - 1)
        for column in range(first, last + 1):
            inside = min(bar.end, (column + 1) * span) - max(bar.begin, column * span)
            columns[column][letters.get(bar.node.type, _OTHERS)] += max(inside, 0.0)
    return "".join(
        max(column, key=lambda letter: column[letter]) if sum(column.values()) > 0 else _IDLE
        for column in columns
    )


def _wrapped(parts: list[str], width: int) -> list[str]:
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += ("  " if lines[-1] else "") + part
    return lines


def _short(device: str) -> str:
    """A device without the task that all of them share in one process."""
    return device.removeprefix("/job:localhost/replica:0/task:0")


def as_svg(schedule: Schedule) -> str:
    """A picture on its own: pointing at a bar shows its node."""
    colours = _colours(schedule)
    bottom = _TOP + len(schedule.devices) * (_ROW + _GAP)
    height = bottom + _LEGEND * (len(colours) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 20}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        *_axis(schedule, bottom),
    ]
    for number, device in enumerate(schedule.devices):
        y = _TOP + number * (_ROW + _GAP)
        parts.append(f'<text x="4" y="{y + _ROW * 0.65:.0f}">{escape(_short(device))}</text>')
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{_WIDTH}" height="{_ROW}" fill="#eee"/>')
        parts += [
            _drawn(bar, schedule, y, colours[bar.node.type])
            for bar in schedule.bars
            if bar.device == device
        ]
    for number, (kind, seconds) in enumerate(seconds_by_type(schedule).items()):
        y = bottom + _LEGEND * (number + 1)
        parts.append(
            f'<rect x="{_LEFT}" y="{y - 11}" width="12" height="12" fill="{colours[kind]}"/>'
        )
        label = f"{escape(kind)}: {duration(seconds)}"
        parts.append(f'<text x="{_LEFT + 18}" y="{y}">{label}</text>')
    return "\n".join([*parts, "</svg>"])


def _colours(schedule: Schedule) -> dict[str, str]:
    """A colour for each op type; neighbours in the list are far apart on the colour wheel."""
    return {
        kind: f"hsl({number * 137 % 360},60%,60%)"
        for number, kind in enumerate(seconds_by_type(schedule))
    }


def _axis(schedule: Schedule, bottom: int) -> list[str]:
    parts = []
    for tick in range(_TICKS + 1):
        x = _LEFT + _WIDTH * tick / _TICKS
        label = duration(schedule.makespan * tick / _TICKS) if tick else "0"
        parts.append(f'<line x1="{x}" y1="{_TOP - 6}" x2="{x}" y2="{bottom}" stroke="#bbb"/>')
        parts.append(f'<text x="{x}" y="{_TOP - 10}" text-anchor="middle">{label}</text>')
    return parts


def _drawn(bar: Bar, schedule: Schedule, y: int, colour: str) -> str:
    scale = _WIDTH / schedule.makespan
    x, length = _LEFT + bar.begin * scale, max((bar.end - bar.begin) * scale, 0.2)
    title = (
        f"{bar.node.type} '{bar.node.name}': {duration(bar.end - bar.begin)} "
        f"from {duration(bar.begin)}"
    )
    return (
        f'<rect x="{x:.2f}" y="{y}" width="{length:.2f}" height="{_ROW}" fill="{colour}">'
        f"<title>{escape(title)}</title></rect>"
    )


def as_html(schedule: Schedule, text: str = "") -> str:
    """A page with the picture, and `text` below it; nothing has to be loaded for it."""
    shares = "".join(
        f"<tr><td>{escape(device)}</td><td>{duration(schedule.busy(device))}</td></tr>"
        for device in schedule.devices
    )
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Schedule of a step</title>'
        "<style>body{font-family:sans-serif}td{padding:0 1em}pre{overflow-x:auto}</style></head>"
        f"<body><h1>{duration(schedule.makespan)}, simulated</h1>\n{as_svg(schedule)}\n"
        f"<table><tr><th>device</th><th>works</th></tr>{shares}</table>\n"
        f"<pre>{escape(text)}</pre></body></html>\n"
    )
