"""Line plots as SVG, written by hand: no package is needed to draw or to read them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 170, 40, 50
_COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8e5ea2", "#c98b1b", "#444444")

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """One axis: what it shows, from where to where, and the values that are marked on it."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    logarithmic: bool = False

    def part(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        scale: Callable[[float], float] = math.log10 if self.logarithmic else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


def logarithmic(title: str, values: Sequence[float]) -> Axis:
    """An axis over whole powers of ten around some values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(title, 10.0**low, 10.0**high, [10.0**i for i in range(low, high + 1)], True)


def linear(title: str, high: float, step: float, low: float = 0.0) -> Axis:
    """An axis from `low` to `high` with a mark at every `step`."""
    count = round((high - low) / step)
    return Axis(title, low, high, [low + step * i for i in range(count + 1)])


def line_plot(title: str, x: Axis, y: Axis, lines: Mapping[str, Sequence[Point]]) -> str:
    """The text of an SVG file with a line of marked points for each name."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text((_LEFT + _right()) / 2, 22, title, size=14),
        *_grid(x, y),
    ]
    for number, (name, points) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        parts += _line([_place(x, y, point) for point in points], colour)
        height = _TOP + 10 + 20 * number
        parts.append(f'<circle cx="{_right() + 14}" cy="{height - 4}" r="4" fill="{colour}"/>')
        parts.append(_text(_right() + 24, height, name, anchor="start"))
    return "\n".join([*parts, "</svg>", ""])


def _right() -> int:
    return _WIDTH - _RIGHT


def _place(x: Axis, y: Axis, point: Point) -> Point:
    across, up = x.part(point[0]), y.part(point[1])
    bottom = _HEIGHT - _BOTTOM
    return _LEFT + across * (_right() - _LEFT), bottom - up * (bottom - _TOP)


def _grid(x: Axis, y: Axis) -> list[str]:
    bottom = _HEIGHT - _BOTTOM
    parts = []
    for tick in y.ticks:
        height = _place(x, y, (x.low, tick))[1]
        parts.append(_rule(_LEFT, height, _right(), height))
        parts.append(_text(_LEFT - 8, height + 4, f"{tick:g}", anchor="end"))
    for tick in x.ticks:
        across = _place(x, y, (tick, y.low))[0]
        parts.append(_rule(across, _TOP, across, bottom))
        parts.append(_text(across, bottom + 18, f"{tick:g}"))
    parts.append(_text((_LEFT + _right()) / 2, _HEIGHT - 10, x.title))
    middle = (_TOP + bottom) / 2
    turned = f'transform="rotate(-90 18 {middle:.0f})"'
    parts.append(_text(18, middle, y.title, more=turned))
    return parts


def _line(points: Sequence[Point], colour: str) -> list[str]:
    path = " ".join(f"{across:.1f},{height:.1f}" for across, height in points)
    marks = [
        f'<circle cx="{across:.1f}" cy="{height:.1f}" r="3" fill="{colour}"/>'
        for across, height in points
    ]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *marks]


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "middle", size: int = 12, more: str = ""
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" {more}>'
        f"{escape(text)}</text>"
    )
